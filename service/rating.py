"""Ratings: batch Elo over a set of finished matches, with intervals that respect shared deals.

Pure: the numbers depend on which games there are, not on the order or the numbering in which they come.

The model is Bradley and Terry's on every pair at a table (a tie is half a win), with weight 2/k at k seats
and a normal prior of 1500 ± 200, fitted to all games at once: the fixed point of multi-player Elo over the
same games. The covariance is a sandwich clustered by deal group (Liang and Zeger 1986), blended with the
model's own curvature where groups are few.
"""

from collections.abc import Iterable, Sequence
from math import log

import numpy as np

from service.estimate import Comparison, Estimate, Rated
from service.tally import Floats, Game, Player, Tally, count, pairs, scatter

__all__ = ["Comparison", "Estimate", "Game", "Player", "Rated", "compare", "elo", "fit", "rank"]

MEAN = 1500.0  # of every set of players connected by games
Q = log(10) / 400  # Elo -> log odds
SIGMA = 200.0  # Elo: how far players are apart before any game
PRIOR = 1 / (Q * SIGMA) ** 2  # precision of a player's log odds before any game
TRUST = 10  # groups at which a player's own scatter counts as much as the model's curvature
WIDE = 60.0  # Elo; a rating whose margin is wider is provisional


def elo(games: Iterable[Game]) -> list[Rated]:
    """The ranking of all who played, best first; empty without games. ValueError for a game that is none."""
    return fit(count(games)).rated()


def compare(games: Iterable[Game], a: Player, b: Player) -> Comparison:
    """Is a better than b, by all these games? To ask more than once, keep the `fit`."""
    return fit(count(games)).compare(a, b)


def rank(scores: Sequence[float], exact_bids: Sequence[int]) -> tuple[int, ...]:
    """Ranks of a match, 1 best: the higher score, then more exact bids, else equal ranks (1, 2, 2, 4)."""
    keys = list(zip(scores, exact_bids, strict=True))
    return tuple(1 + sum(other > key for other in keys) for key in keys)


def fit(tally: Tally) -> Estimate:
    """Fit all that was counted at once; ArithmeticError if it does not settle."""
    won = sum((tally.half_points(t.k) / t.k for t in tally.tables), np.zeros((len(tally.players),) * 2))
    theta = _maximum(won)
    covariance, raw, phi = _covariance(tally, won, theta)
    return Estimate.of(
        tally, MEAN + theta / Q, covariance / Q**2, wide=WIDE, told={"raw_phi": raw, "phi": phi}
    )


def expected(theta: Floats) -> Floats:
    """(n, n): the share of points the row should take off the column."""
    return np.asarray(1 / (1 + np.exp(theta - theta[:, None])))


def _curvature(won: Floats, theta: Floats) -> Floats:
    """Information of the games about theta: the Laplacian of (games x p x (1 - p)), without the prior."""
    p = expected(theta)
    weights = (won + won.T) * p * p.T
    return np.diag(weights.sum(axis=1)) - weights


def _maximum(won: Floats) -> Floats:
    """Log odds of greatest posterior density, by Newton's method with steps of at most 2."""
    theta, both, prior = np.zeros(len(won)), won + won.T, PRIOR * np.eye(len(won))
    largest = 0.0
    for _ in range(100 if len(won) else 0):
        pull = (won - both * expected(theta)).sum(axis=1)
        pull -= pull.mean()  # in truth it is 0; what rounding leaves of it, only the prior would hold back
        step = np.linalg.solve(_curvature(won, theta) + prior, pull - PRIOR * theta)
        largest = np.abs(step).max()
        theta += step * (2 / max(largest, 2))
        if largest < 1e-12:
            return theta
    if largest < 1e-9:  # as near as a float comes with very many games
        return theta
    raise ArithmeticError("the ratings did not settle")


def _covariance(tally: Tally, won: Floats, theta: Floats) -> tuple[Floats, float, float]:
    """Covariance of theta, and phi as observed and as used (1 for a single group).

    Phi is how much more the groups scatter than the model says. The meat is the groups' own scatter for
    players of many groups, phi times the curvature for those of few.
    """
    count, curvature = tally.groups, _curvature(won, theta)
    clustered = _scatter(tally, expected(theta)) * (count / max(count - 1, 1))
    raw = float(np.trace(clustered) / np.trace(curvature)) if count > 1 else 1.0
    phi = (count * raw + 2) / (count + 2) if count > 1 else 1.0
    groups = tally.seated("groups")
    trust = groups / (groups + TRUST) if count > 1 else np.zeros(len(theta))
    own, model = np.sqrt(np.outer(trust, trust)), np.sqrt(np.outer(1 - trust, 1 - trust))
    prior = PRIOR * np.eye(len(theta))
    bread = np.linalg.inv(curvature + prior)
    covariance = bread @ (own * clustered + phi * model * curvature + prior) @ bread
    return (covariance + covariance.T) / 2, raw, phi


def _scatter(tally: Tally, share: Floats) -> Floats:
    """(n, n): the sum of u u' over the groups, u = 2/k times the points taken, less those expected."""
    n = len(share)
    total = np.zeros(n * n)
    for table in tally.tables:
        shares = np.zeros(table.seats.shape)
        for i, j in pairs(table.k):
            p = share[table.seats[:, i], table.seats[:, j]]
            shares[:, i] += p
            shares[:, j] += 1 - p
        total += (2 / table.k) ** 2 * scatter(table, table.half, shares, 0.5, n)
    return total.reshape(n, n)
