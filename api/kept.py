"""Standings of large tournaments take a while to add up: kept until there are further results.

While matches keep coming in, adding up takes at most a fifth of the time, however many ask.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
MOST = 64
ROOM = 64 << 20  # bytes of all that is kept, as far as values say what they weigh
QUICK = 0.05  # seconds; what takes no longer needs no rest
REST = 4  # times as long as it took, before it is added up again


@dataclass(slots=True)
class _Sum:
    """One value, how it came about, and the lock that lets one at a time work on it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    state: Hashable = None
    played: int = -1
    value: Any = None
    rested: float = 0.0


class Kept:
    """Values by key, the latest used ones: at most `MOST`, and no more than `room` bytes of them.

    A value that is large says so by an attribute `weight`, in bytes.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, room: int = ROOM) -> None:
        self._clock = clock
        self._room = room
        self._lock = threading.Lock()
        self._sums: OrderedDict[Hashable, _Sum] = OrderedDict()

    def get(self, key: Hashable, state: Hashable, played: int, make: Callable[[], T]) -> T:
        """What `make` gives. Another `state` always asks it anew, more matches `played` after some rest."""
        kept = self._of(key)
        with kept.lock:
            resting = kept.played == played or self._clock() < kept.rested
            if kept.played < 0 or kept.state != state or not resting:
                began = self._clock()
                kept.value = make()
                took = self._clock() - began
                rest = REST * took if took > QUICK else 0.0
                kept.state, kept.played, kept.rested = state, played, began + took + rest
            value: T = kept.value
            return value

    def _of(self, key: Hashable) -> _Sum:
        with self._lock:
            kept = self._sums.setdefault(key, _Sum())
            self._sums.move_to_end(key)
            while len(self._sums) > MOST or (len(self._sums) > 1 and self._weight() > self._room):
                self._sums.popitem(last=False)
            return kept

    def _weight(self) -> int:
        return sum(getattr(each.value, "weight", 0) for each in self._sums.values())
