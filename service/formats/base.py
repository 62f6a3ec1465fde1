"""What every format is made of: the field that plays, the stages it plays, and what came of them.

A format says, from these values alone, which tables come next. It knows no rows, no clock and no bots.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from service.design import Order


@dataclass(frozen=True, slots=True)
class Field:
    """Who plays, and how. Entrants are numbers; with teams an entrant has a whole team's seats.

    `size`: entrants at a full table; `least`: at the smallest the rules allow. `gone` have left. `seed` draws
    the schedule. `deals` deal groups are played by each table. `ratings` (Elo, as of the start) and `owners`
    are known for all; `apart`: no two of one owner should meet. `prepared` is what `Format.prepare` gave.
    """

    size: int
    least: int
    entrants: tuple[int, ...]
    seed: bytes
    deals: int = 1
    duplicate: bool = True
    meetings: int = 1
    stages: int | None = None
    challenger: int | None = None
    apart: bool = False
    gone: frozenset[int] = frozenset()
    ratings: Mapping[int, float] = field(default_factory=dict)
    owners: Mapping[int, str] = field(default_factory=dict)
    prepared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def staying(self) -> tuple[int, ...]:
        """Those who can still be given a table."""
        return tuple(each for each in self.entrants if each not in self.gone)


@dataclass(frozen=True, slots=True)
class Stage:
    """Tables that are played at the same time, each for one deal group; who sits at none has a bye.

    An order is that of the seats in the group's first match. `kind`: `main`, or `playoff` for tables that are
    played again. `last`: nothing follows, whatever comes of it.
    """

    tables: tuple[Order, ...]
    byes: tuple[int, ...] = ()
    kind: str = "main"
    last: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """What came of one deal group of a stage: for each entrant (fillers left out) points and exact bids.

    Both are empty if the group does not count, because some of its matches could not be played.
    """

    entrants: Order
    points: Mapping[int, int]
    exact_bids: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Done:
    """A stage that is over."""

    kind: str
    tables: tuple[Table, ...]
    byes: tuple[int, ...]


class Format(Protocol):
    """How entrants meet. Every method is a function of its arguments, the same on any machine."""

    ahead: bool  # whether the next stage can be planned while one is still being played

    def prepare(self, field: Field) -> dict[str, Any]:
        """What takes long to work out (seconds, perhaps), as JSON; asked for once, before the start."""

    def stage(self, field: Field, number: int, done: Sequence[Done]) -> Stage | None:
        """Stage `number` (from 1), None when it is all over. `done` is empty for formats that plan ahead."""

    def groups(self, field: Field) -> int:
        """How many deal groups there will be in all: exact or, where results decide, a forecast."""

    def places(self, field: Field, done: Sequence[Done]) -> list[list[int]] | None:
        """Entrants best first, level ones together; None: by points over all whole groups (`standings`)."""
