"""A seat's parent process as the worker sees it: started once, told to make bots, replaced when it fails.

What runs in it is the text of `parent`. bubblewrap puts it into namespaces of its own, in which it has the
rights to make more of them and no others.
"""

import contextlib
import json
import os
import resource
import select
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from workers.sandbox import filters, parent
from workers.sandbox.claims import Claim
from workers.sandbox.errors import MatchVoid, SandboxError
from workers.sandbox.groups import Group, Groups, Seen
from workers.sandbox.plumbing import Plumbing
from workers.sandbox.policy import ENVIRONMENT, KIB, MIB, POLICY
from workers.sandbox.runtime import Runtime

NAMESPACES = [f"--unshare-{kind}" for kind in ("user", "ipc", "pid", "net", "uts", "cgroup-try")]
FIXED = [
    *NAMESPACES,
    *("--uid", "65534", "--gid", "65534", "--hostname", "table", "--as-pid-1", "--die-with-parent"),
    *("--new-session", "--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"),
    "--clearenv",
]
OWN_PROCESSES = 3  # bubblewrap outside, the parent, and the first process of the bot's namespace
PATIENCE = 10.0  # seconds a parent has for what takes it a few milliseconds
START_PATIENCE = 30.0
REPORT = 64 * 1024
PARENT_MEMORY = 256 * MIB
NOTHING_SEEN = Seen(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Held:
    """What a parent holds and its children inherit, bytes: nothing of it is a bot's own."""

    address: int
    private: int

    @classmethod
    def by(cls, pid: int) -> "Held":
        """Read of a process."""
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        told = {words[0]: int(words[1]) * KIB for words in map(str.split, lines) if words[-1] == "kB"}
        return cls(told["VmSize:"], told["RssAnon:"])


NOTHING_HELD = Held(0, 0)


@dataclass(slots=True)
class Parent:
    """One seat's parent, between bots or with one."""

    outer: subprocess.Popen[bytes]
    control: socket.socket
    group: Group | None
    memory: int
    held: Held = NOTHING_HELD
    seen: Seen = NOTHING_SEEN
    inside: int = 0
    hold: int = -1  # a descriptor of it, which no other process can come to bear
    last: Seen = NOTHING_SEEN  # what its group had counted when it was gone
    closed: bool = False
    busy: bool = False
    plumbing: Plumbing | None = None
    _reports: list[dict[str, Any]] = field(default_factory=list)

    def launch(self, order: dict[str, Any], descriptors: list[int]) -> int:
        """Have a bot made; returns a descriptor of it. Raises `MatchVoid`."""
        try:
            socket.send_fds(self.control, [_written(order)], descriptors)
            if not _readable(self.control, PATIENCE):
                raise MatchVoid("a seat's parent process does not answer")
            data, passed, _, _ = socket.recv_fds(self.control, REPORT, 4)
        except OSError as error:
            self.close()
            raise MatchVoid(f"a seat's parent process is gone: {error}") from error
        except MatchVoid:
            self.close()
            raise
        if not passed or orjson.loads(data).get("number") != order["number"]:
            self.close()
            raise MatchVoid("a seat's parent process is gone")
        self.busy = True
        return passed[0]

    def report(self, number: int, seconds: float) -> dict[str, Any] | None:
        """What it says about the end of bot `number`, if it does in time; `failed` when it is gone itself."""
        end = time.monotonic() + seconds
        while not self.closed:
            if not _readable(self.control, max(end - time.monotonic(), 0.0)):
                return None
            try:
                data = self.control.recv(REPORT)
            except OSError:
                data = b""
            if not data:
                self.close()
            elif (told := orjson.loads(data))["number"] == number:
                self.busy = False
                if "failed" in told:
                    self.close()
                return dict(told)
        return {"number": number, "failed": "a seat's parent process is gone"}

    def fit(self) -> bool:
        """Whether it can make a bot: one at a time."""
        return not self.closed and not self.busy and self.outer.poll() is None

    def limit(self, memory: int) -> None:
        """The memory of its group from now on, bytes."""
        if self.group is not None and memory != self.memory:
            self.group.limit(memory + self.held.private)
            self.memory = memory

    def counted(self) -> Seen:
        """What the group counted since this was last asked."""
        if self.group is None:
            return NOTHING_SEEN
        seen, before = self.group.seen(), self.seen
        self.seen = self.group.begin_anew(seen)
        return seen.since(before)

    def own(self, seen: Seen) -> Seen:
        """The bot's part of what its group counted."""
        return replace(seen, memory_peak=max(seen.memory_peak - self.held.private, 0))

    def pids(self) -> list[int]:
        """bubblewrap and the parent itself."""
        return [self.outer.pid, *([self.inside] if self.inside else [])]

    def find(self, inside: bool) -> None:
        """Take note of the parent itself, which bubblewrap has started, if it is there."""
        if not inside:
            self.held = Held.by(self.outer.pid)
            return
        children = Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children")
        self.inside = int(children.read_text().split()[0])
        self.hold = os.pidfd_open(self.inside)
        self.held = Held.by(self.inside)

    def close(self) -> None:
        """End it, and with it any bot of it; idempotent."""
        if self.closed:
            return
        self.closed = True
        self.control.close()
        if self.inside:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self.hold, signal.SIGKILL)
        self.outer.kill()
        self.outer.wait()
        if self.inside:  # falls to us if bubblewrap ended first
            with contextlib.suppress(OSError):
                os.waitid(os.P_PIDFD, self.hold, os.WEXITED)
            os.close(self.hold)
            self.hold = -1
        if self.plumbing is not None:
            self.plumbing.close()
        if self.group is not None:
            with contextlib.suppress(OSError):
                self.last = self.counted()
            self.group.remove()


