"""Standings and crosstable: folds over a tournament's finished matches, given in any order.

Pure. Only whole deal groups count: half of a duplicate group would favour whoever had its good seats.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations


@dataclass(frozen=True, slots=True)
class Result:
    """A finished match of deal group `group`; the other columns in seat order.

    Entrants are numbers from 0; `counted` are points that count here, `places` 1 for the best, ties share.
    """

    group: int
    entrants: tuple[int, ...]
    counted: tuple[int, ...]
    exact_bids: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[int, ...]
    out: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """An entrant's line: sums over its matches; `average` in points a match, 0 without any.

    `wins` are first places, shared ones too; `places` how often it was first, second and so on; `outs` the
    matches it did not stay in.
    """

    place: int
    entrant: int
    points: int
    average: float
    wins: int
    exact_bids: int
    faults: int
    outs: int
    matches: int
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """Entrants a < b over their games together: the mean of a's points less b's, None without games.

    The better place wins a game; who shares it ties.
    """

    a: int
    b: int
    games: int
    average_difference: float | None
    wins_a: int
    wins_b: int
    ties: int


def standings(entrants: int, results: Iterable[Result], group_size: int) -> list[Standing]:
    """All entrants by points, then exact bids, then head-to-head; who is still level shares a place.

    Head-to-head is the mean difference of points over games together. Among more than two it counts only if
    it orders them clearly, all pairs agreeing on who is ahead of whom and who is level; else they share a
    place, by number. Groups of fewer than `group_size` matches are left out; ValueError for one of more.
    """
    whole = whole_groups(results, group_size)
    totals = _totals(entrants, whole)
    level: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for entrant, total in enumerate(totals):
        level[total.points, total.exact_bids].append(entrant)
    lines: list[Standing] = []
    for key in sorted(level, reverse=True):
        for tied in _head_to_head(level[key], whole):
            place = len(lines) + 1
            lines += [totals[entrant].standing(place, entrant) for entrant in tied]
    return lines


def crosstable(entrants: int, results: Iterable[Result], group_size: int) -> list[Pair]:
    """Every pair of entrants in the order of their numbers, over whole groups; ValueError as above."""
    meetings: defaultdict[tuple[int, int], _Meeting] = defaultdict(_Meeting)
    for result in whole_groups(results, group_size):
        seats = sorted(zip(result.entrants, result.counted, result.places, strict=True))
        for (a, points_a, place_a), (b, points_b, place_b) in combinations(seats, 2):
            meetings[a, b].add(points_a - points_b, place_b - place_a)
    return [meetings[a, b].pair(a, b) for a, b in combinations(range(entrants), 2)]


def whole_groups(results: Iterable[Result], group_size: int) -> list[Result]:
    """The matches of groups that are played to the end; ValueError for a group of more matches."""
    groups: defaultdict[int, list[Result]] = defaultdict(list)
    for result in results:
        groups[result.group].append(result)
    whole: list[Result] = []
    for number, group in groups.items():
        size = min(group_size, len(group[0].entrants))  # a smaller table has fewer seats to rotate
        if len(group) > size:
            raise ValueError(f"group {number} has {len(group)} matches, not {size}")
        whole += group if len(group) == size else []
    return whole


def _head_to_head(tied: list[int], results: Sequence[Result]) -> list[list[int]]:
    """The tied, the best first, those together who stay level, if pair by pair that is a clear order."""
    if len(tied) == 1:
        return [tied]
    ahead = _differences(frozenset(tied), results)
    net = {a: sum(_sign(ahead[a, b]) for b in tied) for a in tied}
    if any(_sign(ahead[a, b]) != _sign(net[a] - net[b]) for a, b in combinations(tied, 2)):
        return [tied]
    return [[a for a in tied if net[a] == score] for score in sorted(set(net.values()), reverse=True)]


def _differences(tied: frozenset[int], results: Sequence[Result]) -> defaultdict[tuple[int, int], int]:
    """Sum of a's points less b's over games together; as good as the mean to see who is ahead."""
    sums: defaultdict[tuple[int, int], int] = defaultdict(int)
    for result in results:
        seats = [seat for seat in zip(result.entrants, result.counted, strict=True) if seat[0] in tied]
        for (a, points_a), (b, points_b) in combinations(seats, 2):
            sums[a, b] += points_a - points_b
            sums[b, a] += points_b - points_a
    return sums


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


@dataclass(slots=True)
class _Total:
    """An entrant's sums while they are taken."""

    points: int = 0
    wins: int = 0
    exact_bids: int = 0
    faults: int = 0
    outs: int = 0
    matches: int = 0
    places: list[int] = field(default_factory=list)

    def placed(self, place: int) -> None:
        self.places += [0] * (place - len(self.places))
        self.places[place - 1] += 1

    def standing(self, place: int, entrant: int) -> Standing:
        return Standing(
            place=place,
            entrant=entrant,
            points=self.points,
            average=self.points / self.matches if self.matches else 0.0,
            wins=self.wins,
            exact_bids=self.exact_bids,
            faults=self.faults,
            outs=self.outs,
            matches=self.matches,
            places=tuple(self.places),
        )


def _totals(entrants: int, results: Sequence[Result]) -> list[_Total]:
    totals = [_Total() for _ in range(entrants)]
    for result in results:
        for seat, entrant in enumerate(result.entrants):
            total = totals[entrant]
            total.points += result.counted[seat]
            total.wins += result.places[seat] == 1
            total.exact_bids += result.exact_bids[seat]
            total.faults += result.faults[seat]
            total.outs += result.out[seat]
            total.matches += 1
            total.placed(result.places[seat])
    return totals


@dataclass(slots=True)
class _Meeting:
    """What two entrants did to each other while it is counted."""

    games: int = 0
    difference: int = 0
    wins_a: int = 0
    wins_b: int = 0

    def add(self, difference: int, places: int) -> None:
        self.games += 1
        self.difference += difference
        self.wins_a += places > 0
        self.wins_b += places < 0

    def pair(self, a: int, b: int) -> Pair:
        average = self.difference / self.games if self.games else None
        ties = self.games - self.wins_a - self.wins_b
        return Pair(a, b, self.games, average, self.wins_a, self.wins_b, ties)
