"""Which core a child of the worker keeps to, with the bots it starts: a talk on one core costs a tenth."""

import os
from pathlib import Path

GROUP = Path("/sys/fs/cgroup")


def own(number: int, group: Path = GROUP) -> set[int] | None:
    """The core of the child of this number; None where the kernel had better choose.

    A container with a share of the machine's time sees all its cores, as its neighbours do: the first child
    of each would crowd on the first core. One with whole cores of its own sees only those.
    """
    cores = sorted(os.sched_getaffinity(0))
    share = _share(group)
    return {cores[number % len(cores)]} if share is None or share >= len(cores) else None


def _share(group: Path) -> float | None:
    """Cores' worth of time that the container may use; None: no limit is set."""
    try:
        quota, period = _told(group)
        return int(quota) / int(period) if quota not in ("max", "-1") else None
    except (OSError, ValueError):
        return None


def _told(group: Path) -> list[str]:
    """Quota and period in microseconds, by either version of control groups."""
    if (group / "cpu.max").exists():
        return (group / "cpu.max").read_text().split()
    return [(group / "cpu" / f"cpu.cfs_{what}_us").read_text().strip() for what in ("quota", "period")]
