"""What is kept of games: whole numbers a table that add up, in any order, to all that a rating needs.

Pure. The matches that share a deal are a group: one table of players, whose scatter between groups says how
sure a rating is. Let x be what a player took in a group of m matches beyond nothing (half-points off the
others, or points above the table's mean). A model that expects f a match leaves the residual u = x - m f, and
the sum of u u' over groups is made of sums of x x', m x and m m alone, whatever f turns out to be. So the
ledger's 1,000,000 matches become a row of `width` numbers for each table that ever sat together.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

Player = int | str
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Game:
    """One match: who played (all different), where each came in (1 best, ties equal), whose deal it was.

    `group` is anything that can be a key. `points` made, and who was `out` by a forfeit; left out, nobody
    made any or was.
    """

    group: Any
    players: tuple[Player, ...]
    ranks: tuple[int, ...]
    points: tuple[int, ...] = ()
    out: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Sums over the groups of each table: `total` of x and `weighted` of m x (rows, k), `products` of x x'.

    The products are (rows, k (k + 1) / 2), in the order of `squares`.
    """

    total: Ints
    weighted: Ints
    products: Ints


@dataclass(frozen=True, eq=False)
class Tables:
    """All tables of k: `seats` (rows, k) numbers of players, ascending; `sums` (rows, width(k)).

    A row of sums: groups, matches, sum of m m; half-points of each pair, the lower over the higher, 2 for a
    win; forfeits; moments of half-points without their total; moments of points above the mean, times k.
    """

    k: int
    seats: Ints
    sums: Ints

    @cached_property
    def _parts(self) -> list[Ints]:
        return np.split(self.sums, np.cumsum(_parts(self.k))[:-1], axis=1)

    @property
    def groups(self) -> Ints:
        """(rows,) deals."""
        return self.sums[:, 0]

    @property
    def matches(self) -> Ints:
        """(rows,)."""
        return self.sums[:, 1]

    @property
    def squares(self) -> Ints:
        """(rows,) sum over the groups of their matches squared."""
        return self.sums[:, 2]

    @property
    def halves(self) -> Ints:
        """(rows, k (k - 1) / 2) half-points of the lower player over the higher, pairs as in `pairs`."""
        return self._parts[1]

    @property
    def out(self) -> Ints:
        """(rows, k) forfeits."""
        return self._parts[2]

    @property
    def half(self) -> Moments:
        """Moments of half-points."""
        return Moments(taken(self.k, self.halves, self.matches), self._parts[3], self._parts[4])

    @property
    def points(self) -> Moments:
        """Moments of k times the points above the table's mean."""
        return Moments(self._parts[5], self._parts[6], self._parts[7])


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Everything counted: n sorted `players`, numbers before names, and the tables of each size."""

    players: tuple[Player, ...]
    tables: tuple[Tables, ...]

    def seated(self, values: str) -> Ints:
        """(n,): a number a table, such as its `matches`, summed for each player."""
        total = np.zeros(len(self.players), dtype=np.int64)
        for table in self.tables:
            each = np.broadcast_to(getattr(table, values).reshape(len(table.seats), -1), table.seats.shape)
            total += summed(table.seats, each, len(total))
        return total

    def half_points(self, k: int | None = None) -> Ints:
        """(n, n): what the row took off the column, at tables of k or at all."""
        n = len(self.players)
        total = np.zeros(n * n, dtype=np.int64)
        for table in self.tables:
            if k in (None, table.k):
                for column, (i, j) in enumerate(pairs(table.k)):
                    a, b, half = table.seats[:, i], table.seats[:, j], table.halves[:, column]
                    total += summed(a * n + b, half, n * n) + summed(
                        b * n + a, 2 * table.matches - half, n * n
                    )
        return total.reshape(n, n)

    @property
    def groups(self) -> int:
        """Deals in all."""
        return sum(int(table.groups.sum()) for table in self.tables)

    @property
    def matches(self) -> int:
        """Matches in all."""
        return sum(int(table.matches.sum()) for table in self.tables)


def pairs(k: int) -> list[tuple[int, int]]:
    """The pairs at a table of k, in the order in which they are kept."""
    return list(combinations(range(k), 2))


def squares(k: int) -> list[tuple[int, int]]:
    """The pairs at a table of k, each with itself too, in the order in which products are kept."""
    return list(combinations_with_replacement(range(k), 2))


def width(k: int) -> int:
    """How many numbers are kept of a table of k."""
    return sum(_parts(k))


def _parts(k: int) -> tuple[int, ...]:
    products = k * (k + 1) // 2
    return 3, k * (k - 1) // 2, k, k, products, k, k, products


def taken(k: int, halves: Ints, matches: Ints) -> Ints:
    """(rows, k): each player's half-points, out of those of the pairs."""
    total = np.zeros((len(halves), k), dtype=np.int64)
    for column, (i, j) in enumerate(pairs(k)):
        total[:, i] += halves[:, column]
        total[:, j] += 2 * matches - halves[:, column]
    return total


def summed(keys: Ints, values: Ints, size: int) -> Ints:
    """(size,): whole values summed by key; exact, as floats hold whole numbers up to 2**53."""
    return np.bincount(keys.ravel(), values.ravel(), size).astype(np.int64)


