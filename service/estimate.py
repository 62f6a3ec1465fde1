"""What a model says of players: ratings, how sure they are, who is better than whom. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import erf, sqrt

import numpy as np
from numpy.typing import NDArray

from service.tally import Floats, Ints, Player, Tally

Z = 1.96  # 95 % of a normal distribution lie within this many standard errors
FEW_GROUPS = 10  # with fewer a rating is provisional


@dataclass(frozen=True, slots=True)
class Rated:
    """A player's line in a ranking; ratings to 0.01, probability to 0.0001.

    `low` to `high` is the 95 % interval about the mean of all players, `margin` half of it, unrounded.
    `half_width` doubts that mean of 1500 too, of which no game tells: never below 392/sqrt(players) Elo.
    `rank`: equal ratings share one. `rank_range`: from the first to the last it may truly be.
    `p_better_next`: P(better than the next that has a rank). All three are None, and the others are counted
    without the player, while it is provisional or unranked. A model without intervals leaves None.
    """

    player: Player
    rating: float
    low: float | None
    high: float | None
    games: int
    groups: int
    forfeits: int
    rank: int | None
    rank_range: tuple[int, int] | None
    provisional: bool
    p_better_next: float | None
    exact: float
    half_width: float | None
    margin: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Player a against b, unrounded; `games` together and a's share of their points, if any.

    A model without intervals leaves `se` and what follows from it None.
    """

    a: Player
    b: Player
    difference: float
    se: float | None
    low: float | None
    high: float | None
    p_better: float | None
    games: int
    score: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Everything estimated from n players' games; arrays follow `players`, which are sorted.

    `ratings` (n,), `covariance` (n, n) or None, `games`, `groups` and `forfeits` (n,) counts, `half_points`
    (n, n): 2 for a win of the row over the column, 1 for a tie. `wide`: a wider margin is provisional.
    `told`: what else the model tells, by name.
    """

    players: tuple[Player, ...]
    ratings: Floats
    covariance: Floats | None
    games: Ints
    groups: Ints
    forfeits: Ints
    half_points: Ints
    wide: float
    told: Mapping[str, float]

    @classmethod
    def of(
        cls,
        tally: Tally,
        ratings: Floats,
        covariance: Floats | None,
        *,
        wide: float,
        told: Mapping[str, float],
    ) -> "Estimate":
        """Ratings beside what was counted."""
        seated = {name: tally.seated(counted) for name, counted in COUNTED.items()}
        return cls(tally.players, ratings, covariance, half_points=tally.half_points(), wide=wide, told=told,
                   **seated)  # fmt: skip

    def rated(self, unranked: Collection[Player] = ()) -> list[Rated]:
        """All players by rating to 0.01, then name; `unranked` players (say, retired) take no rank."""
        shown = np.round(self.ratings, 2)
        order = np.lexsort([np.arange(len(shown)), -shown])
        margin, half = self.margins(), self._half_widths()
        provisional = self._provisional(margin)
        ranked = [i for i in order if not provisional[i] and self.players[i] not in unranked]
        ranges, following = self._ranges(ranked), dict(pairwise(ranked))
        places = 1 + len(ranked) - np.searchsorted(np.sort(shown[ranked]), shown, side="right")
        return [
            Rated(
                player=self.players[i],
                rating=float(shown[i]),
                low=_end(self.ratings, margin, i, -1),
                high=_end(self.ratings, margin, i, 1),
                games=int(self.games[i]),
                groups=int(self.groups[i]),
                forfeits=int(self.forfeits[i]),
                rank=int(places[i]) if i in ranges else None,
                rank_range=ranges.get(i) if self.covariance is not None else None,
                provisional=bool(provisional[i]),
                p_better_next=_rounded(self._better(i, following[i]) if i in following else None),
                exact=float(self.ratings[i]),
                half_width=None if half is None else float(half[i]),
                margin=None if margin is None else float(margin[i]),
            )
            for i in order
        ]

    def compare(self, a: Player, b: Player) -> Comparison:
        """The difference of two players; ValueError if they are one, KeyError for a player without games."""
        if a == b:
            raise ValueError(f"{a!r} cannot be compared with itself")
        place = {player: i for i, player in enumerate(self.players)}
        i, j = place[a], place[b]
        difference, se = float(self.ratings[i] - self.ratings[j]), self._se(i, j)
        won, lost = int(self.half_points[i, j]), int(self.half_points[j, i])
        return Comparison(
            a=a,
            b=b,
            difference=difference,
            se=se,
            low=None if se is None else difference - Z * se,
            high=None if se is None else difference + Z * se,
            p_better=self._better(i, j),
            games=(won + lost) // 2,
            score=won / (won + lost) if won + lost else None,
        )

    def margins(self) -> Floats | None:
        """(n,): half of the 95 % interval of each rating about the mean of all."""
        if self.covariance is None:
            return None
        shared = self.covariance.mean(axis=0) if len(self.players) else np.zeros(0)
        centred = np.diag(self.covariance) - 2 * shared + (shared.mean() if len(shared) else 0)
        return np.asarray(Z * np.sqrt(np.maximum(centred, 0)))

    def margins_from(self, anchor: Player) -> Floats | None:
        """(n,): half of the 95 % interval of each rating less the anchor's; KeyError if it has no games."""
        if anchor not in self.players:
            raise KeyError(anchor)
        if self.covariance is None:
            return None
        i, variance = self.players.index(anchor), np.diag(self.covariance)
        apart = variance + variance[i] - 2 * self.covariance[i]
        return np.asarray(Z * np.sqrt(np.maximum(apart, 0)))

    def _half_widths(self) -> Floats | None:
        return (
            None
            if self.covariance is None
            else np.asarray(Z * np.sqrt(np.maximum(np.diag(self.covariance), 0)))
        )

    def _se(self, i: int, j: int) -> float | None:
        if self.covariance is None:
            return None
        return sqrt(self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j])

    def _better(self, i: int, j: int) -> float | None:
        if (se := self._se(i, j)) is None:
            return None
        return (1 + erf((self.ratings[i] - self.ratings[j]) / max(se, 1e-9) / sqrt(2))) / 2

    def _provisional(self, margin: Floats | None) -> NDArray[np.bool_]:
        """(n,): too few groups, a pool that is not settled as a whole, or a wide margin from few games.

        Not by each margin alone: a middling player's shrinks first, an undefeated one's last, and so the
        best would be left out and a lesser one be called the first.
        """
        enough = self.groups >= FEW_GROUPS
        if margin is None:
            return ~enough
        if not enough.any() or np.median(margin[enough]) > self.wide:
            return np.ones(len(margin), dtype=np.bool_)
        newcomer = self.games < np.median(self.games[enough]) / 2
        return ~enough | ((margin > self.wide) & newcomer)

    def _ranges(self, ranked: Sequence[int]) -> dict[int, tuple[int, int]]:
        """First and last rank each may have among the ranked, going by the intervals of differences."""
        if self.covariance is None:
            return dict.fromkeys(ranked, (0, 0))
        rating, variance = self.ratings[ranked], np.diag(self.covariance)[ranked]
        ahead = rating - rating[:, None]
        apart = variance + variance[:, None] - 2 * self.covariance[np.ix_(ranked, ranked)]
        wide = Z * np.sqrt(np.maximum(apart, 0))
        first, last = 1 + (ahead > wide).sum(axis=1), len(ranked) - (ahead < -wide).sum(axis=1)
        return {i: (int(low), int(high)) for i, low, high in zip(ranked, first, last, strict=True)}


COUNTED = {"games": "matches", "groups": "groups", "forfeits": "out"}  # an estimate's name: a tally's


def _end(ratings: Floats, margin: Floats | None, i: int, side: int) -> float | None:
    return None if margin is None else round(float(ratings[i] + side * margin[i]), 2)


def _rounded(probability: float | None) -> float | None:
    return None if probability is None else round(probability, 4)
