"""Control groups: memory and process limits of one seat, under cgroup v1, v2 or not at all.

A seat's group is made for one launch and removed with it. Directories are flat and carry the claim's name
(`rage-<claim>-<number>`), so that whoever finds a dead worker's claim can find and remove its groups.
"""

import contextlib
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from workers.sandbox import kernel
from workers.sandbox.errors import refused

SPENT_WITH = 0.95  # of the memory limit: a kill below it was the host's doing


@dataclass(frozen=True, slots=True)
class Seen:
    """What a seat's group counted: bytes, and how often the kernel refused."""

    memory_peak: int
    killed_for_memory: int
    refused_processes: int
    at_limit: int = 0

    @property
    def reached_limit(self) -> bool:
        """Whether the limit was ever met: a kill without that was the host's doing."""
        return self.at_limit > 0

    @property
    def ended_at_limit(self) -> bool:
        """Whether the kernel killed for memory that was used in the group itself.

        It need not kill who used it: shared memory that is let go of counts for the group and for no process.
        """
        return self.killed_for_memory > 0 and self.reached_limit

    @property
    def used_up_kb(self) -> int:
        """The most the group held, KiB, if that was its end; else the processes themselves tell."""
        return self.memory_peak // 1024 if self.ended_at_limit else 0

    @property
    def ended_below_limit(self) -> bool:
        """Whether the kernel killed because the host had no more memory."""
        return self.killed_for_memory > 0 and not self.reached_limit

    def since(self, before: "Seen") -> "Seen":
        """What was counted after `before`; the peak is no sum and stays."""
        return Seen(
            self.memory_peak,
            self.killed_for_memory - before.killed_for_memory,
            self.refused_processes - before.refused_processes,
            self.at_limit - before.at_limit,
        )


@dataclass(slots=True)
class Group:
    """One seat's directories, by controller; under v2 all are the same directory."""

    version: int
    memory: Path
    pids: Path
    cpu: Path | None
    limited: int = 0
    removed: bool = field(default=False)

    def joins(self) -> list[str]:
        """The files a process writes `0` to in order to enter."""
        folders = dict.fromkeys(folder for folder in (self.memory, self.pids, self.cpu) if folder)
        return [str(folder / "cgroup.procs") for folder in folders]

    def cpu_ns(self) -> int | None:
        """CPU of everything that ever ran in the group, where it is counted."""
        if self.cpu is None:
            return None
        if self.version == 1:
            return int(kernel.told(f"{self.cpu}/cpuacct.usage") or 0)
        return 1000 * _field(kernel.told(f"{self.cpu}/cpu.stat"), "usage_usec")

    def seen(self) -> Seen:
        """Counters at this moment."""
        refused = _field(kernel.told(f"{self.pids}/pids.events"), "max")
        if self.version == 2:
            events = kernel.told(f"{self.memory}/memory.events")
            peak = int(kernel.told(f"{self.memory}/memory.peak") or 0)  # before Linux 5.19 nobody says
            return Seen(peak, _field(events, "oom_kill"), refused, _field(events, "oom"))
        killed = _field(kernel.told(f"{self.memory}/memory.oom_control"), "oom_kill")
        peak = int(kernel.told(f"{self.memory}/memory.max_usage_in_bytes") or 0)
        reached = int(peak >= self.limited * SPENT_WITH)  # version 1 keeps no sure count
        return Seen(peak, killed, refused, reached)

    def begin_anew(self, seen: Seen) -> Seen:
        """Measure the peak from now on; gives what to count `since`, of what was seen.

        Version 2 keeps its peak, and counts meetings with the limit.
        """
        if self.version == 2:
            return seen
        kernel.tell(f"{self.memory}/memory.max_usage_in_bytes", 0)
        return replace(seen, at_limit=0)

    def limit(self, memory: int) -> None:
        """Set the memory limit, bytes; raises `OSError`."""
        self.limited = memory
        if self.version == 2:
            kernel.tell(self.memory / "memory.max", memory)
            with contextlib.suppress(OSError):
                kernel.tell(self.memory / "memory.swap.max", 0)
            return
        swap = self.memory / "memory.memsw.limit_in_bytes"  # not there if swap is not accounted
        with contextlib.suppress(
            OSError
        ):  # must never be below the other: first when it rises, last when it falls
            kernel.tell(swap, memory)
        kernel.tell(self.memory / "memory.limit_in_bytes", memory)
        with contextlib.suppress(OSError):
            kernel.tell(swap, memory)

    def remove(self) -> None:
        """End what is left inside and remove the directories; idempotent."""
        if not self.removed:
            self.removed = all([remove(folder) for folder in {self.memory, self.pids, self.cpu} if folder])


@dataclass(frozen=True, slots=True)
class Groups:
    """Where groups are made: one parent directory a controller."""

    version: int
    memory: Path
    pids: Path
    cpu: Path | None

    def make(
        self, name: str, *, memory: int, processes: int, count_cpu: bool, together: bool = True
    ) -> Group:
        """A fresh group with its limits set, `memory` in bytes; raises `SandboxError`.

        `together`: if its memory runs out all in it is killed where the kernel can, else its largest process.
        """
        cpu = self.cpu / name if self.cpu and count_cpu else None
        group = Group(self.version, self.memory / name, self.pids / name, cpu)
        try:
            self._fill(group, memory, processes)
            if self.version == 2 and together:
                with contextlib.suppress(OSError):
                    kernel.tell(group.memory / "memory.oom.group", 1)
        except OSError as error:
            group.remove()
            raise refused("no control group for a seat", error) from error
        return group

    def _fill(self, group: Group, memory: int, processes: int) -> None:
        for folder in {group.memory, group.pids, group.cpu} - {None}:
            assert folder is not None
            folder.mkdir()
        group.limit(memory)
        kernel.tell(group.pids / "pids.max", processes)

    def parents(self) -> set[Path]:
        """Every directory in which groups are made."""
        return {folder for folder in (self.memory, self.pids, self.cpu) if folder}


def leftovers(parents: set[Path], claim: str) -> list[Path]:
    """Groups of the claim's launches that still exist."""
    return [folder for parent in parents for folder in parent.glob(f"rage-{claim}-*")]


def remove(folder: Path, *, seconds: float = 2.0) -> bool:
    """Kill what runs in a group and remove it; False if the kernel would not let go of it in time."""
    end = time.monotonic() + seconds
    while True:
        try:
            folder.rmdir()
            return True
        except FileNotFoundError:
            return True
        except OSError:
            _kill(folder)
        if time.monotonic() > end:
            return False
        time.sleep(0.002)


def _kill(folder: Path) -> None:
    with contextlib.suppress(OSError):  # version 2 ends all at once, whatever they are about to start
        kernel.tell(folder / "cgroup.kill", 1)
        return
    for line in kernel.whole(folder / "cgroup.procs").split():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if int(line) > 1 and int(line) != os.getpid():
                os.kill(int(line), 9)


def _field(text: str, name: str) -> int:
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith(f"{name} ")), 0)
