"""Ratings: batch Elo over a set of finished matches, with intervals that respect shared deals.

Pure: the numbers depend on which games there are, not on the order or the numbering in which they come.

The model is Bradley and Terry's on every pair at a table (a tie is half a win), with weight 2/k at k seats
and a normal prior of 1500 ± 200, fitted to all games at once: the fixed point of multi-player Elo over the
same games. The covariance is a sandwich clustered by deal group (Liang and Zeger 1986), blended with the
model's own curvature where groups are few.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import erf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from service.tally import Batch, Floats, Game, Ints, Player, read, scatter

__all__ = ["Comparison", "Fit", "Game", "Player", "Rated", "compare", "elo", "fit", "rank"]

MEAN = 1500.0  # of every set of players connected by games
Q = log(10) / 400  # Elo -> log odds
PRIOR = 1 / (Q * 200) ** 2  # precision of a player's log odds before any game
Z = 1.96  # 95 % of a normal distribution lie within this many standard errors
FEW_GROUPS, WIDE = 10, 60.0  # provisional: see `Fit._provisional`; WIDE in Elo


@dataclass(frozen=True, slots=True)
class Rated:
    """A player's line in a ranking; Elo to 0.01, probability to 0.0001.

    The rating is 95 % sure to be from `low` to `high`. `rank`: equal ratings share one; `rank_range`: from
    the first to the last it may truly be. Both are None, and the others are counted without the player, while
    it is provisional or unranked. `p_better_next`: P(better than the next line), None in the last. Unrounded:
    `exact` rating, `half_width` of low..high, and `margin`, the half-width about the mean of all players.
    `half_width` is at least 392/sqrt(players): it doubts that mean of 1500 too, of which games tell nothing.
    So `margin` decides what is provisional.
    """

    player: Player
    rating: float
    low: float
    high: float
    games: int
    groups: int
    rank: int | None
    rank_range: tuple[int, int] | None
    provisional: bool
    p_better_next: float | None
    exact: float
    half_width: float
    margin: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Player a against b, in unrounded Elo; `games` together and a's share of their points, if any."""

    a: Player
    b: Player
    difference: float
    se: float
    low: float
    high: float
    p_better: float
    games: int
    score: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Everything estimated from a set of n players' games; arrays follow `players`, which are sorted.

    `ratings` (n,) in Elo, `covariance` (n, n) in Elo squared, `games` and `groups` (n,) counts, `half_points`
    (n, n): 2 for a win of the row over the column, 1 for a tie. `raw_phi` and `phi`: how much more the groups
    scatter than the model says, as observed and as used.
    """

    players: tuple[Player, ...]
    ratings: Floats
    covariance: Floats
    games: Ints
    groups: Ints
    half_points: Ints
    raw_phi: float
    phi: float

    def rated(self, unranked: Collection[Player] = ()) -> list[Rated]:
        """All players by rating to 0.01, then name; `unranked` players (say, retired) take no rank."""
        half, margin = Z * np.sqrt(np.diag(self.covariance)), Z * np.sqrt(self._about_mean())
        shown = [round(float(rating), 2) for rating in self.ratings]
        order = sorted(range(len(shown)), key=lambda i: (-shown[i], i))
        provisional = self._provisional(margin)
        ranked = [i for i in order if not provisional[i] and self.players[i] not in unranked]
        ranges = self._ranges(ranked)
        return [
            Rated(
                player=self.players[i],
                rating=shown[i],
                low=round(float(self.ratings[i] - half[i]), 2),
                high=round(float(self.ratings[i] + half[i]), 2),
                games=int(self.games[i]),
                groups=int(self.groups[i]),
                rank=1 + sum(shown[j] > shown[i] for j in ranked) if i in ranges else None,
                rank_range=ranges.get(i),
                provisional=bool(provisional[i]),
                p_better_next=None if below is None else round(self._better(i, below), 4),
                exact=float(self.ratings[i]),
                half_width=float(half[i]),
                margin=float(margin[i]),
            )
            for i, below in zip(order, [*order[1:], None], strict=False)
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
            low=difference - Z * se,
            high=difference + Z * se,
            p_better=self._better(i, j),
            games=(won + lost) // 2,
            score=won / (won + lost) if won + lost else None,
        )

    def _se(self, i: int, j: int) -> float:
        return sqrt(self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j])

    def _better(self, i: int, j: int) -> float:
        return (1 + erf((self.ratings[i] - self.ratings[j]) / self._se(i, j) / sqrt(2))) / 2

    def _provisional(self, margin: Floats) -> NDArray[np.bool_]:
        """(n,): too few groups, a pool that is not settled as a whole, or a wide margin from few games.

        Not by each margin alone: a middling player's shrinks first, an undefeated one's last, and so the
        best would be left out and a lesser one be called the first.
        """
        enough = self.groups >= FEW_GROUPS
        if not enough.any() or np.median(margin[enough]) > WIDE:
            return np.ones(len(margin), dtype=np.bool_)
        newcomer = self.games < np.median(self.games[enough]) / 2
        return ~enough | ((margin > WIDE) & newcomer)

    def _about_mean(self) -> Floats:
        """(n,): variance of each rating less the mean of all."""
        shared = self.covariance.sum(axis=0) / max(len(self.players), 1)
        variance: Floats = np.diag(self.covariance) - 2 * shared + shared.sum() / max(len(self.players), 1)
        return variance

    def _ranges(self, ranked: Sequence[int]) -> dict[int, tuple[int, int]]:
        """First and last rank each may have among the ranked, going by the intervals of differences."""
        rating, variance = self.ratings[ranked], np.diag(self.covariance)[ranked]
        ahead = rating - rating[:, None]
        wide = Z * np.sqrt(variance + variance[:, None] - 2 * self.covariance[np.ix_(ranked, ranked)])
        first, last = 1 + (ahead > wide).sum(axis=1), len(ranked) - (ahead < -wide).sum(axis=1)
        return {i: (int(low), int(high)) for i, low, high in zip(ranked, first, last, strict=True)}


def elo(games: Iterable[Game], *, unranked: Collection[Player] = ()) -> list[Rated]:
    """The ranking of all who played, best first; empty without games. ValueError for a game that is none."""
    return fit(games).rated(unranked)


def compare(games: Iterable[Game], a: Player, b: Player) -> Comparison:
    """Is a better than b, by all these games? To ask more than once, keep the `fit`."""
    return fit(games).compare(a, b)


def rank(scores: Sequence[float], exact_bids: Sequence[int]) -> tuple[int, ...]:
    """Ranks of a match, 1 best: the higher score, then more exact bids, else equal ranks (1, 2, 2, 4)."""
    keys = list(zip(scores, exact_bids, strict=True))
    return tuple(1 + sum(other > key for other in keys) for key in keys)


def fit(games: Iterable[Game]) -> Fit:
    """Fit all games at once; ValueError for a game that is none, ArithmeticError if it does not settle."""
    players, tables = read(games)
    n = len(players)
    if not n:
        none, counts = np.zeros((0, 0)), np.zeros((0, 0), dtype=np.int64)
        return Fit(players, none.ravel(), none, counts.ravel(), counts.ravel(), counts, 1.0, 1.0)
    halves = [table.half_points(n) for table in tables]
    won: Floats = sum((half / table.k for half, table in zip(halves, tables, strict=True)), np.zeros((n, n)))
    theta = _maximum(won)
    covariance, groups, raw, phi = _covariance(tables, won, theta)
    count = sum((np.bincount(t.players.ravel(), minlength=n) for t in tables), np.zeros(n, np.int64))
    total = sum(halves, np.zeros((n, n), np.int64))
    return Fit(players, MEAN + theta / Q, covariance / Q**2, count, groups, total, raw, phi)


def _expected(theta: Floats) -> Floats:
    """(n, n): the share of points the row should take off the column."""
    return np.asarray(1 / (1 + np.exp(theta - theta[:, None])))


def _curvature(won: Floats, theta: Floats) -> Floats:
    """Information of the games about theta: the Laplacian of (games x p x (1 - p)), without the prior."""
    p = _expected(theta)
    weights = (won + won.T) * p * p.T
    return np.diag(weights.sum(axis=1)) - weights


def _maximum(won: Floats) -> Floats:
    """Log odds of greatest posterior density, by Newton's method with steps of at most 2."""
    theta, both, prior = np.zeros(len(won)), won + won.T, PRIOR * np.eye(len(won))
    for _ in range(100):
        gradient = (won - both * _expected(theta)).sum(axis=1) - PRIOR * theta
        step = np.linalg.solve(_curvature(won, theta) + prior, gradient)
        largest = np.abs(step).max()
        theta += step * (2 / max(largest, 2))
        if largest < 1e-12:
            return theta
    if largest < 1e-9:  # as near as a float comes with very many games
        return theta
    raise ArithmeticError("the ratings did not settle")


def _covariance(tables: Sequence[Batch], won: Floats, theta: Floats) -> tuple[Floats, Ints, float, float]:
    """Covariance of theta, the groups of each player, and phi as observed and as used (1 for a single group).

    The meat is the groups' own scatter for players of many groups, phi times the curvature for those of few.
    """
    scattered, groups, count = scatter(tables, _expected(theta))
    curvature = _curvature(won, theta)
    clustered = scattered * (count / max(count - 1, 1))
    raw = float(np.trace(clustered) / np.trace(curvature)) if count > 1 else 1.0
    phi = (count * raw + 2) / (count + 2) if count > 1 else 1.0
    trust = groups / (groups + 10) if count > 1 else np.zeros(len(theta))
    own, model = np.sqrt(np.outer(trust, trust)), np.sqrt(np.outer(1 - trust, 1 - trust))
    prior = PRIOR * np.eye(len(theta))
    bread = np.linalg.inv(curvature + prior)
    covariance = bread @ (own * clustered + phi * model * curvature + prior) @ bread
    return (covariance + covariance.T) / 2, groups, raw, phi
