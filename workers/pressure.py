"""Whether the machine, not the bot, made an answer late."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox import Running

BUSY_SHARE = 0.5  # of the wall time: a bot that computed longer than this was not waiting
WAITED_SHARE = 0.25  # of the wall time spent ready to run but not let
PRESSED = 40.0  # per cent of the last ten seconds in which somebody waited for a core


@dataclass(frozen=True, slots=True)
class Mark:
    """Clocks at one moment, nanoseconds."""

    wall: int
    cpu: int
    waited: int | None

    @classmethod
    def of(cls, running: Running) -> "Mark":
        """The clocks now."""
        return cls(time.monotonic_ns(), running.cpu_ns(), running.waited_ns())


def host_was_late(since: Mark, now: Mark) -> bool:
    """True if the bot used little CPU in this time because it was not let.

    The kernel counts how long the bot stood ready without a core; without that count the machine's pressure
    must do.
    """
    wall = now.wall - since.wall
    if now.cpu - since.cpu > wall * BUSY_SHARE:
        return False
    if now.waited is not None and since.waited is not None:
        return now.waited - since.waited > wall * WAITED_SHARE
    return _pressed()


def _pressed() -> bool:
    try:
        some = Path("/proc/pressure/cpu").read_text().split("avg10=")[1]
        return float(some.split()[0]) > PRESSED
    except (OSError, IndexError, ValueError):
        return os.getloadavg()[0] > 2 * (os.cpu_count() or 1)
