"""What a seat used of its time, and whether that is more than it may."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from service.limits import Limits

MS: Final = 1_000_000


@dataclass(slots=True)
class Spent:
    """What a seat used so far: nanoseconds, and its decisions."""

    start_cpu: int = 0
    start_wall: int = 0
    cpu: int = 0
    cpu_longest: int = 0
    wall: int = 0
    wall_longest: int = 0
    decisions: int = 0
    memory_kb: int = 0
    waited: int = 0  # the longest of its threads stood ready to run but had no core
    begun: bool = False  # whether the start is over

    def note(self, wall: int, cpu: int, own: int) -> None:
        """A decision took so much wall time and CPU of its `own`; `cpu` is all so far."""
        self.wall += wall
        self.cpu = cpu
        if wall > self.wall_longest:
            self.wall_longest = wall
        if own > self.cpu_longest:
            self.cpu_longest = own

    def close(self, wall: int, cpu: int, memory_kb: int) -> None:
        """It has ended, `wall` after it was last asked, having used `cpu` and `memory_kb` in all."""
        if not self.decisions:
            self.start_wall = max(self.start_wall, wall)
            self.start_cpu = cpu
        self.cpu = max(self.cpu, cpu)
        self.memory_kb = max(self.memory_kb, memory_kb)

    def note_waiting(self, threads: Mapping[str, tuple[int, int]]) -> None:
        """Its threads ran so long, and stood ready so long."""
        for _, stood in threads.values():
            if stood > self.waited:
                self.waited = stood

    def beyond(self, limits: Limits, decisions: int, cpu_ns: int) -> tuple[str, int] | None:
        """What to say of too much CPU, and the limit in ms; None while there is some left."""
        begun = self.begun
        limit = limits.cpu_budget_ms(decisions) if begun else limits.start_cpu_ms
        used = (cpu_ns - (self.start_cpu if begun else 0)) // MS
        if used <= limit:
            return None
        allowed = f"{limit:,} ms are allowed"
        if begun:
            return f"used {used:,} ms of CPU; {allowed} up to decision {decisions}", limit
        return f"used {used:,} ms of CPU before it was ready; {allowed}", limit
