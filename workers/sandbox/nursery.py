"""Where seats' parents are made.

bubblewrap puts each into namespaces of its own, where it has the rights to make more of them and no others.
What runs in it is the text of `inside`.
"""

import contextlib
import os
import shlex
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from workers.sandbox import filters, inside
from workers.sandbox.claims import Claim
from workers.sandbox.errors import KILLED, MachineBusy, SandboxError, crowded, refused
from workers.sandbox.family import REPORT, Parent
from workers.sandbox.groups import Group, Groups
from workers.sandbox.plumbing import Plumbing
from workers.sandbox.policy import ENVIRONMENT, MIB, POLICY
from workers.sandbox.running import ready
from workers.sandbox.runtime import Runtime

NAMESPACES = [f"--unshare-{kind}" for kind in ("user", "ipc", "pid", "net", "uts", "cgroup-try")]
FIXED = [
    *NAMESPACES,
    *("--uid", "65534", "--gid", "65534", "--hostname", "table", "--as-pid-1", "--die-with-parent"),
    *("--new-session", "--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"),
    "--clearenv",
]
OWN_PROCESSES = 3  # bubblewrap outside, the parent, and the first process of the bot's namespace
FIRST_PATIENCE, LONGEST_PATIENCE = 10.0, 40.0  # seconds a parent has to start; doubled when it was late
DYING = 5.0  # seconds
PARENT_MEMORY = 256 * MIB


@dataclass(slots=True)
class Nursery:
    """Where parents are made: everything all seats of a worker have in common."""

    program: str
    runtime: Runtime
    claim: Claim
    groups: Groups | None
    made: int = 0
    patience: float = field(default_factory=lambda: FIRST_PATIENCE)

    def parent(self, slot: int, *, numpy: bool) -> Parent:
        """A new parent, ready to make bots; raises `SandboxError`. With `numpy` it has that at hand too."""
        self.made += 1
        group = None
        try:
            group = self._group(slot)
            return self._start(slot, group, numpy)
        except BaseException as error:
            if group is not None:
                group.remove()
            if isinstance(error, OSError):
                raise refused("a seat's parent process could not be started", error) from error
            raise

    def _group(self, slot: int) -> Group | None:
        if self.groups is None:
            return None
        name = f"rage-{self.claim.name}-parent{slot}.{self.made}"
        processes = POLICY.threads + OWN_PROCESSES
        return self.groups.make(
            name, memory=PARENT_MEMORY, processes=processes, count_cpu=False, together=False
        )

    def _start(self, slot: int, group: Group | None, numpy: bool) -> Parent:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, _data(self._filter()) as rules, _pipe() as (reading, log):
            settings = self._settings(theirs.fileno(), rules, numpy=numpy)
            outer = subprocess.Popen(
                self._command(settings, group, self.claim.uid(slot)),
                stdin=subprocess.DEVNULL,
                stdout=log,  # pipes, as the bots will have: Python's streams remember what they began as
                stderr=log,
                pass_fds=[theirs.fileno(), rules],
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                cwd="/",
                start_new_session=True,
            )
            made = Parent(outer, ours, group, 0)
            theirs.close()
            said, asked = b"", list[int]()
            if in_time := ready(ours.fileno(), self.patience):
                said, asked, _, _ = socket.recv_fds(ours, REPORT, 1)
            if not said:
                if in_time:
                    _await_end(outer)
                made.close()
                os.write(log, b"\n")  # so that there is something to read
                raise self._not_started(outer, os.read(reading, REPORT), late=not in_time)
            made.plumbing = Plumbing(asked[0]) if asked else None
        made.find(self.inside)
        made.counted()
        return made

    def _not_started(self, outer: subprocess.Popen[bytes], log: bytes, *, late: bool) -> SandboxError:
        """To be raised: want of time or memory is no fault of it. After a late one the next has longer."""
        said = log.decode(errors="replace").strip()[-500:]
        text = f"a seat's parent process did not start: {said or 'it said nothing'}"
        if late and not said:
            text = f"a seat's parent process did not start in {self.patience:.0f} s"
            self.patience = min(2 * self.patience, LONGEST_PATIENCE)
            return MachineBusy(text)
        killed = not late and outer.returncode in KILLED
        return (MachineBusy if killed or crowded(said) else SandboxError)(text)

    @property
    def inside(self) -> bool:
        """Whether bubblewrap is around the parent."""
        return True

    def _filter(self) -> bytes:
        return filters.compiled(forks=False)

    def _command(self, settings: dict[str, Any], group: Group | None, uid: int) -> list[str]:
        return entered(self._arguments(settings), ["ulimit -c 0"], group, uid)

    def _settings(self, control: int, rules: int, *, numpy: bool) -> dict[str, Any]:
        scratch = f"size={POLICY.scratch_bytes},nr_inodes={POLICY.scratch_files},mode=0700"
        return {
            "control": control,
            "filter": rules,
            "warm": ["engine.rehearsal", *(["numpy.random"] if numpy else [])],
            "scratch": scratch if self.groups is not None else None,
            "open": None,
            "ask": 0,
        }

    def _arguments(self, settings: dict[str, Any]) -> list[str]:
        root = ["--ro-bind", str(self.runtime.root), "/"]
        root += ["--ro-bind", str(self.runtime.engine), "/usr/lib/rage/engine"]
        devices = [word for name in ("null", "urandom") for word in _device(f"/dev/{name}")]
        environment = [word for name, value in ENVIRONMENT.items() for word in ("--setenv", name, value)]
        places = [*root, *devices, "--chdir", "/bot", "--remount-ro", "/"]
        command = inside.command([self.runtime.python], settings)
        return [self.program, *FIXED, *places, *environment, "--", *command]


def entered(bwrap: list[str], lines: list[str], group: Group | None, uid: int) -> list[str]:
    """The command that goes into the seat's groups, then becomes the seat's user, then bubblewrap."""
    lines = ["echo 1000 > /proc/self/oom_score_adj", *lines]
    joins = [f"echo 0 > {shlex.quote(path)}" for path in (group.joins() if group else [])]
    if os.getuid() != 0:
        return ["/bin/sh", "-ec", "\n".join([*joins, *lines, f"exec {shlex.join(bwrap)}"])]
    drop = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--pdeathsig=KILL", "--"]
    return ["/bin/sh", "-ec", "\n".join([*joins, *lines, f"exec {shlex.join([*drop, *bwrap])}"])]


def _await_end(outer: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        outer.wait(DYING)


def _device(path: str) -> list[str]:
    return ["--dev-bind", path, path]


@contextlib.contextmanager
def _data(content: bytes) -> Iterator[int]:
    descriptor = os.memfd_create("rage")
    try:
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    os.set_blocking(ends[0], False)
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)
