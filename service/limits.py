"""What a bot may use in one match: the defaults, and how a tournament's own limits are read."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from service.errors import Invalid

RANGES = {
    "decision_ms": (500, 10_000),
    "decision_cpu_ms": (1, 2_000),
    "bank_cpu_ms": (0, 60_000),
    "match_cpu_ms": (100, 600_000),
    "start_ms": (1_000, 30_000),
    "start_cpu_ms": (500, 30_000),
    "memory_mb": (64, 1_024),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in milliseconds, memory in MiB. `match_cpu_ms`, if set, replaces average and bank."""

    decision_ms: int = 1_000
    decision_cpu_ms: int = 50
    bank_cpu_ms: int = 2_000
    match_cpu_ms: int | None = None
    start_ms: int = 5_000
    start_cpu_ms: int = 2_000
    memory_mb: int = 256

    @classmethod
    def parse(cls, spec: Mapping[str, Any]) -> "Limits":
        """Limits from a tournament's `limits`; raises `Invalid` with paths like `limits.decision_ms`."""
        errors = {
            f"limits.{name}": [reason] for name, value in spec.items() if (reason := _wrong(name, value))
        }
        if errors:
            raise Invalid(errors)
        return cls(**spec)

    def as_dict(self) -> dict[str, int | None]:
        """The form that is stored, and told to a bot in its start message."""
        return asdict(self)

    def cpu_budget_ms(self, decisions: int) -> int:
        """CPU milliseconds allowed once `decisions` have been asked, start not counted."""
        if self.match_cpu_ms is not None:
            return self.match_cpu_ms
        return self.decision_cpu_ms * decisions + self.bank_cpu_ms


def _wrong(name: str, value: object) -> str | None:
    if name not in RANGES:
        return f"unknown limit; known are {', '.join(field.name for field in fields(Limits))}"
    low, high = RANGES[name]
    if value is None and name == "match_cpu_ms":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        return f"must be a whole number from {low} to {high}"
    return None
