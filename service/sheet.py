"""The score sheet of a played match: the rows a result consists of, and the lease it was played under.

A sheet outlives the worker that wrote it: as JSON it waits on a disk until the database is back.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Protocol

from engine.table import Fault, Outcome


@dataclass(frozen=True, slots=True)
class Spent:
    """What one seat's bot used: ms and KiB; `waited_ms` it was ready to run, without a core."""

    cpu_ms: int
    wall_ms: int
    memory_kb: int
    waited_ms: int = 0
    decisions: int = 0


class Held(Protocol):
    """A match that somebody holds."""

    @property
    def tournament_id(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def attempt(self) -> int: ...
    @property
    def token(self) -> str: ...
    @property
    def versions(self) -> tuple[str, ...]: ...
    @property
    def entrants(self) -> tuple[int, ...]: ...


@dataclass(frozen=True, slots=True)
class Sheet:
    """A result on its way: `match`, `seats` and `faults` are the columns that will be written."""

    tournament_id: str
    number: int
    attempt: int
    token: str
    match: Mapping[str, Any]
    seats: Sequence[Mapping[str, Any]]
    faults: Sequence[Mapping[str, Any]]
    took_ms: int = 0  # from the match's beginning to its end, by the clock; 0: not known

    @property
    def match_id(self) -> str:
        """The id the API knows the match by."""
        return f"{self.tournament_id}-{self.number}"

    @classmethod
    def of(
        cls,
        held: Held,
        outcome: Outcome,
        spent: Sequence[Spent],
        *,
        mode: str,
        replays: int = 0,
        took_ms: int = 0,
    ) -> "Sheet":
        """What `held` came to.

        `replays`: how often the machine was too busy and it was played again before this came of it.
        """
        decisions = sum(each.decisions for each in spent)
        result = {"mode": mode, "replays": replays, "faults": len(outcome.faults), "decisions": decisions}
        return cls(
            held.tournament_id,
            held.number,
            held.attempt,
            held.token,
            match={**result, "record": outcome.record.pack()},
            seats=[_seat(held, outcome, spent, each) for each in range(len(held.entrants))],
            faults=[_fault(held, ordinal, each) for ordinal, each in enumerate(outcome.faults)],
            took_ms=took_ms,
        )

    def dumps(self) -> bytes:
        """As JSON."""
        told = asdict(self)
        told["match"]["record"] = base64.b64encode(self.match["record"]).decode()
        return json.dumps(told).encode()

    @classmethod
    def loads(cls, text: bytes) -> "Sheet":
        """From JSON, also of a newer program that tells more; raises `ValueError` for what is no sheet."""
        try:
            told = json.loads(text)
            sheet = cls(**{each.name: told[each.name] for each in fields(cls) if each.name in told})
            return cls(**asdict(sheet) | {"match": _with_record(sheet.match)})
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"no score sheet: {error}") from error


def _with_record(match: Mapping[str, Any]) -> dict[str, Any]:
    return {**match, "record": base64.b64decode(match["record"], validate=True)}


def _seat(held: Held, outcome: Outcome, spent: Sequence[Spent], number: int) -> dict[str, Any]:
    return {
        "tournament_id": held.tournament_id,
        "number": held.number,
        "seat": number,
        "entrant": held.entrants[number],
        "score": outcome.scores[number],
        "counted": outcome.counted[number],
        "exact_bids": outcome.exact_bids[number],
        "place": outcome.places[number],
        "out": number in outcome.out,
        "faults": sum(each.seat == number for each in outcome.faults),
        "cpu_ms": spent[number].cpu_ms,
        "wall_ms": spent[number].wall_ms,
        "memory_kb": spent[number].memory_kb,
        "waited_ms": spent[number].waited_ms,
    }


def _fault(held: Held, ordinal: int, each: Fault) -> dict[str, Any]:
    return {
        "tournament_id": held.tournament_id,
        "number": held.number,
        "ordinal": ordinal,
        "version_id": held.versions[each.seat],
        "seat": each.seat,
        "kind": str(each.kind),
        "round": each.round,
        "trick": each.trick,
        "decision": each.decision,
        "asked": each.asked,
        "text": each.text.replace("\0", "\ufffd"),  # PostgreSQL keeps no NUL
        "out": each.out,
        "evidence": dict(each.evidence),
    }
