"""What a schedule will be worth before it is played: who meets whom how often, and how sure ratings will be.

Pure. The precision is that of batch Elo (`service.rating`) for players of equal strength, whose games tell
most of each other; among unequal ones intervals come out a little wider.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from service.schedule import Pairing

Floats = NDArray[np.float64]
Q = log(10) / 400  # Elo -> log odds
PRIOR = 1 / (Q * 200) ** 2
Z = 1.96  # 95 %
CANCELLED = {2: 0.66, 3: 0.75}  # variance with duplicate deals, as a share; 3 lies between what was measured
LARGER = 0.83  # the same at larger tables


@dataclass(frozen=True, slots=True)
class Span:
    """The least and the most of something."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Balance:
    """Games an entrant plays, how often it sits in one seat, and games two entrants play together."""

    games: Span
    seats: Span
    pairs: Span


@dataclass(frozen=True, slots=True)
class Precision:
    """Half-widths of 95 % intervals in Elo: a rating's about the field's mean, a difference's of two."""

    rating: float
    difference: float


class Meetings:
    """Counts a schedule's games while it is read once."""

    def __init__(self, entrants: int, seats: int) -> None:
        self._entrants = entrants
        self._together: NDArray[np.int64] = np.zeros((entrants, entrants), dtype=np.int64)
        self._seats: NDArray[np.int64] = np.zeros((entrants, seats), dtype=np.int64)
        self._size = seats
        self._digest = hashlib.sha256()
        self.matches = self.groups = 0

    def read(self, pairings: Iterable[Pairing]) -> None:
        """Further matches, entrants from 0; a number beyond them is a house bot that fills a seat."""
        for pairing in pairings:
            self.matches += 1
            self.groups += pairing.rotation == 0
            self._digest.update(line(pairing))
            for seat, entrant in enumerate(pairing.entrants):
                if entrant < self._entrants:
                    self._seats[entrant, seat] += 1
            for a, b in combinations(sorted(set(pairing.entrants)), 2):
                if b < self._entrants:
                    self._together[a, b] += 1
                    self._together[b, a] += 1

    @property
    def digest(self) -> str:
        """SHA-256 of all matches read, a line each (see `line`)."""
        return self._digest.hexdigest()

    def balance(self) -> Balance:
        """How even it is."""
        pairs = self._together[np.triu_indices(self._entrants, 1)]
        return Balance(_span(self._seats.sum(axis=1)), _span(self._seats), _span(pairs))

    def precision(self, *, duplicate: bool) -> Precision:
        """How sure ratings will be."""
        return precision(self._together, self._size, duplicate=duplicate)


def line(pairing: Pairing) -> bytes:
    """A match as text: its group, its rotation and its entrants in seat order, by spaces, and a new line."""
    return (" ".join(map(str, (pairing.group, pairing.rotation, *pairing.entrants))) + "\n").encode()


def precision(together: NDArray[np.int64], seats: int, *, duplicate: bool) -> Precision:
    """From games together, (n, n), at tables of so many seats."""
    n = len(together)
    weights = together * (2 / seats) / 4
    curvature = np.diag(weights.sum(axis=1)) - weights
    prior = PRIOR * np.eye(n)
    bread = np.linalg.inv(curvature + prior)
    covariance = bread @ (scatter(seats, duplicate=duplicate) * curvature + prior) @ bread / Q**2
    mean = covariance.mean(axis=0)
    about_mean = np.diag(covariance) - 2 * mean + mean.mean()
    apart = 2 * (np.trace(covariance) / n - (covariance.sum() - np.trace(covariance)) / (n * n - n))
    return Precision(Z * float(np.sqrt(about_mean).mean()), Z * sqrt(float(apart)))


def scatter(seats: int, *, duplicate: bool) -> float:
    """How much results scatter, as a share of what the model takes each pair of a table for.

    Of k ranks in any order the variance is (k + 1)(k - 1)/12: 2(k + 1)/3k of what the model's weight of 2/k
    a pair stands for. Duplicate deals cancel the cards' part of it.
    """
    return 2 * (seats + 1) / (3 * seats) * (CANCELLED.get(seats, LARGER) if duplicate else 1.0)


def evenly(entrants: int, seats: int, matches: int) -> NDArray[np.int64]:
    """Games together if so many matches were spread evenly over all pairs."""
    pairs = entrants * (entrants - 1) // 2
    each = matches * seats * (seats - 1) // 2 // pairs
    return np.full((entrants, entrants), each, dtype=np.int64) - each * np.eye(entrants, dtype=np.int64)


def finish_seconds(mine: int, others: Sequence[int], match_seconds: float, workers: int) -> float:
    """When `mine` matches are played; owners are served in turn, `others` is what each other has waiting."""
    return (mine + sum(min(mine, each) for each in others)) * match_seconds / workers


def _span(counts: NDArray[np.int64]) -> Span:
    return Span(int(counts.min()), int(counts.max()))
