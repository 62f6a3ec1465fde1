"""Games as arrays in an order of their own: points taken off each other, and scatter between deal groups.

Pure. Floats add up differently in another order, so nothing here may depend on how the games came: points are
whole numbers, games are sorted within their group by content, and groups by their residuals, never by name.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Player = int | str
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CHUNK = 1 << 22  # products summed at a time


@dataclass(frozen=True, slots=True)
class Game:
    """One match: who played (all different), where each came in (1 best, ties equal), whose deal it was."""

    group: Hashable
    players: tuple[Player, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """All games at tables of k: `players` (numbers, ascending) and `ranks` (games, k), `groups` (games,)."""

    k: int
    players: Ints
    ranks: Ints
    groups: Ints

    def half_points(self, n: int) -> Ints:
        """(n, n): what the row took off the column, 2 for a game won, 1 for a tie."""
        total = np.zeros(n * n, dtype=np.int64)
        for i, j, half in self._pairs():
            a, b = self.players[:, i], self.players[:, j]
            total += np.bincount(a * n + b, half, n * n).astype(np.int64)
            total += np.bincount(b * n + a, 2 - half, n * n).astype(np.int64)
        return total.reshape(n, n)

    def residuals(self, expected: Floats) -> Floats:
        """(games, k): 2/k times the points each player took, less those `expected` (n, n) of it."""
        excess = np.zeros(self.players.shape)
        for i, j, half in self._pairs():
            more = half / 2 - expected[self.players[:, i], self.players[:, j]]
            excess[:, i] += more
            excess[:, j] -= more
        return excess * (2 / self.k)

    def _pairs(self) -> Iterator[tuple[int, int, Ints]]:
        for i, j in combinations(range(self.k), 2):
            yield i, j, 1 + np.sign(self.ranks[:, j] - self.ranks[:, i])


def read(games: Iterable[Game]) -> tuple[tuple[Player, ...], list[Batch]]:
    """The players, sorted, numbers before names, and the games by table size; ValueError for a wrong game."""
    names: list[Player] = []
    ranks: list[int] = []
    groups: list[Hashable] = []
    sizes: list[int] = []
    for game in games:
        if not 2 <= len(game.players) == len(game.ranks):
            raise ValueError(f"a game needs two players or more and a rank for each: {game}")
        names += game.players
        ranks += game.ranks
        groups.append(game.group)
        sizes.append(len(game.players))
    players = tuple(sorted(set(names), key=lambda player: (isinstance(player, str), player)))
    ks, ends = np.array(sizes, dtype=np.int64), np.cumsum(sizes)
    who, places = _numbers(names, players), np.array(ranks, dtype=np.int64)
    deal = _numbers(groups, dict.fromkeys(groups))
    return players, [_batch(k, ends[ks == k] - k, who, places, deal[ks == k]) for k in sorted(set(sizes))]


def _numbers(things: Sequence[Hashable], order: Iterable[Hashable]) -> Ints:
    number = {thing: i for i, thing in enumerate(order)}
    return np.fromiter(map(number.__getitem__, things), np.int64, len(things))


def _batch(k: int, starts: Ints, who: Ints, places: Ints, deals: Ints) -> Batch:
    cells = starts[:, None] + np.arange(k)
    order = np.argsort(who[cells], axis=1)
    players, ranks = (np.take_along_axis(flat[cells], order, axis=1) for flat in (who, places))
    if (players[:, 1:] == players[:, :-1]).any():
        raise ValueError("a player sits twice in one game")
    rows = np.lexsort([*ranks.T, *players.T, deals])
    return Batch(k, players[rows], ranks[rows], deals[rows])


def scatter(tables: Sequence[Batch], expected: Floats) -> tuple[Floats, Ints, int]:
    """Sum of u u' (n, n) over the deal groups, u = a group's residuals; groups a player (n,), and in all."""
    n = len(expected)
    groups = np.concatenate([np.repeat(table.groups, table.k) for table in tables])
    players = np.concatenate([table.players.ravel() for table in tables])
    excess = np.concatenate([table.residuals(expected).ravel() for table in tables])
    keys = groups * n + players
    rows = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[rows], prepend=-1))
    groups, players = groups[rows][starts], players[rows][starts]
    sums = np.add.reduceat(excess[rows], starts)
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    widths = np.diff(firsts, append=len(groups))
    total = np.zeros(n * n)
    for width in np.unique(widths):
        cells = firsts[widths == width][:, None] + np.arange(width)
        total += _products(players[cells], sums[cells], n)
    return total.reshape(n, n), np.bincount(players, minlength=n), len(firsts)


def _products(players: Ints, sums: Floats, n: int) -> Floats:
    """(n * n): u u' summed over groups of the same number of players, one a row."""
    rows = np.lexsort([*sums.T, *players.T])
    total = np.zeros(n * n)
    for part in np.array_split(rows, -(-sums.size * players.shape[1] // CHUNK)):
        a, u = players[part], sums[part]
        pairs = a[:, :, None] * n + a[:, None, :]
        total += np.bincount(pairs.ravel(), (u[:, :, None] * u[:, None, :]).ravel(), n * n)
    return total
