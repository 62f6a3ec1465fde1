"""A bot's failures, as values: recorded and told to its author, never raised past the table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from engine.errors import EngineError


class FaultKind(StrEnum):
    """What a bot did wrong."""

    START = "start"
    ILLEGAL = "illegal"
    GARBAGE = "garbage"
    TIMEOUT = "timeout"
    CRASH = "crash"
    MEMORY = "memory"
    FLOOD = "flood"
    ESCAPE = "escape"


class PlayerFault(EngineError):
    """Raised by a player for its bot's own failure; `out` if the seat is out at once, without strikes.

    `evidence` holds JSON values: limit and used, exit status, the ends of the log.
    """

    def __init__(
        self, kind: FaultKind, text: str, *, out: bool, evidence: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind
        self.text = text
        self.out = out
        self.evidence: Mapping[str, Any] = dict(evidence or {})


@dataclass(frozen=True, slots=True)
class Fault:
    """One failure of one seat. Rounds, tricks and the decisions of the seat count from 1; 0 is before them.

    `asked` is the kind of question (`start` before any); `out` says that the seat went out with this fault.
    """

    seat: int
    kind: FaultKind
    round: int
    trick: int
    decision: int
    asked: str
    text: str
    out: bool
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "seat": self.seat,
            "kind": str(self.kind),
            "round": self.round,
            "trick": self.trick,
            "decision": self.decision,
            "asked": self.asked,
            "text": self.text,
            "out": self.out,
            "evidence": dict(self.evidence),
        }
