"""A seat's parent process as the worker sees it: started once, told to make bots, replaced when it fails."""

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from workers.sandbox.errors import MachineBusy, MatchVoid, crowded
from workers.sandbox.groups import Group, Seen
from workers.sandbox.plumbing import Plumbing
from workers.sandbox.policy import KIB
from workers.sandbox.running import ready

PATIENCE = 10.0  # seconds a parent has for what takes it a few milliseconds
REPORT = 64 * 1024
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
            if not ready(self.control.fileno(), PATIENCE):
                raise MachineBusy("a seat's parent process does not answer")
            data, passed, _, _ = socket.recv_fds(self.control, REPORT, 4)
        except OSError as error:
            self.close()
            raise MatchVoid(f"a seat's parent process is gone: {error}") from error
        except MatchVoid:
            self.close()
            raise
        if not passed or orjson.loads(data).get("number") != order["number"]:
            self.close()
            raise _gone(data)
        self.busy = True
        return passed[0]

    def report(self, number: int, seconds: float) -> dict[str, Any] | None:
        """What it says about the end of bot `number`, if it does in time; `failed` when it is gone itself."""
        end = time.monotonic() + seconds
        while not self.closed:
            if not ready(self.control.fileno(), max(end - time.monotonic(), 0.0)):
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


def _gone(last: bytes) -> MatchVoid:
    """To be raised; the last thing it sent tells why, if it could."""
    why = str(orjson.loads(last).get("failed", "")) if last else ""
    kind = MachineBusy if crowded(why) else MatchVoid
    return kind(f"a seat's parent process is gone{why and ': ' + why}")


def _written(order: dict[str, Any]) -> bytes:
    """An order as `parent` reads it."""
    limits = [f"{getattr(resource, name)} {value}" for name, value in order["limits"].items()]
    more = {name: value for name, value in order.items() if name not in ("number", "limits")}
    return f"{order['number']} {' '.join(limits)}\n{json.dumps(more) if more else ''}".encode()
