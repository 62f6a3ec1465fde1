"""What every format is made of: the field that plays, the stages it plays, and what came of them.

A format says, from these values alone, which tables come next. It knows no rows, no clock and no bots.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, Protocol

from service.design import Dice, Order, balanced
from service.formats.grouping import met

OWNER = 100  # meetings that two bots of one owner are taken to have had, where they are kept apart
PORTION = 2_000  # matches planned at once, or what more a block needs


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
    matches: int


@dataclass(frozen=True, slots=True)
class Done:
    """A stage that is over."""

    kind: str
    tables: tuple[Table, ...]
    byes: tuple[int, ...]


class Format(Protocol):
    """How entrants meet. Every method is a function of its arguments, the same on any machine."""

    ahead: bool  # whether the next stage can be planned while one is still being played
    endless: bool  # whether it goes on until it is stopped
    by_points: bool  # whether standings are by points over all whole groups, while nobody has left

    def prepare(self, field: Field) -> dict[str, Any]:
        """What takes long to work out (seconds, perhaps), as JSON; asked for once, before the start."""

    def stage(self, field: Field, number: int, done: Sequence[Done]) -> Stage | None:
        """Stage `number` (from 1), None when it is all over. `done` is empty for formats that plan ahead."""

    def groups(self, field: Field) -> int:
        """How many deal groups there will be in all: exact or, where results decide, a forecast."""

    def places(self, field: Field, done: Sequence[Done]) -> list[list[int]]:
        """Entrants best first, level ones together; with `by_points`, once somebody has left."""


def average(entrants: Sequence[int], done: Sequence[Done]) -> list[list[int]]:
    """Entrants by points a match, then exact bids a match, level ones together in the order given.

    So a bye, a smaller table or a void group gives nobody anything. Who has not played comes last.
    """
    points, exact, matches = Counter[int](), Counter[int](), Counter[int]()
    for table in (table for stage in done for table in stage.tables):
        points.update(table.points)
        exact.update(table.exact_bids)
        matches.update(dict.fromkeys(table.points, table.matches))
    levels: dict[tuple[Fraction, Fraction] | None, list[int]] = {}
    for each in entrants:
        played = matches[each]
        key = (Fraction(points[each], played), Fraction(exact[each], played)) if played else None
        levels.setdefault(key, []).append(each)
    unplayed = levels.pop(None, None)
    best = [levels[key] for key in sorted((key for key in levels if key is not None), reverse=True)]
    return best + ([unplayed] if unplayed else [])


def repeated(field: Field, done: Sequence[Done]) -> Counter[tuple[int, int]]:
    """How often pairs have met; those of one owner as if they had done so very often, if kept apart."""
    before = met(tuple(set(table.entrants)) for stage in done for table in _once(stage.tables))
    if field.apart:
        owned = combinations(sorted(field.owners), 2)
        before.update({pair: OWNER for pair in owned if field.owners[pair[0]] == field.owners[pair[1]]})
    return before


def seated(
    field: Field, tables: Sequence[Order], done: Sequence[Done], dice: Dice, *, deals: int | None = None
) -> tuple[Order, ...]:
    """Every table `deals` times (by default the field's), each time in a fresh order of seats.

    Rotations of a duplicate deal seat everybody once in each seat. Without them those get a seat who had it
    least, over all stages.
    """
    orders = [tuple(dice.shuffled(table)) for _ in range(deals or field.deals) for table in tables]
    if field.duplicate:
        return tuple(orders)
    had = Counter((who, seat) for stage in done for table in stage.tables
                  for seat, who in enumerate(table.entrants))  # fmt: skip
    return tuple(balanced(orders, had))


def portions(blocks: Iterable[Sequence[Order]], matches: int) -> list[list[Order]]:
    """Whole blocks together until there are enough for one stage; `matches`: of one deal group."""
    cut: list[list[Order]] = [[]]
    for block in blocks:
        if len(cut[-1]) * matches >= PORTION:
            cut.append([])
        cut[-1] += block
    return cut


def _once(tables: Sequence[Table]) -> list[Table]:
    """Tables that played several deals, once."""
    return list({frozenset(table.entrants): table for table in tables}.values())
