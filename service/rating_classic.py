"""Elo as players know it: start at 1500, and after each round take or give points. Pure.

For people who want increments. It has no intervals, and the newest rounds weigh most. Replayed from the first
round in a fixed order, never patched: the same results give the same numbers whatever finished first.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum

import numpy as np

from service.estimate import Estimate
from service.tally import Game, Player, Tally

START, K = 1500.0, 32.0


def replay(
    rounds: Iterable[Sequence[Game]], before: Mapping[Player, float] | None = None
) -> dict[Player, float]:
    """Everybody's rating after the rounds; all changes of a round start from the ratings before it.

    `before`: ratings to start with instead of 1500.
    """
    ratings: defaultdict[Player, float] = defaultdict(lambda: START, before or {})
    for games in rounds:
        changes: defaultdict[Player, list[float]] = defaultdict(list)
        for game in games:
            for player, change in _changes(game, ratings):
                changes[player].append(change)
        for player, each in changes.items():
            ratings[player] += fsum(each)
    return dict(ratings)


def fit(tally: Tally, rounds: Iterable[Sequence[Game]]) -> Estimate:
    """The ratings after the rounds, beside what was counted of the same games."""
    ratings = replay(rounds)
    exact = np.array([ratings[player] for player in tally.players])
    return Estimate.of(tally, exact, None, wide=np.inf, told={})


def _changes(game: Game, ratings: defaultdict[Player, float]) -> Iterable[tuple[Player, float]]:
    """K/(k - 1) times the points each took off the others, less those expected."""
    before = [ratings[player] for player in game.players]
    seats = range(len(before))
    for a in seats:
        surplus = [
            _score(game.ranks[a], game.ranks[b]) - 1 / (1 + 10 ** ((before[b] - before[a]) / 400))
            for b in seats
            if b != a
        ]
        yield game.players[a], K / (len(before) - 1) * fsum(surplus)


def _score(mine: int, other: int) -> float:
    return 1.0 if mine < other else 0.5 if mine == other else 0.0
