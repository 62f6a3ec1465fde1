"""Luck and skill: what the cards gave, and what was made of them, out of whole groups of matches on one deal.

Pure. In such a group the same k hands are played k times while everybody moves on by one seat, so a hand has
a value of its own: what its k holders took with it on average, above the mean of their tables. Who is dealt a
hand is lucky by its value; what one takes beyond the hand's other holders is earned. Points are measured from
the mean of their table. Luck and earnings sum to zero over each match and each group, and as everybody holds
every hand once, everybody's luck cancels over a group: standings owe nothing to it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, sqrt

from service.standings import Result


@dataclass(frozen=True, slots=True)
class Share:
    """One seat's points above the mean of its table, in two parts: the cards' and its own."""

    luck: Fraction
    earned: Fraction


@dataclass(frozen=True, slots=True)
class Dealt:
    """An entrant's points a match over its whole groups: `dealt` + `earned` = its average.

    `dealt` is what the average holder of the same cards took, `earned` what it took beyond that; `swing` is
    how far the cards moved one match of its (root mean square of its luck), all of which cancelled.
    """

    dealt: float
    earned: float
    swing: float


def shares(points: Sequence[Sequence[int]]) -> list[list[Share]]:
    """For every match of a whole group and every seat, exactly; `points` by match, then seat."""
    matches, seats = len(points), len(points[0])
    luck = [Fraction(value, matches * seats) for value in _values(points)]
    return [
        [
            Share(luck[seat], Fraction(seats * taken - sum(row), seats) - luck[seat])
            for seat, taken in enumerate(row)
        ]
        for row in points
    ]


def totals(whole: Iterable[Result]) -> dict[int, Dealt]:
    """Every entrant that played a group, from the matches of whole groups, in any order."""
    groups: defaultdict[int, list[Result]] = defaultdict(list)
    for result in whole:
        groups[result.group].append(result)
    sums: defaultdict[int, _Sum] = defaultdict(_Sum)
    for number in sorted(groups):
        _add(sums, groups[number])
    return {entrant: total.dealt() for entrant, total in sums.items()}


def _values(points: Sequence[Sequence[int]]) -> list[int]:
    """Each hand's value, times matches x seats: whole numbers."""
    hands = [sum(hand) for hand in zip(*points, strict=True)]
    return [len(hands) * hand - sum(hands) for hand in hands]


def _add(sums: "defaultdict[int, _Sum]", group: Sequence[Result]) -> None:
    points = [result.counted for result in group]
    matches, seats = len(points), len(points[0])
    values = _values(points)
    hands = [sum(hand) / matches for hand in zip(*points, strict=True)]
    for result in group:
        for seat, entrant in enumerate(result.entrants):
            total = sums[entrant]
            total.points += result.counted[seat]
            total.par.append(hands[seat])
            total.squares.append((values[seat] / (matches * seats)) ** 2)


class _Sum:
    """An entrant's sums while they are taken; added up at the end, so that the order leaves no trace."""

    def __init__(self) -> None:
        self.points = 0
        self.par: list[float] = []
        self.squares: list[float] = []

    def dealt(self) -> Dealt:
        matches = len(self.par)
        dealt = fsum(self.par) / matches
        return Dealt(dealt, self.points / matches - dealt, sqrt(fsum(self.squares) / matches))
