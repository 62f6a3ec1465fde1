"""Whether the machine, not the bot, made an answer late."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox import Running

BUSY_SHARE = 0.5  # of the wall time: a bot that computed longer than this was not waiting
PRESSED = 40.0  # per cent of the last ten seconds in which somebody waited for a core


@dataclass(frozen=True, slots=True)
class Mark:
    """Clocks at one moment, nanoseconds.

    `threads`: how long each thread of the bot ran, and stood ready without a core; none where the kernel does
    not say. `others`: CPU of the other seats; `ours`: of this thread, which read what the bot wrote.
    """

    wall: int
    cpu: int
    threads: Mapping[str, tuple[int, int]]
    others: int = 0
    ours: int = 0

    @classmethod
    def of(cls, running: Running, others: int = 0) -> "Mark":
        """The clocks now."""
        threads = running.threads_ns()
        return cls(time.monotonic_ns(), running.cpu_ns(), threads, others, time.thread_time_ns())


def starved(since: Mark, now: Mark) -> int:
    """Nanoseconds in which strangers to the match had the core for which the bot stood ready.

    As told by that thread which waited longest for none of the bot's others, no other seat, and not for us.
    One that is older than this time but was not seen at its beginning does not count: what it waited before
    is unknown, and who starts and ends processes all the time can hide others from a look.
    """
    aside = now.others - since.others + now.ours - since.ours
    longest = 0
    for thread, (ran, stood) in now.threads.items():
        if thread not in since.threads and ran + stood > now.wall - since.wall:
            continue
        ran_before, stood_before = since.threads.get(thread, (0, 0))
        siblings = max(now.cpu - since.cpu - (ran - ran_before), 0)
        longest = max(longest, stood - stood_before - siblings - aside)
    return longest


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
