"""A whole service for one measurement: a folder, a port and workers of its own, and what its programs use.

CPU is that of a program and everything it started, living or dead; memory is what only those map. Both are
read from /proc, so a machine that is busy with other things changes neither.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from service.settings import Settings
from service.supervisor import Supervisor

TICK = 1.0 / os.sysconf("SC_CLK_TCK")
UNHINDERED = {  # one machine asks for everybody
    "RAGE_ACCOUNTS_PER_HOUR": "1000000",
    "RAGE_UPLOADS_PER_HOUR": "1000000",
    "RAGE_WRITES_PER_MINUTE": "1000000",
    "RAGE_REQUESTS_PER_MINUTE": "10000000",
    "RAGE_MAX_BOTS": "100000",
}


@contextmanager
def fresh(*, workers: int, **variables: str) -> Iterator[Supervisor]:
    """A service that is ready; `variables` are further RAGE_ ones. Nothing of it is left behind."""
    with tempfile.TemporaryDirectory(prefix="rage-load-") as folder:
        told = {"RAGE_DATA_DIR": folder, "RAGE_PORT": "0", "RAGE_WORKERS": str(workers)}
        with Supervisor(Settings.from_environment({**UNHINDERED, **told, **variables})) as running:
            yield running


def family(pid: int) -> list[int]:
    """A process and all that descend from it now."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(each for child in children for each in family(child))]


def cpu(pid: int) -> float:
    """Seconds of CPU of a process, of all that descend from it and of those of them that have ended."""
    return TICK * sum(sum(map(int, stat[11:15])) for stat in map(_stat, family(pid)) if stat)


def memory(pid: int) -> int | None:
    """Bytes that only this process maps; None if it has ended or the kernel does not say."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) or None


def used(service: Supervisor) -> Mapping[str, float]:
    """Seconds of CPU so far, by program."""
    return {name: cpu(pid) for name, pid in service.pids.items()}


def kept(service: Supervisor) -> Mapping[str, int | None]:
    """Private memory in bytes: the API, and the largest of the processes that play; None if not known."""
    pids = service.pids
    return {"api": _largest(family(pids["api"])), "worker": _largest(players(pids["players"]))}


def players(pid: int) -> list[int]:
    """The children of a worker that play, without the bots they started."""
    return [child for child in family(pid)[1:] if _parent(child) == pid]


def _largest(pids: Iterable[int]) -> int | None:
    return max((size for size in map(memory, pids) if size is not None), default=None)


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _parent(pid: int) -> int:
    stat = _stat(pid)
    return int(stat[1]) if stat else 0
