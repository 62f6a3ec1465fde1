"""The matches one process holds: played one after another, given in together.

Two threads have it in hand. One plays; the other keeps the leases, and where the batch is late, or the worker
is to stop, gives in what is played and hands back what is not begun.
"""

import threading
import time
from collections import deque
from collections.abc import Sequence

from service.leases import Assignment
from service.sheet import Sheet


class Batch:
    """Held matches: some wait, one may be in play, of some there are results. `since` when it is in play."""

    def __init__(self, held: Sequence[Assignment]) -> None:
        self.since = time.monotonic()
        self._lock = threading.Lock()
        self._waiting = deque(held)
        self._in_play: Assignment | None = None
        self._played: list[Sheet] = []

    def begin(self) -> Assignment | None:
        """The next one to be played."""
        with self._lock:
            self._in_play = self._waiting.popleft() if self._waiting else None
            self.since = time.monotonic()
            return self._in_play

    def end(self, sheet: Sheet | None) -> None:
        """What the one in play came to; None: nothing, and it is not held any more."""
        with self._lock:
            if sheet is not None:
                self._played.append(sheet)
            self._in_play = None

    def held(self) -> list[Assignment | Sheet]:
        """All whose leases are to be kept, in their order."""
        with self._lock:
            in_play = [self._in_play] if self._in_play else []
            return [*self._played, *in_play, *self._waiting]

    def forget(self, lost: Assignment | Sheet) -> None:
        """Its lease is lost, so it need not be begun."""
        with self._lock:
            self._waiting = deque(each for each in self._waiting if each is not lost)

    def take(self) -> tuple[list[Sheet], list[Assignment]]:
        """Results that are there and matches that are not begun: whoever takes them has them alone."""
        with self._lock:
            taken = self._played, list(self._waiting)
            self._played, self._waiting = [], deque()
            return taken

    def put(self, sheets: Sequence[Sheet], unbegun: Sequence[Assignment]) -> None:
        """What was taken could not be given in, and still is held."""
        with self._lock:
            self._played[:0] = sheets
            self._waiting.extendleft(reversed(unbegun))
