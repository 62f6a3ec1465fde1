"""Pairs that help each other: do two take more at the same table than their strengths explain?

Pure. Strengths come from the points model (least squares of points above the table's mean). What a pair takes
together beyond it scatters from deal to deal, and from table to table, because styles suit each other more or
less without anybody's intent; both are estimated from all tables and allowed for.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FEWEST = 10  # deals on which a pair must have met
BORROWED = 10  # as many deals' worth of its own scatter a pair is lent from all pairs
NORMAL_MEDIAN = 0.4549364  # of the square of a standard normal


@dataclass(frozen=True, slots=True)
class Pair:
    """What a and b took together beyond their strengths, points a match, and how likely that much is.

    `p`: the probability that any of the pairs reaches so much by chance (Bonferroni; may exceed 1).
    """

    a: int
    b: int
    points: float
    groups: int
    p: float


def helping(groups: Sequence[tuple[Sequence[int], Floats]]) -> list[Pair]:
    """Pairs from the most suspicious on; `groups`: entrants and their points above the table's mean."""
    large = [(entrants, points) for entrants, points in groups if len(entrants) > 2]
    if not large:
        return []
    strengths = _strengths(large)
    sums: defaultdict[tuple[int, int], defaultdict[tuple[int, ...], list[float]]]
    sums = defaultdict(lambda: defaultdict(list))
    for entrants, points in large:
        expected = np.array([strengths[each] for each in entrants])
        beyond = points - (expected - expected.mean())
        table = tuple(sorted(entrants))
        for i, j in combinations(range(len(entrants)), 2):
            a, b = sorted((entrants[i], entrants[j]))
            sums[a, b][table].append(float(beyond[i] + beyond[j]))
    return _judged({pair: list(tables.values()) for pair, tables in sums.items()})


def _strengths(groups: Sequence[tuple[Sequence[int], Floats]]) -> dict[int, float]:
    names = sorted({entrant for entrants, _ in groups for entrant in entrants})
    place = {entrant: i for i, entrant in enumerate(names)}
    curvature, total = np.zeros((len(names), len(names))), np.zeros(len(names))
    for entrants, points in groups:
        here = [place[each] for each in entrants]
        curvature[np.ix_(here, here)] += np.eye(len(here)) - 1 / len(here)
        total[here] += points
    found = np.linalg.lstsq(curvature, total, rcond=1e-9)[0]
    return {entrant: float(found[i]) for entrant, i in place.items()}


def _judged(sums: dict[tuple[int, int], list[list[float]]]) -> list[Pair]:
    """Every pair that met often enough, from its sums by table and deal."""
    inner = {pair: _within(tables) for pair, tables in sums.items()}
    free = sum(degrees for _, degrees in inner.values())
    if not free:
        return []
    noise = sum(squares for squares, _ in inner.values()) / free
    between = _between(sums, noise)
    often = {pair: tables for pair, tables in sums.items() if sum(map(len, tables)) >= FEWEST}
    judged = [_pair(pair, tables, inner[pair], noise, between, len(often)) for pair, tables in often.items()]
    return sorted(judged, key=lambda pair: (pair.p, pair.a, pair.b))


def _within(tables: Sequence[Sequence[float]]) -> tuple[float, int]:
    """Squares about each table's mean, and their degrees of freedom."""
    squares = sum(float(np.var(table)) * len(table) for table in tables)
    return squares, sum(len(table) - 1 for table in tables)


def _between(sums: dict[tuple[int, int], list[list[float]]], noise: float) -> float:
    """Variance between tables: by the median, which a few helping pairs cannot move far."""
    squares = [np.mean(table) ** 2 for tables in sums.values() for table in tables]
    chance = [noise / len(table) for tables in sums.values() for table in tables]
    return max(0.0, float(np.median(squares)) / NORMAL_MEDIAN - float(np.median(chance)))


def _pair(
    pair: tuple[int, int],
    tables: Sequence[Sequence[float]],
    inner: tuple[float, int],
    noise: float,
    between: float,
    pairs: int,
) -> Pair:
    groups = sum(map(len, tables))
    mean = sum(map(sum, tables)) / groups
    own = (inner[0] + BORROWED * noise) / (inner[1] + BORROWED)
    variance = own / groups + between * sum(len(table) ** 2 for table in tables) / groups**2
    z = mean / sqrt(variance) if variance > 0 else 0.0
    return Pair(pair[0], pair[1], mean, groups, pairs * erfc(z / sqrt(2)) / 2)
