"""Where attacks are tried: a canary that must not sing, a door that must stay shut, an honest neighbour.

Tests and `attack_table` try the same attacks here and judge them by the same `breaches`.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.rules import RuleSet
from engine.table import Fault
from loadtests.attack import Attack
from service.limits import Limits
from workers.match import Played, play_match
from workers.sandbox import BotCode, Sandbox
from workers.sandbox.family import Parent

HONEST = b"""
def bid(view):
    return 0

def play(view):
    return view["legal"][0]
"""
SHORT = RuleSet.parse({"preset": "fundex", "hand_sizes": [3, 2]})
STRICT = Limits(
    decision_ms=500, decision_cpu_ms=20, bank_cpu_ms=300, start_ms=1_500, start_cpu_ms=800, memory_mb=96
)
SEED = bytes(range(32))
SECRET = "the canary sings"  # noqa: S105 - that is its use
CHECKOUT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of an attack by seat 0; `left` is what is left behind, by sort."""

    attack: Attack
    mode: str
    played: Played
    left: dict[str, list[str]]
    more_open: int
    visited: bool

    @property
    def faults(self) -> list[Fault]:
        """The attacker's."""
        return [fault for fault in self.played.outcome.faults if fault.seat == 0]

    @property
    def log(self) -> str:
        """What the attacker wrote."""
        return self.played.usage[0].log

    def breaches(self, quiet: Played) -> list[str]:
        """What must not have happened, in a sentence each; `quiet` is the match without an attack."""
        outcome, kinds = self.played.outcome, {str(fault.kind) for fault in self.faults}
        out = self.attack.out
        found = {
            f"recorded as {kinds or 'no fault'}": not self.attack.allows(kinds, self.mode),
            f"out: {0 in outcome.out}": out is not None and (0 in outcome.out) != out,
            "a neighbour was blamed": len(self.faults) != len(outcome.faults),
            "a neighbour's points changed": outcome.scores[1:] != quiet.outcome.scores[1:],
            "a secret was read": SECRET in self.log,
            f"left behind: {self.left}": bool(self.left),
            f"{self.more_open} descriptors more are open": self.more_open != 0,
            "the door was opened": self.visited,
        }
        return [sentence for sentence, true in found.items() if true]


@dataclass(frozen=True, slots=True)
class Ground:
    """A canary in a file, and in our environment; a listener on loopback; one descriptor more than needed."""

    canary: Path
    door: socket.socket

    def source(self, attack: Attack, sandbox: Sandbox) -> str:
        """The attack's bot, told where to look."""
        places = {
            "@CANARY@": str(self.canary),
            "@PID@": str(os.getpid()),
            "@CLAIM@": str(sandbox.claim.folder),
            "@PORT@": str(self.door.getsockname()[1]),
            "@CHECKOUT@": str(CHECKOUT),
        }
        text = attack.source
        for place, value in places.items():
            text = text.replace(place, value)
        return text

    def tried(self, attack: Attack, sandbox: Sandbox) -> Tried:
        """The attack beside an honest bot."""
        before = open_descriptors(sandbox)
        played = play([BotCode("bot0.py", "py", self.source(attack, sandbox).encode())], sandbox)
        more = open_descriptors(sandbox) - before
        return Tried(attack, sandbox.mode, played, left_behind(sandbox), more, self._visited())

    def _visited(self) -> bool:
        try:
            self.door.accept()[0].close()
        except BlockingIOError:
            return False
        return True


@contextmanager
def ground() -> Iterator[Ground]:
    """Set up and cleared away."""
    canary = Path(f"/var/tmp/rage-canary-{os.getpid()}")  # noqa: S108 - where every user may read
    canary.write_text(SECRET)
    canary.chmod(0o644)
    os.environ["RAGE_CANARY"] = SECRET
    spare = os.open(canary, os.O_RDONLY)
    os.set_inheritable(spare, True)
    try:
        with socket.create_server(("127.0.0.1", 0)) as door:
            door.settimeout(0.0)
            yield Ground(canary, door)
    finally:
        os.close(spare)
        canary.unlink()
        del os.environ["RAGE_CANARY"]


def play(bots: list[BotCode], sandbox: Sandbox, limits: Limits = STRICT, **options: object) -> Played:
    """A short match, honest bots added up to two seats."""
    table = [*bots, *[BotCode("honest.py", "py", HONEST)] * (2 - len(bots))]
    seeds = list(range(len(table)))
    return play_match(
        SHORT,
        table,
        seed=SEED,
        bot_seeds=seeds,
        limits=limits,
        sandbox=sandbox,
        **options,  # type: ignore[arg-type]
    )


def open_descriptors(sandbox: Sandbox) -> int:
    """Ours, without those of the parents that stay."""
    return len(os.listdir("/proc/self/fd")) - sum(
        (not parent.closed) * (1 + (parent.plumbing is not None)) + (parent.hold >= 0)
        for parent in lasting(sandbox)
    )


def lasting(sandbox: Sandbox) -> list[Parent]:
    """What stays between bots: the seats' parents and ushers."""
    launcher = getattr(sandbox, "launcher", None)
    launchers = (launcher, getattr(launcher, "one_shot", None))
    return [parent for each in launchers for parent in getattr(each, "parents", {}).values()]


def left_behind(sandbox: Sandbox) -> dict[str, list[str]]:
    """Processes, groups, folders, mounts and shared memory that bear the sandbox's number, if any.

    The warm parents may stay.
    """
    claim = sandbox.claim
    uids = {claim.uid(slot) for slot in range(16)} if os.getuid() == 0 else set()
    parents = lasting(sandbox)
    warm = {str(pid) for parent in parents for pid in parent.pids()}
    numbers = [entry.name for entry in os.scandir("/proc") if entry.name.isdigit() and _owner(entry) in uids]
    ours = {str(os.getpid()), *warm, *numbers}
    groups = [parent.group for parent in parents if parent.group]
    kept = {path for group in groups for path in (group.memory, group.pids, group.cpu)}
    found = {
        "processes": [each for each in numbers if each not in warm and not _anothers_dead(each, ours)],
        "groups": [
            str(path)
            for parent in claim.parents
            for path in parent.glob(f"rage-{claim.name}-*")
            if path not in kept or set((path / "cgroup.procs").read_text().split()) - warm
        ],
        "folders": [path.name for path in claim.folder.glob("bot-*")],
        "mounts": [line for line in _lines("/proc/self/mountinfo") if "rage-sandbox" in line],
        "shared memory": [entry.name for entry in os.scandir("/dev/shm") if _owner(entry) in uids],  # noqa: S108
        "queues": [line for kind in ("shm", "msg", "sem") for line in _ipc(kind, uids)],
    }
    return {sort: things for sort, things in found.items() if things}


def _anothers_dead(number: str, ours: set[str]) -> bool:
    """Whether it has ended, and only a process that is none of `ours` can let it go."""
    state, above = ((*_lines(f"/proc/{number}/stat"), ") X 0")[0].rpartition(") ")[2].split())[:2]
    return state in "XZ" and above not in ours


def _ipc(kind: str, uids: set[int]) -> list[str]:
    """System V objects of our bots' users."""
    head, *lines = _lines(f"/proc/sysvipc/{kind}") or [""]
    if "uid" not in head.split():
        return []
    column = head.split().index("uid")
    return [f"{kind} {line}" for line in lines if int(line.split()[column]) in uids]


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def _owner(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_uid
    except OSError:
        return -1