def count(games: Iterable[Game]) -> Tally:
    """The games, counted; ValueError for one that is none, or for a group of more than one table."""
    listed = list(games)
    for game in listed:
        k = len(game.players)
        if not 2 <= k == len(game.ranks) or len(game.points) not in (0, k) or len(game.out) not in (0, k):
            raise ValueError(f"a game needs two players or more and a rank for each: {game}")
    numbers = {p: i for i, p in enumerate(ordered({p for game in listed for p in game.players}))}
    deals = {group: i for i, group in enumerate(dict.fromkeys(game.group for game in listed))}
    sizes = [len(game.players) for game in listed]
    of_size = {k: [game for game, size in zip(listed, sizes, strict=True) if size == k] for k in set(sizes)}
    if sum(len({game.group for game in some}) for some in of_size.values()) > len(deals):
        raise ValueError("a group has one table")
    tables = [_tables_of(k, of_size[k], numbers, deals) for k in sorted(of_size)]
    return Tally(tuple(numbers), tuple(tables))


def ordered(players: Iterable[Player]) -> list[Player]:
    """Players in the order of a tally: numbers before names."""
    return sorted(players, key=lambda player: (isinstance(player, str), player))


def _tables_of(
    k: int, games: Sequence[Game], numbers: dict[Player, int], deals: dict[Hashable, int]
) -> Tables:
    none = (0,) * k
    seats = _flat((numbers[player] for game in games for player in game.players), k)
    return tables(
        seats,
        _flat((rank for game in games for rank in game.ranks), k),
        np.fromiter((deals[game.group] for game in games), np.int64, len(games)),
        points=_flat((each for game in games for each in game.points or none), k),
        out=_flat((each for game in games for each in game.out or none), k),
        players=len(numbers),
    )


def _flat(values: Iterator[int], k: int) -> Ints:
    return np.fromiter(values, np.int64).reshape(-1, k)


def tables(
    seats: Ints,
    ranks: Ints,
    groups: Ints,
    *,
    points: Ints | None = None,
    out: Ints | None = None,
    players: int,
) -> Tables:
    """Games at tables of k, one a row, `groups` (games,) their deals, counted. ValueError as above."""
    k = seats.shape[1]
    none = np.zeros_like(seats)
    order, starts = _runs(groups)
    turned = np.argsort(seats[order], axis=1)
    who, where, made, gone = (
        np.take_along_axis(column[order], turned, axis=1)
        for column in (seats, ranks, none if points is None else points, none if out is None else out)
    )
    if (who[:, 1:] == who[:, :-1]).any():
        raise ValueError("a player sits twice in one game")
    lengths = np.diff(starts, append=len(who))
    if (who != np.repeat(who[starts], lengths, axis=0)).any():
        raise ValueError("a group has one table")
    halves = _stacked(np.add.reduceat(1 + np.sign(where[:, j] - where[:, i]), starts) for i, j in pairs(k))
    above = np.add.reduceat(k * made - made.sum(axis=1, keepdims=True), starts)
    gone = np.add.reduceat(gone, starts)
    return _by_table(who[starts], _columns(k, lengths, halves, gone, above), players)


def _columns(k: int, matches: Ints, halves: Ints, out: Ints, above: Ints) -> Iterator[Ints]:
    """A group's numbers, column by column, as `Tables` keeps their sums."""
    half = taken(k, halves, matches)
    yield np.ones_like(matches)
    yield matches
    yield matches * matches
    yield from halves.T
    yield from out.T
    yield from (matches[:, None] * half).T
    yield from (half[:, i] * half[:, j] for i, j in squares(k))
    yield from above.T
    yield from (matches[:, None] * above).T
    yield from (above[:, i] * above[:, j] for i, j in squares(k))


def _by_table(seats: Ints, columns: Iterable[Ints], players: int) -> Tables:
    """Groups' columns summed for each table, tables in the order of their players."""
    key = np.zeros(len(seats), dtype=np.int64)
    for column in seats.T:
        key = key * players + column
        if players ** (seats.shape[1] + 1) >= 2**62:  # too long to be one number: number what is there
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
    order, starts = _runs(key)
    sums = _stacked(np.add.reduceat(column[order], starts) for column in columns)
    return Tables(seats.shape[1], np.asfortranarray(seats[order[starts]]), sums)


def merged(players: int, parts: Sequence[Tables]) -> Tables:
    """Tables of one size counted apart, added up."""
    seats, sums = (np.concatenate([getattr(part, name) for part in parts]) for name in ("seats", "sums"))
    return _by_table(seats, sums.T, players)


def _runs(keys: Ints) -> tuple[Ints, Ints]:
    """The order that sorts the keys, and where each run of equal ones starts in it."""
    order = np.argsort(keys, kind="stable")
    return order, np.flatnonzero(np.diff(keys[order], prepend=keys.min() - 1 if len(keys) else 0))


def _stacked(columns: Iterable[Ints]) -> Ints:
    """Columns beside each other, each in one piece of memory."""
    return np.stack(list(columns)).T


def scatter(table: Tables, moments: Moments, expected: Floats, scale: float, n: int) -> Floats:
    """(n * n,): the sum of u u' over all groups, u = scale x - m expected, `expected` (rows, k) a match."""
    total = np.zeros(n * n)
    for column, (i, j) in enumerate(squares(table.k)):
        f, g = expected[:, i], expected[:, j]
        crossed = moments.weighted[:, i] * g + moments.weighted[:, j] * f
        both = scale * (scale * moments.products[:, column] - crossed) + table.squares * f * g
        total += np.bincount(table.seats[:, i] * n + table.seats[:, j], both, n * n)
        if i != j:
            total += np.bincount(table.seats[:, j] * n + table.seats[:, i], both, n * n)
    return total
