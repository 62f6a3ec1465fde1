"""When the clock that looks after everything ticks: by a clock that nobody can set."""

import time
from datetime import datetime

from celery.schedules import BaseSchedule, schedstate


class Every(BaseSchedule):  # type: ignore[misc]
    """Every so many seconds of the monotonic clock: Celery's own waits an hour for one set back by one."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds
        self._last = -seconds

    def is_due(self, last_run_at: datetime) -> schedstate:
        """Whether to tick now, and the seconds until the next time to ask."""
        now = time.monotonic()
        left = self._last + self._seconds - now
        if left > 0:
            return schedstate(is_due=False, next=left)
        self._last = now
        return schedstate(is_due=True, next=self._seconds)

    def __repr__(self) -> str:
        return f"every {self._seconds} s"

    def __reduce__(self) -> tuple[type["Every"], tuple[float]]:
        return type(self), (self._seconds,)
