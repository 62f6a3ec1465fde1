"""A question's wall clock: it stands still while other seats, or strangers, have the bot's core."""

import time
from typing import Final

from workers.pressure import Mark, host_was_late, starved
from workers.spent import MS

FIRST_LOOK: Final = 0.02  # seconds until a slow answer's clocks are first read
LOOK: Final = 0.1


class WallClock:
    """Runs from `asked_at` (nanoseconds) for `wall_ms`, and for as long again as it stood still."""

    def __init__(self, asked_at: int, wall_ms: int) -> None:
        self._begin = asked_at / 1e9
        self._wall = wall_ms * MS / 1e9
        self._first: Mark | None = None
        self._held_up = 0
        self._look = self._begin + FIRST_LOOK

    @property
    def look(self) -> float:
        """When (monotonic) the clocks are to be read next, if no answer comes before."""
        return min(self._look, self._end)

    def over(self, now: Mark) -> bool:
        """Whether the time is, by these clocks."""
        if self._first is None or (now.threads and not self._first.threads):
            self._first = now  # what was before, nobody counted: while bubblewrap starts there is no bot yet
            self._begin = max(self._begin, now.wall / 1e9 - FIRST_LOOK)
        self._held_up = max(self._held_up, _held_up(self._first, now))
        self._look = time.monotonic() + LOOK
        return time.monotonic() >= self._end

    def excused(self, now: Mark) -> bool:
        """Whether the machine was late, in a way by which the clock could not stand still."""
        return self._first is not None and not self._first.threads and host_was_late(self._first, now)

    @property
    def _end(self) -> float:
        return self._begin + self._wall + self._held_up / 1e9


def _held_up(since: Mark, now: Mark) -> int:
    """Nanoseconds in which its neighbours or strangers kept it from computing.

    Up to the first look nobody counted: as much as afterwards, for all we know.
    """
    waited = starved(since, now)
    waited += min(waited, int(FIRST_LOOK * 1e9))
    return now.others - since.others + waited
