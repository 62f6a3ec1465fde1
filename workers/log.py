"""A bot's log: the first and last part kept, the rest counted and dropped."""

KIB = 1024
HEAD_KEPT = 56 * KIB
TAIL_KEPT = 8 * KIB
SHOWN = 8 * KIB
ALLOWED = 4 * 1024 * KIB


class Log:
    """Bytes the bot wrote to standard error. `written` counts all of them."""

    __slots__ = ("_head", "_tail", "written")

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self.written = 0

    def add(self, data: bytes) -> None:
        """Take in what was read."""
        self.written += len(data)
        room = HEAD_KEPT - len(self._head)
        self._head += data[:room]
        self._tail += data[max(room, 0) :][-TAIL_KEPT:]
        del self._tail[:-TAIL_KEPT]

    @property
    def flooded(self) -> bool:
        """Whether the bot wrote more than anybody will ever read."""
        return self.written > ALLOWED

    def head(self) -> str:
        """The first 8 KiB."""
        return self._head[:SHOWN].decode(errors="replace")

    def tail(self) -> str:
        """The last 8 KiB, where they are not the first ones."""
        kept = self._head + self._tail
        return bytes(kept[SHOWN:][-SHOWN:]).decode(errors="replace")

    def text(self) -> str:
        """All that is kept, up to 64 KiB, a gap marked."""
        gap = self.written - len(self._head) - len(self._tail)
        between = f"\n[... {gap:,} bytes dropped ...]\n".encode() if gap else b""
        return bytes(self._head + between + self._tail).decode(errors="replace")

    def shown(self) -> dict[str, object]:
        """What an author is shown of it beside a fault."""
        return {"log_head": self.head(), "log_tail": self.tail(), "log_bytes": self.written}

    def last_line(self) -> str:
        """The last line that is not blank: where a Python traceback names its exception."""
        lines = (self._tail if self._tail else self._head)[-SHOWN:].decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
