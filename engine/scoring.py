"""Points: of a round, and who stands where when all rounds are over."""

from collections.abc import Sequence
from operator import eq
from typing import TypeVar

from engine.rules import RuleSet
from engine.switches import BidPoints, TieBreak

_T = TypeVar("_T")


def round_points(
    rules: RuleSet,
    worth: BidPoints,
    hand_size: int,
    *,
    bids: Sequence[int],
    taken: Sequence[int],
    stakes: Sequence[int],
) -> list[int]:
    """The points of a round by seat; `worth` is what bids are worth, `stakes` what action cards brought.

    A team bids, takes and scores as one, and each member bears its score.
    """
    sweep = hand_size if rules.sweep_double else 0
    if rules.teams is None:
        return _points(worth, bids, taken, stakes, sweep)
    teams = rules.teams.seats
    together = (_by_team(teams, bids), _by_team(teams, taken), _by_team(teams, stakes))
    return _by_seat(teams, _points(worth, *together, sweep))


def exact_bids(rules: RuleSet, bids: Sequence[int], taken: Sequence[int]) -> list[bool]:
    """Whether each seat (in teams: its team) took exactly what it bid."""
    if rules.teams is None:
        return list(map(eq, bids, taken))
    teams = rules.teams.seats
    return _by_seat(teams, [sum(bids[seat] - taken[seat] for seat in team) == 0 for team in teams])


def _points(
    worth: BidPoints, bids: Sequence[int], taken: Sequence[int], stakes: Sequence[int], sweep: int
) -> list[int]:
    """The points of those who score together, be it one seat or several; `sweep` tricks count twice."""
    exact, zero, missed = worth.exact, worth.zero, worth.missed
    points = [
        tricks + stake + (missed if bid != tricks else exact if bid else zero)
        for bid, tricks, stake in zip(bids, taken, stakes)  # noqa: B905 - the hot core: as long by construction
    ]
    if sweep > 1 and sweep in taken:
        points[taken.index(sweep)] += sweep
    return points


def _by_team(teams: Sequence[Sequence[int]], each: Sequence[int]) -> list[int]:
    """What the seats of each team have together."""
    return [sum(each[seat] for seat in team) for team in teams]


def _by_seat(teams: Sequence[Sequence[int]], each: Sequence[_T]) -> list[_T]:
    """What each team has, at each of its seats."""
    found = {seat: value for team, value in zip(teams, each, strict=True) for seat in team}
    return [found[seat] for seat in range(len(found))]


def places(
    rules: RuleSet, scores: Sequence[int], exact: Sequence[int], out: Sequence[int] = ()
) -> tuple[int, ...]:
    """Places from 1 by total, then the rule set's tie-break; equals share a place.

    Seats in `out` come last in any case, who went out last being the best of them.
    """
    counts = exact if rules.tie_break is TieBreak.EXACT_BIDS else [0] * len(scores)
    ranks = [
        (-1 - len(out) + out.index(seat), 0, 0) if seat in out else (0, scores[seat], counts[seat])
        for seat in range(len(scores))
    ]
    return tuple(1 + sum(other > rank for other in ranks) for rank in ranks)


def counted(scores: Sequence[int], out: Sequence[int]) -> tuple[int, ...]:
    """What standings count: a seat that is out gets at most the lowest score of those who stayed in."""
    stayed = [score for seat, score in enumerate(scores) if seat not in out]
    floor = min(stayed, default=max(scores, default=0))
    return tuple(min(score, floor) if seat in out else score for seat, score in enumerate(scores))
