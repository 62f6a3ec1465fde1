"""One bot's running sandbox as the worker sees it: three pipes, its clocks, and its end."""

import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from workers.sandbox.errors import SandboxError
from workers.sandbox.groups import Group, Seen

SECOND_NS = 1_000_000_000
SPENT_WITH = 0.95  # of the memory limit: a kill below it was the host's doing


@dataclass(frozen=True, slots=True)
class Ending:
    """How a sandbox ended. `status` is None if the bot's program was never started."""

    status: int | None
    cpu_ns: int
    memory_kb: int
    out_of_memory: bool
    host_out_of_memory: bool
    refused_processes: bool

    @property
    def signal(self) -> int | None:
        """The signal that ended the bot, if one did."""
        return self.status - 128 if self.status is not None and 128 < self.status <= 128 + 64 else None


@dataclass(slots=True)
class Running:
    """`stdin`, `stdout` and `stderr` are our ends, non-blocking; `shows_where`: our SDK is inside."""

    outer: subprocess.Popen[bytes]
    stdin: int
    stdout: int
    stderr: int
    report: int
    group: Group | None
    memory_limit: int
    folder: Path | None = None
    shows_where: bool = False
    init: int = -1
    _told: bytes = b""
    _bot: int = 0
    _cpu_ns: int = 0
    _memory_kb: int = 0
    _killed: bool = False
    _ending: Ending | None = field(default=None)

    def cpu_ns(self) -> int:
        """CPU nanoseconds of all the bot ever ran, its start included; never falls."""
        if self._ending is not None:
            return self._ending.cpu_ns
        used = self.group.cpu_ns() if self.group else None
        self._cpu_ns = max(self._cpu_ns, self._own_clock() if used is None else used)
        return self._cpu_ns

    def waited_ns(self) -> int | None:
        """How long the bot's first thread was ready to run but not let; None if the kernel does not say."""
        try:
            return int(Path(f"/proc/{self._pid()}/schedstat").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            return None

    def memory_kb(self) -> int:
        """The most memory it held so far, KiB."""
        if self._ending is None:
            peak = self.group.seen().memory_peak // 1024 if self.group else self._peak()
            self._memory_kb = max(self._memory_kb, peak)
        return self._memory_kb

    def ask_where(self) -> bool:
        """Have the SDK write the author's present line to the log; False if nobody there can."""
        if not self.shows_where or self._ending is not None or not self._pid():
            return False
        with contextlib.suppress(OSError):
            os.kill(self._pid(), signal.SIGUSR2)
        return True

    def ended(self, seconds: float) -> Ending | None:
        """How it ended, if it does within `seconds`."""
        if self._ending is None:
            self._wait(seconds)
        return self._ending

    def stop(self) -> Ending:
        """Kill everything, remove everything; idempotent."""
        if self._ending is None:
            self.memory_kb()
            self.cpu_ns()
            self._kill()
            if not self._wait(5.0):
                self._kill_outer()
                self._wait(5.0)
        self._tidy()
        if self._ending is None:
            raise SandboxError(f"the sandbox of process {self.outer.pid} cannot be ended")
        return self._ending

    def _kill(self) -> None:
        """The namespace's first process: with it the kernel ends all the others at once."""
        self._killed = True
        self._listen(0.0)
        if self.init < 0 and not self._wait(0.0):
            self._listen(2.0)
        if self.init >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.init, signal.SIGKILL)
        else:
            self._kill_outer()

    def _kill_outer(self) -> None:
        if self._ending is None:  # Popen.kill would reap it, and its children's CPU would be lost
            os.kill(self.outer.pid, signal.SIGKILL)

    def _wait(self, seconds: float) -> bool:
        if self._ending is not None:
            return True
        end = time.monotonic() + seconds
        with _pidfd(self.outer.pid) as watched:
            while self._ending is None:
                pid, _, spent = os.wait4(self.outer.pid, os.WNOHANG)
                if pid:
                    self._note_end(spent.ru_utime + spent.ru_stime + self._reap_init())
                elif (left := end - time.monotonic()) <= 0:
                    return False
                else:
                    _ready(watched, left)
        return True

    def _reap_init(self) -> float:
        """CPU seconds of the namespace; its first process falls to us if bubblewrap does not wait for it."""
        self._listen(0.0)
        init = _said(self._told, "child-pid")
        if init is None or self.init < 0 or not _ready(self.init, 2.0):
            return 0.0
        try:
            spent = os.wait4(init, os.WNOHANG)[2]
        except ChildProcessError:
            return 0.0
        return spent.ru_utime + spent.ru_stime

    def _note_end(self, cpu_seconds: float) -> None:
        self.outer.returncode = 0  # reaped here, so that the CPU of all its children is known
        self._listen(0.0)
        seen = self.group.seen() if self.group else Seen(0, 0, 0)
        self._memory_kb = max(self._memory_kb, seen.memory_peak // 1024)
        killed = seen.killed_for_memory > 0
        own = seen.memory_peak >= self.memory_limit * SPENT_WITH
        self._ending = Ending(
            status=self._exit_code(),
            cpu_ns=self._final_cpu_ns(cpu_seconds),
            memory_kb=self._memory_kb,
            out_of_memory=killed and own,
            host_out_of_memory=killed and not own,
            refused_processes=seen.refused_processes > 0,
        )

    def _final_cpu_ns(self, cpu_seconds: float) -> int:
        """The last reading; for a bot that failed by itself what came after too, and bubblewrap's share."""
        failed = not self._killed and self._exit_code() not in (0, None)
        return max(self._cpu_ns, int(cpu_seconds * SECOND_NS) if failed else 0)

    def _tidy(self) -> None:
        for descriptor in (self.stdin, self.stdout, self.stderr, self.report, self.init):
            if descriptor >= 0:
                os.close(descriptor)
        self.stdin = self.stdout = self.stderr = self.report = self.init = -1
        if self.group is not None:
            self.group.remove()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def close_input(self) -> None:
        """Let the bot read an end of file."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def _listen(self, seconds: float) -> None:
        """Take in what bubblewrap says: first the init's process id, at last the bot's exit status."""
        while self.report >= 0 and _ready(self.report, seconds):
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

    def _own_clock(self) -> int:
        """The process's CPU clock (clock ids of other processes: see clock_getcpuclockid(3))."""
        try:
            return time.clock_gettime_ns((~self._pid() << 3) | 2) if self._pid() else 0
        except OSError:
            return 0

    def _peak(self) -> int:
        try:
            text = Path(f"/proc/{self._pid()}/status").read_text()
            return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmHWM"))
        except (OSError, StopIteration):
            return 0


def _said(told: bytes, name: str) -> int | None:
    """A number out of bubblewrap's report, which may break off in the middle; each number comes whole."""
    found = re.search(rb'"%s": (\d+)' % name.encode(), told)
    return int(found[1]) if found else None


def _ready(descriptor: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


@contextlib.contextmanager
def _pidfd(pid: int) -> Iterator[int]:
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
