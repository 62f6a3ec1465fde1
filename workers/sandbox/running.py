"""One bot's running sandbox as the worker sees it: three pipes, its clocks, and its end."""

import contextlib
import os
import select
import signal
import time
from dataclasses import dataclass, field

from workers.sandbox import kernel
from workers.sandbox.errors import SandboxError

SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Ending:
    """How a sandbox ended. `status` is None if the bot's program was never started.

    `trouble` says what went wrong on our side; then nothing here is the bot's doing.
    """

    status: int | None
    cpu_ns: int
    memory_kb: int
    out_of_memory: bool
    host_out_of_memory: bool
    refused_processes: bool
    trouble: str = ""

    @property
    def signal(self) -> int | None:
        """The signal that ended the bot, if one did."""
        return self.status - 128 if self.status is not None and 128 < self.status <= 128 + 64 else None


@dataclass(slots=True, kw_only=True)
class Running:
    """`stdin`, `stdout` and `stderr` are our ends, non-blocking; `shows_where`: our SDK is inside.

    What differs by launcher is in a subclass: how to find, kill, await and clear away.
    """

    stdin: int
    stdout: int
    stderr: int
    memory_limit: int
    shows_where: bool = False
    _cpu_ns: int = 0
    _memory_kb: int = 0
    _killed: bool = False
    _clock: int = 0
    _ending: Ending | None = field(default=None)

    def cpu_ns(self) -> int:
        """CPU nanoseconds of all the bot ever ran, its start included; never falls."""
        if self._ending is not None:
            return self._ending.cpu_ns
        used = self._group_cpu_ns()
        if used is None:
            used = self._own_clock()
        if used > self._cpu_ns:
            self._cpu_ns = used
        return self._cpu_ns

    def threads_ns(self) -> dict[str, tuple[int, int]]:
        """How long each of the bot's threads ran, and stood ready but was not let; none if nobody says."""
        told = {thread: kernel.told(f"{thread}/schedstat").split() for thread in self._threads()}
        return {thread: (int(words[0]), int(words[1])) for thread, words in told.items() if words}

    def begun(self) -> None:
        """Told once the bot has said that it is ready."""

    def silent(self) -> bool:
        """Whether the bot has closed its output though our end does not tell; dear, for slow bots."""
        return False

    def memory_kb(self) -> int:
        """The most memory it held so far, KiB."""
        if self._ending is None:
            self._memory_kb = max(self._memory_kb, self._peak())
        return self._memory_kb

    def note_peak(self) -> None:
        """Before its end: how much memory it held, where nobody tells that afterwards."""
        self.memory_kb()

    def ask_where(self) -> bool:
        """Have the SDK write the author's present line to the log; False if nobody there can."""
        if not self.shows_where or self._ending is not None or not self._pid():
            return False
        with contextlib.suppress(OSError):
            self._ask(signal.SIGUSR2)
        return True

    def ended(self, seconds: float) -> Ending | None:
        """How it ended, if it does within `seconds`."""
        if self._ending is None:
            self._wait(seconds)
        return self._ending

    def stop(self) -> Ending:
        """Kill everything, remove everything; idempotent."""
        try:
            if self._ending is None:
                self._end_it()
        finally:
            self._tidy()
        if self._ending is None:
            raise SandboxError("a sandbox cannot be ended")
        return self._ending

    def close_input(self) -> None:
        """Let the bot read an end of file."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def _end_it(self) -> None:
        self.note_peak()
        self.cpu_ns()
        self._killed = True
        self._kill()
        if not self._wait(5.0):
            self._kill_hard()
            self._wait(5.0)

    def _tidy(self) -> None:
        for descriptor in (self.stdin, self.stdout, self.stderr):
            if descriptor >= 0:
                os.close(descriptor)
        self.stdin = self.stdout = self.stderr = -1
        self._clear()

    def _own_clock(self) -> int:
        """The process's CPU clock (clock ids of other processes: see clock_getcpuclockid(3))."""
        if not self._clock and (pid := self._pid()):
            self._clock = (~pid << 3) | 2
        try:
            return time.clock_gettime_ns(self._clock) if self._clock else 0
        except OSError:
            return 0

    @staticmethod
    def peak_of(pid: int) -> int:
        """The most a process ever held, KiB."""
        words = kernel.told(f"/proc/{pid}/status").partition("VmHWM:")[2].split(maxsplit=1)
        return int(words[0]) if words else 0

    # by launcher

    def _pid(self) -> int:
        """The bot's process as the host numbers it; 0 if there is none yet."""
        raise NotImplementedError

    def _threads(self) -> list[str]:
        """The kernel's folders of its threads."""
        return kernel.threads(self._pid())

    def _peak(self) -> int:
        raise NotImplementedError

    def _group_cpu_ns(self) -> int | None:
        """CPU of all the bot's processes, where a group counts it."""
        return None

    def _ask(self, number: int) -> None:
        """Send the bot's own process a signal."""
        os.kill(self._pid(), number)

    def _kill(self) -> None:
        """Kill all of it at once."""
        raise NotImplementedError

    def _kill_hard(self) -> None:
        """What is left to do if that did not help."""
        raise NotImplementedError

    def _wait(self, seconds: float) -> bool:
        """Whether it has ended; then `_ending` says how."""
        raise NotImplementedError

    def _clear(self) -> None:
        """Give back what the launcher made; idempotent."""
        raise NotImplementedError


def ready(descriptor: int, seconds: float) -> bool:
    """Whether it can be read within the time."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
