"""A bot in its own bubblewrap, as the worker sees it: one process outside, one inside, and their report."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox import kernel
from workers.sandbox.groups import Group, Seen
from workers.sandbox.running import SECOND_NS, Ending, Running, ready


@dataclass(slots=True, kw_only=True)
class OneShot(Running):
    """`outer` is bubblewrap; `report` is where it tells of the inside."""

    outer: subprocess.Popen[bytes] | None = None
    report: int
    group: Group | None
    folder: Path | None = None
    init: int = -1
    _told: bytes = b""
    _bot: int = 0

    def _kill(self) -> None:
        """The namespace's first process: with it the kernel ends all the others at once."""
        self._listen(0.0)
        if self.init < 0 and not self._wait(0.0):
            self._listen(2.0)
        if self.init >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.init, signal.SIGKILL)
        else:
            self._kill_hard()

    def _kill_hard(self) -> None:
        if self._ending is None:  # Popen.kill would reap it, and its children's CPU would be lost
            os.kill(self._outer.pid, signal.SIGKILL)

    def _wait(self, seconds: float) -> bool:
        if self._ending is not None:
            return True
        end = time.monotonic() + seconds
        with _pidfd(self._outer.pid) as watched:
            while self._ending is None:
                pid, _, spent = os.wait4(self._outer.pid, os.WNOHANG)
                if pid:
                    self._outer.returncode = 0  # reaped here, so that the CPU of all its children is known
                    seen = self.group.seen() if self.group else Seen(0, 0, 0)
                    self._conclude(spent.ru_utime + spent.ru_stime + self._reap_init(), seen)
                elif (left := end - time.monotonic()) <= 0:
                    return False
                else:
                    ready(watched, left)
        return True

    def _reap_init(self) -> float:
        """CPU seconds of the namespace; its first process falls to us if bubblewrap does not wait for it."""
        self._listen(0.0)
        init = _said(self._told, "child-pid")
        if init is None or self.init < 0 or not ready(self.init, 2.0):
            return 0.0
        try:
            spent = os.wait4(init, os.WNOHANG)[2]
        except ChildProcessError:
            return 0.0
        return spent.ru_utime + spent.ru_stime

    @property
    def _outer(self) -> "subprocess.Popen[bytes]":
        assert self.outer is not None
        return self.outer

    def _conclude(self, cpu_seconds: float, seen: Seen) -> None:
        self._listen(0.0)
        self._memory_kb = max(self._memory_kb, seen.memory_peak // 1024)
        self._ending = Ending(
            status=self._exit_code(),
            cpu_ns=self._final_cpu_ns(cpu_seconds),
            memory_kb=self._memory_kb,
            out_of_memory=seen.ended_at_limit,
            host_out_of_memory=seen.ended_below_limit,
            refused_processes=seen.refused_processes > 0,
        )

    def _final_cpu_ns(self, cpu_seconds: float) -> int:
        """The last reading; for a bot that failed by itself what came after too, and bubblewrap's share."""
        failed = not self._killed and self._exit_code() not in (0, None)
        return max(self._cpu_ns, int(cpu_seconds * SECOND_NS) if failed else 0)

    def _clear(self) -> None:
        for descriptor in (self.report, self.init):
            if descriptor >= 0:
                os.close(descriptor)
        self.report = self.init = -1
        if self.group is not None:
            self.group.remove()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _listen(self, seconds: float) -> None:
        """Take in what bubblewrap says: first the init's process id, at last the bot's exit status."""
        while self.report >= 0 and ready(self.report, seconds):
            data = os.read(self.report, 4096)
            self._told += data
            if not data:
                os.close(self.report)
                self.report = -1
            if self.init < 0 and (pid := _said(self._told, "child-pid")):
                self._hold(pid)
            seconds = 0.0

    def _hold(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.init = os.pidfd_open(pid)

    def _exit_code(self) -> int | None:
        return _said(self._told, "exit-code")

    def _pid(self) -> int:
        """The bot's process as the host numbers it: the init's only child, once there is one."""
        if not self._bot:
            self._listen(0.0)
            init = _said(self._told, "child-pid")
            with contextlib.suppress(OSError, IndexError):
                self._bot = int(Path(f"/proc/{init}/task/{init}/children").read_text().split()[0])
        return self._bot

    def _threads(self) -> list[str]:
        """Of all its processes that live; one that ends meanwhile hides no other."""
        init = _said(self._told, "child-pid") or 0
        return [thread for pid in _living(init) for thread in kernel.threads(pid)] if self._pid() else []

    def silent(self) -> bool:
        """bubblewrap holds the output open as well, so what the bot's own processes hold is looked at."""
        init = _said(self._told, "child-pid")
        if not self._pid() or self._ending is not None:
            return False
        try:
            output = os.readlink(f"/proc/self/fd/{self.stdout}")
            return not any(_holds(pid, output) for pid in _descendants(init or 0))
        except OSError:  # one has just ended, or is not ours to look at
            return False

    def _peak(self) -> int:
        counted = self.group.seen().memory_peak // 1024 if self.group else 0
        return counted or self.peak_of(self._pid())

    def _group_cpu_ns(self) -> int | None:
        return self.group.cpu_ns() if self.group else None


def _living(pid: int) -> Iterator[int]:
    for thread in kernel.threads(pid):
        for child in kernel.told(f"{thread}/children").split():
            yield int(child)
            yield from _living(int(child))


def _descendants(pid: int) -> Iterator[int]:
    """The same for who must know of all: raises `OSError` if one has just ended."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
            yield int(child)
            yield from _descendants(int(child))


def _holds(pid: int, output: str) -> bool:
    """Whether any of its threads does: the first may have ended before the others."""
    folders = (f"{thread}/fd" for thread in kernel.threads(pid))
    return any(os.readlink(f"{folder}/{name}") == output for folder in folders for name in os.listdir(folder))


def _said(told: bytes, name: str) -> int | None:
    """A number out of bubblewrap's report, which may break off in the middle; each number comes whole."""
    found = re.search(rb'"%s": (\d+)' % name.encode(), told)
    return int(found[1]) if found else None


@contextlib.contextmanager
def _pidfd(pid: int) -> Iterator[int]:
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
