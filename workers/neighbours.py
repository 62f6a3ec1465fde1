"""The seats of one match as their clocks see each other: on one core, what one computes the others wait for.

So a seat's wall clock stands still while its neighbours compute, and whoever waits has an eye on what the
others may still use: a bot that burns its time on another's turn ends, and makes nobody late.
"""

import threading
from typing import Protocol


class Clocked(Protocol):
    """A seat that uses CPU, on and off turn."""

    def cpu_ns(self) -> int:
        """All it used so far."""

    def end_if_overspent(self) -> None:
        """End it if it used more than it may, and it is nobody's turn to tell it so."""


class Neighbours:
    """All seats of a match. For several threads: with secret bids every seat waits in one of its own."""

    def __init__(self) -> None:
        self._seats: list[Clocked] = []
        self._looking = threading.Lock()

    def join(self, seat: Clocked) -> None:
        """One more."""
        self._seats.append(seat)

    def used_by_others(self, seat: Clocked) -> int:
        """CPU nanoseconds of all the other seats so far."""
        return sum(other.cpu_ns() for other in self._seats if other is not seat)

    def watch(self, seat: Clocked) -> None:
        """Have `seat`, which waits, look at all the others."""
        with self._looking:
            for other in self._seats:
                if other is not seat:
                    other.end_if_overspent()
