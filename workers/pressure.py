"""Whether the machine, not the bot, made an answer late."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox import Running

BUSY_SHARE = 0.5  # of the wall time: a bot that computed longer than this was not waiting
PRESSED = 40.0  # per cent of the last ten seconds in which somebody waited for a core


@dataclass(frozen=True, slots=True)
class Mark:
    """Clocks at one moment, nanoseconds.

    `others`: CPU of the other seats. `waited`: how long the bot's first thread stood ready without a core
    that was with none of its own other threads, no other seat, and not with us, who read what it wrote; None
    where the kernel does not say.
    """

    wall: int
    cpu: int
    waited: int | None
    others: int = 0

    @classmethod
    def of(cls, running: Running, others: int = 0) -> "Mark":
        """The clocks now."""
        cpu, waited = running.cpu_ns(), None
        if (first := running.first_thread_ns()) is not None:
            ran, stood = first
            waited = stood - max(cpu - ran, 0) - others - time.thread_time_ns()
        return cls(time.monotonic_ns(), cpu, waited, others)


def starved(since: Mark, now: Mark) -> int:
    """Nanoseconds in which the machine let strangers to the match have the bot's core."""
    if now.waited is None or since.waited is None:
        return 0
    return max(now.waited - since.waited, 0)


def host_was_late(since: Mark, now: Mark) -> bool:
    """True if the bot used little CPU in this time on a machine under pressure.

    For where the kernel did not count how long it waited, so that no clock could stand still for it. What the
    other seats used is not the machine's doing: the clock stood still for that.
    """
    wall = now.wall - since.wall - (now.others - since.others)
    return now.cpu - since.cpu <= wall * BUSY_SHARE and _pressed()


def _pressed() -> bool:
    try:
        some = Path("/proc/pressure/cpu").read_text().split("avg10=")[1]
        return float(some.split()[0]) > PRESSED
    except (OSError, IndexError, ValueError):
        return os.getloadavg()[0] > 2 * (os.cpu_count() or 1)
