"""Lines to and from a bot over its pipes, with deadlines; knows nothing of the game."""

import os
import select
import time

from workers.log import Log
from workers.sandbox import Running

LINE = 4 * 1024
SURPLUS = 256 * 1024
CHUNK = 64 * 1024
GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Overlong(Exception):
    """A line beyond 4 KiB; what belongs to it is dropped. `start` is its beginning."""

    def __init__(self, start: bytes) -> None:
        self.start = start


class Flooded(Exception):
    """More output or log than is allowed."""


class Closed(Exception):
    """The bot's output has ended."""


class Wire:
    """One bot's pipes. Not for two threads."""

    def __init__(self, running: Running, log: Log) -> None:
        self._running = running
        self._log = log
        self._in = bytearray()
        self._out = bytearray()
        self._stuck = False
        self._skipping = False
        self._ended = False
        self._read = 0
        self._used = 0
        self._poll = select.poll()
        self._poll.register(running.stdout, select.POLLIN)
        self._poll.register(running.stderr, select.POLLIN)

    def send(self, line: bytes) -> None:
        """Write as much as the pipe takes; the rest goes out while waiting."""
        self._out += line
        self._flush()

    def line(self, until: float) -> bytes | None:
        """The next line without its end, or None at the (monotonic) time `until`.

        What has arrived by the time this process looks is taken, so that our own lateness is never a bot's.
        Raises `Overlong`, `Flooded`, `Closed`.
        """
        line, left = self._taken(), 1.0
        while line is None and left > 0:  # one look after the time is over, not as many as the bot likes
            if self._ended:
                raise Closed
            left = until - time.monotonic()
            self._turn(left if left > 0 else 0.0)
            line = self._taken()
        if line is not None:
            self._used += len(line) + 1
        elif self._ended:
            raise Closed
        return line

    def waiting(self) -> bool:
        """Whether output is there that nobody has taken yet."""
        return bool(self._in) or self._ended

    def forget(self) -> None:
        """Drop the whole lines that are there."""
        del self._in[: self._in.rfind(b"\n") + 1]

    def look(self) -> None:
        """Take in what is in the pipes now, without waiting."""
        self._turn(0.0)

    def settle(self, until: float) -> None:
        """Take in what comes up to then, for the log's sake."""
        while not self._ended and (left := until - time.monotonic()) > 0:
            self._turn(left)

    def drain(self, until: float) -> None:
        """Read on, and forget the answers, until the bot closes both pipes or the time comes."""
        while not self._ended and (left := until - time.monotonic()) > 0:
            self._in.clear()
            self._turn(left)
        self._turn(0.0)

    def close_input(self) -> None:
        """Let the bot read an end of file, and forget what it has not taken."""
        self._forget_output()
        self._running.close_input()

    def _taken(self) -> bytes | None:
        if not self._in:
            return None
        end = self._in.find(b"\n")
        if self._skipping:
            del self._in[: end + 1 if end >= 0 else len(self._in)]
            self._skipping = end < 0
            return None if end < 0 else self._taken()
        if end > LINE or (end < 0 and len(self._in) > LINE):
            start = bytes(self._in[:256])
            del self._in[: end + 1 if end >= 0 else len(self._in)]
            self._skipping = end < 0
            raise Overlong(start)
        if end < 0:
            return None
        line = bytes(self._in[:end])
        del self._in[: end + 1]
        return line

    def _turn(self, seconds: float) -> bool:
        """One wait for any pipe; True if something happened."""
        happened = self._poll.poll(seconds * 1000)
        for descriptor, events in happened:
            if descriptor == self._running.stdout:
                self._hear(descriptor)
            elif descriptor == self._running.stderr:
                self._note(descriptor)
            else:
                self._flush() if not events & GONE else self._forget_output()
        return bool(happened)

    def _hear(self, descriptor: int) -> None:
        data = _read(descriptor)
        if data == b"":
            self._ended = True
            self._poll.unregister(descriptor)
        elif data:
            self._in += data
            self._read += len(data)
            if self._read - self._used > SURPLUS:
                raise Flooded("output")

    def _note(self, descriptor: int) -> None:
        data = _read(descriptor)
        if data == b"":
            self._poll.unregister(descriptor)
        elif data:
            self._log.add(data)
            if self._log.flooded:
                raise Flooded("log")

    def _flush(self) -> None:
        if self._running.stdin < 0:
            return
        try:
            while self._out:
                del self._out[: os.write(self._running.stdin, self._out)]
        except BlockingIOError:
            self._poll.register(self._running.stdin, select.POLLOUT)
            self._stuck = True
        except BrokenPipeError:
            self._forget_output()
        else:
            self._unwatch_input()

    def _forget_output(self) -> None:
        """The bot reads no more; whether it lives, its output will tell."""
        self._out.clear()
        self._unwatch_input()

    def _unwatch_input(self) -> None:
        if self._stuck:
            self._poll.unregister(self._running.stdin)
            self._stuck = False


def _read(descriptor: int) -> bytes | None:
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
