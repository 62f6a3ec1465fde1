"""What a seat used of its time, and whether that is more than it may."""

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
    waited: int = 0  # stood ready to run but had no core
    begun: bool = False  # whether the start is over

    def beyond(self, limits: Limits, decisions: int, cpu_ns: int) -> tuple[str, int] | None:
        """What to say of too much CPU, and the limit in ms; None while there is some left."""
        if not self.begun:
            used, limit = cpu_ns // MS, limits.start_cpu_ms
            text = f"used {used:,} ms of CPU before it was ready; {limit:,} ms are allowed"
        else:
            used, limit = (cpu_ns - self.start_cpu) // MS, limits.cpu_budget_ms(decisions)
            text = f"used {used:,} ms of CPU; {limit:,} ms are allowed up to decision {decisions}"
        return (text, limit) if used > limit else None
