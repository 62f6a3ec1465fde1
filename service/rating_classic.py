"""Elo as players know it: start at 1500, and after each round take or give points. Pure.

For people who want increments. It has no intervals, and the newest rounds weigh most. Replayed from the first
round in a fixed order, never patched: the same results give the same numbers whatever finished first.
Tournaments that are over never change, so what came of the first of them may be remembered.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

import numpy as np

from service.estimate import Estimate
from service.tally import Game, Player, Tally

START, K = 1500.0, 32.0
NEAR, FAR = 32, 64


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


@dataclass(slots=True)
class Memory:
    """Ratings after the first so many tournaments of a list: who asks again has only further ones replayed.

    Of all but the latest `NEAR` lists every `FAR`th is remembered, so one that comes in between costs little.
    """

    listed: list[str] = field(default_factory=list)
    after: dict[int, Mapping[Player, float]] = field(default_factory=dict)

    def replay(
        self, listed: Sequence[str], rounds: Callable[[str], Iterable[Sequence[Game]]]
    ) -> Mapping[Player, float]:
        """As `replay` of the rounds of all tournaments in their order; a tournament's never change."""
        pairs = enumerate(zip(self.listed, listed, strict=False))
        same = next((i for i, (a, b) in pairs if a != b), min(len(self.listed), len(listed)))
        start = max((n for n in self.after if n <= same), default=0)
        ratings: Mapping[Player, float] = self.after.get(start, {})
        kept = {n: known for n, known in self.after.items() if n <= start}
        for n in range(start, len(listed)):
            ratings = kept[n + 1] = replay(rounds(listed[n]), ratings)
        few = {n: each for n, each in kept.items() if n > len(listed) - NEAR or n % FAR == 0}
        self.listed, self.after = list(listed), few
        return ratings


def fit(tally: Tally, ratings: Mapping[Player, float]) -> Estimate:
    """The ratings after all rounds, beside what was counted of the same games."""
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
