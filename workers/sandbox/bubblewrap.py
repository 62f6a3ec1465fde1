"""The launcher that starts one bubblewrap per seat.

With groups and users to hand out, a seat's usher starts it. Else a short shell script does: the groups if
there are any, limits, as root the seat's user id, bubblewrap, the bot. It copies nothing of the worker.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from service.limits import Limits
from workers.sandbox import filters
from workers.sandbox.claims import Claim
from workers.sandbox.code import BotCode
from workers.sandbox.errors import SandboxUnavailable, refused
from workers.sandbox.family import Parent
from workers.sandbox.groups import Group, Groups
from workers.sandbox.nursery import entered
from workers.sandbox.oneshot import OneShot
from workers.sandbox.pipes import Pipes
from workers.sandbox.policy import ENVIRONMENT, KIB, MIB, POLICY, limits_of
from workers.sandbox.running import Running
from workers.sandbox.runtime import LIMITER, Runtime
from workers.sandbox.unpack import Unpacked, unpack
from workers.sandbox.usher import RULES, SOURCE, TELL, Ushered, UsherNursery

NAMESPACES = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
FIXED = [
    *NAMESPACES,
    *("--unshare-cgroup-try", "--disable-userns", "--uid", "65534", "--gid", "65534", "--hostname", "table"),
    *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"),
]
OWN_PROCESSES = 2  # bubblewrap outside and inside the namespace
PARENTS = 8  # a seat's, with numpy and without, and old ones: processes of its user that may be there too


@dataclass(slots=True)
class Bubblewrap:
    """Starts sandboxes for one worker; `groups` is None in mode B."""

    program: str
    runtime: Runtime
    claim: Claim
    groups: Groups | None
    ushers: UsherNursery | None = None
    parents: dict[int, Parent] = field(default_factory=dict)
    launched: int = 0

    name = "one-shot"

    def launch(self, code: BotCode, limits: Limits, *, slot: int, cpu_seconds: int) -> Running:
        """A fresh sandbox with the bot starting in it; raises `SandboxError`."""
        self.launched += 1
        uid = self.claim.uid(slot)
        unpacked = unpack(code, self.claim.folder, uid if os.getuid() == 0 else None, self.runtime)
        group = None
        try:
            if self.ushers is not None:
                return self._ushered(unpacked, limits, slot, cpu_seconds)
            group = self._group(limits, unpacked)
            return self._start(unpacked, limits, group, uid, cpu_seconds)
        except BaseException as error:
            _clean(unpacked, group)
            if isinstance(error, OSError):
                raise refused("a sandbox could not be started", error) from error
            raise

    def close(self) -> None:
        """End the seats' ushers."""
        for usher in self.parents.values():
            usher.close()
        self.parents.clear()

    def _ushered(self, unpacked: Unpacked, limits: Limits, slot: int, cpu_seconds: int) -> Running:
        memory, uid = limits.memory_mb * MIB, self.claim.uid(slot)
        usher = self._usher(slot, memory)
        with Pipes() as pipes:
            streams = pipes.streams()
            rules = pipes.data(filters.compiled(forks=unpacked.forks, pipes=unpacked.forks))
            told, tell = pipes.pair()
            passed, source = [*streams, rules, tell], None
            if unpacked.source is not None:
                passed.append(pipes.data(unpacked.source))
                source = SOURCE
            order = {
                "number": self.launched,
                "run": self._arguments(unpacked, RULES, source, TELL),
                "limits": _limits(memory, cpu_seconds, forks=unpacked.forks),
                "usher": {"uid": uid, "mount": str(self._mount_point()), "options": _options(uid)},
            }
            if usher.plumbing is not None:
                usher.plumbing.begin()
            first = usher.launch(order, passed)
            pipes.kept = True
        return Ushered(
            stdin=pipes.ours[0],
            stdout=pipes.ours[1],
            stderr=pipes.ours[2],
            memory_limit=memory,
            report=told,
            group=usher.group,
            folder=unpacked.folder,
            shows_where=unpacked.source is not None,
            parent=usher,
            number=self.launched,
            first=first,
            forks=unpacked.forks,
        )

    def _usher(self, slot: int, memory: int) -> Parent:
        """The seat's usher; one that has failed, or whose bot was never stopped, is replaced."""
        assert self.ushers is not None
        known = self.parents.get(slot)
        if known is None or not known.fit():
            if known is not None:
                known.close()
            self._mount_point().mkdir(mode=0o711, exist_ok=True)
            known = self.parents[slot] = self.ushers.parent(slot, numpy=False)
        known.limit(memory)
        return known

    def _group(self, limits: Limits, unpacked: Unpacked) -> Group | None:
        if self.groups is None:
            return None
        name = f"rage-{self.claim.name}-{self.launched}"
        processes = POLICY.threads + OWN_PROCESSES
        memory = limits.memory_mb * MIB
        return self.groups.make(name, memory=memory, processes=processes, count_cpu=unpacked.forks)

    def _start(
        self, unpacked: Unpacked, limits: Limits, group: Group | None, uid: int, cpu_seconds: int
    ) -> Running:
        forks = unpacked.forks and self.groups is not None
        with _Passed() as passed:
            rules = passed.data(filters.compiled(forks=forks, pipes=unpacked.forks))
            source = passed.data(unpacked.source) if unpacked.source is not None else None
            told, tell = passed.pipe()
            bwrap = self._arguments(unpacked, rules, source, tell)
            limited = _ulimits(limits, cpu_seconds, counted=group is not None, forks=unpacked.forks)
            command = entered(bwrap, limited, group, uid)
            outer = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[descriptor for descriptor in (rules, source, tell) if descriptor is not None],
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                cwd="/",
                start_new_session=True,
            )
            passed.keep(told)
        stdin, stdout, stderr = (_taken(pipe) for pipe in (outer.stdin, outer.stdout, outer.stderr))
        return OneShot(
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            memory_limit=limits.memory_mb * MIB,
            outer=outer,
            report=told,
            group=group,
            folder=unpacked.folder,
            shows_where=unpacked.source is not None,
        )

    def _arguments(self, unpacked: Unpacked, rules: int, source: int | None, tell: int) -> list[str]:
        """bubblewrap's own command line."""
        root = ["--ro-bind", str(self.runtime.root), "/"]
        root += ["--ro-bind", str(self.runtime.engine), "/usr/lib/rage/engine"]
        devices = [
            word for name in ("null", "urandom") for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
        ]
        bot = ["--ro-bind-data", str(source), "/bot/bot.py"]
        if unpacked.folder is not None:
            bot = ["--ro-bind", str(unpacked.folder), "/bot"]
        environment = [word for name, value in ENVIRONMENT.items() for word in ("--setenv", name, value)]
        streams = ["--json-status-fd", str(tell), "--seccomp", str(rules)]
        places = [*root, *devices, *bot, *self._scratch(), "--chdir", "/bot"]
        command = [*self._counted(), *unpacked.command(self.runtime)]
        return [self.program, *FIXED, *places, *environment, *streams, "--", *command]

    def _counted(self) -> list[str]:
        """A cap on threads where all seats share our user id: set inside, it counts this namespace alone."""
        if os.getuid() == 0 or not (self.runtime.root / LIMITER.lstrip("/")).exists():
            return []
        return [LIMITER, f"--nproc={POLICY.threads + 1}", "--"]

    def _scratch(self) -> list[str]:
        """A writable /tmp only where something caps its files: our own mount, or the memory group."""
        if self.groups is None:
            return []
        if os.getuid() == 0:
            return ["--bind", str(self._mount_point()), "/tmp"]  # noqa: S108
        return ["--size", str(POLICY.scratch_bytes), "--tmpfs", "/tmp"]  # noqa: S108

    def _mount_point(self) -> Path:
        return self.claim.folder / "scratch"


