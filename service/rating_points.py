"""Ratings in points a match above the average of all: least squares on the points made at each table.

Pure. The most sensitive model: a point more counts, whatever place it gives. Points are taken less the mean
of their table, as are the ratings of those who sat there; the covariance is clustered by deal group.
"""

import numpy as np

from service.estimate import Estimate
from service.tally import Floats, Ints, Tally, scatter

WIDE = 4.5  # points; about 60 Elo among bots that know the game
APART = 1e8  # variance between players whom no chain of games connects: nothing is known of it


def fit(tally: Tally) -> Estimate:
    """Fit all that was counted at once; players sum to 0 wherever games connect them."""
    n = len(tally.players)
    inverse = np.linalg.pinv(_design(tally), rcond=1e-10, hermitian=True) if n else np.zeros((0, 0))
    made = np.zeros(n)
    for table in tally.tables:
        made += np.bincount(table.seats.ravel(), table.points.total.ravel() / table.k, n)
    ratings = inverse @ made
    count = tally.groups
    meat = _scatter(tally, ratings) * (count / max(count - 1, 1))
    covariance = inverse @ meat @ inverse
    covariance = (covariance + covariance.T) / 2 + _islands(tally)
    return Estimate.of(tally, ratings, covariance, wide=WIDE, told={})


def _games(tally: Tally, k: int) -> Ints:
    half = tally.half_points(k)
    return (half + half.T) // 2


def _design(tally: Tally) -> Floats:
    """(n, n): what the squares weigh; each table takes its mean off, so a row sums to 0."""
    n = len(tally.players)
    weights = sum((_games(tally, table.k) / table.k for table in tally.tables), np.zeros((n, n)))
    return np.diag(weights.sum(axis=1)) - weights


def _scatter(tally: Tally, ratings: Floats) -> Floats:
    """(n, n): the sum of u u' over the groups, u = points above the table's mean, less those expected."""
    n = len(ratings)
    total = np.zeros(n * n)
    for table in tally.tables:
        seated = ratings[table.seats]
        above = seated - seated.mean(axis=1, keepdims=True)
        total += scatter(table, table.points, above, 1 / table.k, n)
    return total.reshape(n, n)


def _islands(tally: Tally) -> Floats:
    """(n, n): a huge variance that all of an island share, if there are several: nothing is sure between."""
    half = tally.half_points()
    met, island = (half + half.T) > 0, np.arange(len(half))
    while len(half):
        reached = np.minimum(island, np.where(met, island, len(half)).min(axis=1))
        if (reached == island).all():
            break
        island = reached
    same = island[:, None] == island
    return np.where(same & (not same.all()), APART, 0.0)
