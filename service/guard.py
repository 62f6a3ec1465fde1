"""A small program of its own that outlives a killed supervisor, and ends what it left running.

Its standard input names process groups, `+PID` and `-PID` a line, and closes when the supervisor is gone. By
then the kernel has asked every child to end, but a Celery worker that lost its broker too may take very long
over it. Run by path on the bare standard library, so it imports nothing of ours.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

PATIENCE = 3.0  # seconds; what was being played is played again after the next start anyway


class Guard:
    """The supervisor's end of it; inside `with`, the guard runs."""

    keep_open: tuple[int, ...] = ()  # descriptors it holds until nobody is left

    def __enter__(self) -> "Guard":
        argv = [sys.executable, "-I", "-S", __file__]
        self._program = subprocess.Popen(
            argv, stdin=subprocess.PIPE, text=True, start_new_session=True, pass_fds=self.keep_open
        )
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(BrokenPipeError):
            self._program.communicate()

    def add(self, group: int) -> None:
        self._say(f"+{group}")

    def forget(self, group: int) -> None:
        self._say(f"-{group}")

    def _say(self, line: str) -> None:
        assert self._program.stdin is not None
        with suppress(BrokenPipeError):  # killed by someone; the kernel's part of the work remains
            print(line, file=self._program.stdin, flush=True)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit and any(_signalled(group, 0) for group in groups):
        time.sleep(0.05)
    for group in groups:
        _signalled(group, signal.SIGKILL)


def _signalled(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    main()