@dataclass(slots=True)
class Nursery:
    """Where parents are made: everything all seats of a worker have in common."""

    program: str
    runtime: Runtime
    claim: Claim
    groups: Groups | None
    made: int = 0

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
                raise SandboxError(f"a seat's parent process could not be started: {error}") from error
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
            if _readable(ours, START_PATIENCE):
                said, asked, _, _ = socket.recv_fds(ours, REPORT, 1)
            if not said:
                made.close()
                os.write(log, b"\n")  # so that there is something to read
                wrong = os.read(reading, REPORT).decode(errors="replace").strip()
                raise SandboxError(f"a seat's parent process did not start: {wrong[-500:]}")
            made.plumbing = Plumbing(asked[0]) if asked else None
        made.find(self.inside)
        made.counted()
        return made

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
        text = Path(parent.__file__).read_text()
        command = [self.runtime.python, "-S", "-c", text, json.dumps(settings)]
        return [self.program, *FIXED, *places, *environment, "--", *command]


def _written(order: dict[str, Any]) -> bytes:
    """An order as `parent` reads it."""
    limits = [f"{getattr(resource, name)} {value}" for name, value in order["limits"].items()]
    more = {name: value for name, value in order.items() if name not in ("number", "limits")}
    return f"{order['number']} {' '.join(limits)}\n{json.dumps(more) if more else ''}".encode()


def entered(bwrap: list[str], lines: list[str], group: Group | None, uid: int) -> list[str]:
    """The command that goes into the seat's groups, then becomes the seat's user, then bubblewrap."""
    lines = ["echo 1000 > /proc/self/oom_score_adj", *lines]
    joins = [f"echo 0 > {shlex.quote(path)}" for path in (group.joins() if group else [])]
    if os.getuid() != 0:
        return ["/bin/sh", "-ec", "\n".join([*joins, *lines, f"exec {shlex.join(bwrap)}"])]
    drop = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--pdeathsig=KILL", "--"]
    return ["/bin/sh", "-ec", "\n".join([*joins, *lines, f"exec {shlex.join([*drop, *bwrap])}"])]


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


def _readable(control: socket.socket, seconds: float) -> bool:
    poll = select.poll()
    poll.register(control, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