def found() -> str:
    """The path of bubblewrap, and of what else the launcher runs; raises `SandboxUnavailable`."""
    needed = {"bwrap": "bubblewrap"}
    if os.getuid() == 0:
        needed |= {"setpriv": "util-linux"}
    for program, package in needed.items():
        if shutil.which(program) is None:
            raise SandboxUnavailable(f"{program} is not installed; install it: apt-get install {package}")
    return str(shutil.which("bwrap"))


def _options(uid: int) -> str:
    """Of the scratch space of a seat."""
    size = f"size={POLICY.scratch_bytes},nr_inodes={POLICY.scratch_files}"
    return f"{size},mode=0700,uid={uid},gid={uid}"


def _limits(memory: int, cpu_seconds: int, *, forks: bool) -> dict[str, int]:
    """The same as `_ulimits`, by their names in `resource`."""
    limits = limits_of(memory + POLICY.address_room, cpu_seconds)
    limits["RLIMIT_NPROC"] = POLICY.threads + OWN_PROCESSES + PARENTS  # the group is what counts
    if forks:
        del limits["RLIMIT_AS"]
    return limits


def _ulimits(limits: Limits, cpu_seconds: int, *, counted: bool, forks: bool) -> list[str]:
    """Limits the shell sets for itself and all that follows; sizes in the units of ulimit."""
    address = limits.memory_mb * MIB + (POLICY.address_room if counted else 0)
    lines = [
        "ulimit -c 0",
        f"ulimit -t {cpu_seconds}",
        f"ulimit -f {POLICY.scratch_bytes // 512}",
        f"ulimit -n {POLICY.open_files}",
        "ulimit -l 64",
        "ulimit -r 0",
    ]
    if os.getuid() == 0:
        lines.append(f"ulimit -p {POLICY.threads + OWN_PROCESSES + 4}")  # a seat's parent may be there
    # a program with processes or its own memory scheme may reserve freely where real memory is counted
    return lines if counted and forks else [*lines, f"ulimit -v {address // KIB}"]


def _clean(unpacked: Unpacked, group: Group | None) -> None:
    if group is not None:
        group.remove()
    if unpacked.folder is not None:
        shutil.rmtree(unpacked.folder, ignore_errors=True)


def _taken(pipe: object) -> int:
    """Our end of a pipe as a bare non-blocking descriptor."""
    descriptor = os.dup(pipe.fileno())  # type: ignore[attr-defined]
    os.set_inheritable(descriptor, False)
    os.set_blocking(descriptor, False)
    pipe.close()  # type: ignore[attr-defined]
    return descriptor


class _Passed:
    """Descriptors handed to a child, closed on our side whatever happens."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def __enter__(self) -> "_Passed":
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._open:
            os.close(descriptor)

    def data(self, content: bytes) -> int:
        """A descriptor from which `content` can be read once."""
        descriptor = os.memfd_create("bot")
        self._open.append(descriptor)
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def pipe(self) -> Sequence[int]:
        """(ours, the child's)."""
        ends = os.pipe()
        self._open += ends
        return ends

    def keep(self, descriptor: int) -> None:
        """Leave this one open."""
        self._open.remove(descriptor)
