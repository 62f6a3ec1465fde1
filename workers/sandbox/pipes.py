"""What is handed to a bot's first process over a socket: its streams, and what it may read."""

import os


class Pipes:
    """A bot's three pipes and its source; the bot's ends are closed here whatever happens."""

    def __init__(self) -> None:
        self.ours: list[int] = []
        self.kept = False
        self._theirs: list[int] = []

    def __enter__(self) -> "Pipes":
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._theirs if self.kept else [*self._theirs, *self.ours]:
            os.close(descriptor)

    def streams(self) -> list[int]:
        """The bot's ends of input, output and log."""
        for bot_reads in (True, False, False):
            reading, writing = os.pipe()
            ours, theirs = (writing, reading) if bot_reads else (reading, writing)
            os.set_blocking(ours, False)
            self.ours.append(ours)
            self._theirs.append(theirs)
        return self._theirs[:]

    def pair(self) -> tuple[int, int]:
        """One more pipe: (ours, the other side's)."""
        reading, writing = os.pipe()
        self.ours.append(reading)
        self._theirs.append(writing)
        return reading, writing

    def data(self, content: bytes) -> int:
        """A descriptor that holds `content`."""
        descriptor = os.memfd_create("bot")
        self._theirs.append(descriptor)
        while content:
            content = content[os.write(descriptor, content) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor
