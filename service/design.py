"""The mathematics under a schedule: balanced tables by cyclic development, balanced seats by edge colouring.

Pure: the same arguments give the same tables on any machine, Python and numpy. Every choice comes from
SHAKE-256 and whole numbers: few methods of `random` promise their sequence, and floats may round differently.
"""

import hashlib
import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Order = tuple[int, ...]  # entrants (from 0) in the order of their seats
Node = tuple[int, int]  # (entrant, copy), or (-1, table)
Links = defaultdict[Node, dict[int, Node]]  # node -> seat -> the node at the other end
WORDS = 1024  # 32-bit words taken from SHAKE-256 at a time
COOL = 10  # a place that is worse by e is taken 2 ** (-COOL * e) times as often
MOST_WORSE = 3  # and never from here on
STEPS, LOOK_EVERY = 4_000, 8


class Dice:
    """Unbiased numbers from SHAKE-256(use, ":", seed, page as 8 bytes): 32-bit words, the high byte first."""

    def __init__(self, use: bytes, seed: bytes) -> None:
        self._prefix = use + b":" + seed
        self._page = 0
        self._words: Iterator[int] = iter(())

    def word(self) -> int:
        """The next 32 bits."""
        for word in self._words:
            return word
        page = hashlib.shake_256(self._prefix + self._page.to_bytes(8, "big")).digest(4 * WORDS)
        self._words = iter(struct.unpack(f">{WORDS}I", page))
        self._page += 1
        return next(self._words)

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1; words past the last whole multiple of `limit` are thrown away."""
        end = (1 << 32) // limit * limit
        while (word := self.word()) >= end:
            pass
        return word % limit

    def shuffled(self, things: Iterable[T]) -> list[T]:
        """A new list in random order (Fisher and Yates, from the end)."""
        items = list(things)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


def design(n: int, k: int, meetings: int) -> tuple[tuple[Order, ...], ...]:
    """Blocks of tables of k out of n: each pair meets `meetings` times or more, no two pairs' counts 2 apart.

    Cyclic development of base blocks; or all C(n, k) tables, as often as needed, where those are not more. In
    each block every entrant plays equally often, and equally often in each seat. Only a last block may leave
    seats one apart: among all tables, some turn into themselves before they went round if gcd(n, k) > 1.
    """
    if bases := search(n, k, meetings):
        return developed(bases, n)
    copies = -(-meetings // comb(n - 2, k - 2))
    orbits = [orbit for orbit in _orbits(n, k) for _ in range(copies)]
    short = [order for orbit in orbits if len(orbit) < n for order in orbit]
    return (*(orbit for orbit in orbits if len(orbit) == n), *([tuple(seated(short))] if short else []))


@lru_cache(maxsize=32)
def search(n: int, k: int, meetings: int) -> tuple[Order, ...] | None:
    """The base blocks of a design; None where all C(n, k) tables are not more.

    In large fields (`LARGE`) pair counts may lie two apart if one apart is not found with as few blocks.
    """
    copies = -(-meetings // comb(n - 2, k - 2))
    fewest = -(-meetings * (n - 1) // (k * (k - 1)))
    for size in range(fewest, -(-copies * comb(n, k) // n)):
        level = size * k * (k - 1) // (n - 1)
        if _possible(n, k, size) and (bases := _search(n, k, size, level, level + 1)):
            return tuple(map(tuple, bases))
        if _large(n, k) and (bases := _search(n, k, size, meetings, meetings + 2)):
            return tuple(map(tuple, bases))
    return None


def spread(bases: Iterable[Sequence[int]], n: int) -> int:
    """How many more tables the pair that meets most often shares than the one that does so least."""
    counts = _Differences(n, 0, 0)
    for base in bases:
        counts.count(base)
    return int(counts.pairs.max() - counts.pairs.min())


def _large(n: int, k: int) -> bool:
    return n > 500 or (k > 6 and n > 60)


def developed(bases: Iterable[Sequence[int]], n: int) -> tuple[tuple[Order, ...], ...]:
    """A block of n tables for each base block."""
    return tuple(_developed(base, n) for base in bases)


def even(block: Sequence[Order]) -> bool:
    """Whether every entrant of the block sits in each seat equally often."""
    counts = Counter((entrant, seat) for order in block for seat, entrant in enumerate(order))
    entrants = {entrant for order in block for entrant in order}
    return all(len({counts[entrant, seat] for seat in range(len(block[0]))}) == 1 for entrant in entrants)


def seated(tables: Sequence[Order]) -> list[Order]:
    """The same tables of k with seats such that no entrant's counts of two seats differ by more than one.

    König's edge colouring with the k seats as colours: k tables of an entrant, in order, make a copy of it;
    copies and tables are the two sides of a graph of degree k, so no copy and no table needs a colour twice.
    """
    links: Links = defaultdict(dict)
    played: Counter[int] = Counter()
    for number, table in enumerate(tables):
        for entrant in table:
            _sit(links, (entrant, played[entrant] // len(table)), (-1, number), len(table))
            played[entrant] += 1
    return [tuple(links[-1, i][seat][0] for seat in range(len(table))) for i, table in enumerate(tables)]


def balanced(tables: Sequence[Order], had: Mapping[tuple[int, int], int]) -> list[Order]:
    """Tables of any sizes with fair seats, `had`: how often (entrant, seat) came up before.

    Without any before, spreads are at most one for tables of one size (`seated`); else as even as exchanges
    at each table make them, one table after another.
    """
    queues = {size: iter(seated([each for each in tables if len(each) == size])) for size in map(len, tables)}
    orders = [next(queues[len(table)]) for table in tables]
    if not had:
        return orders
    counts = Counter(had)
    for number, order in enumerate(orders):
        orders[number] = _exchanged(list(order), counts)
        counts.update((entrant, seat) for seat, entrant in enumerate(orders[number]))
    return orders


def _exchanged(order: list[int], counts: Mapping[tuple[int, int], int]) -> Order:
    better = True
    while better:
        better = False
        for i, j in combinations(range(len(order)), 2):
            a, b = order[i], order[j]
            if counts[a, i] + counts[b, j] > counts[a, j] + counts[b, i]:
                order[i], order[j], better = b, a, True
    return tuple(order)


def _sit(links: Links, copy: Node, table: Node, seats: int) -> None:
    mine = [seat for seat in range(seats) if seat not in links[copy]]
    free = [seat for seat in range(seats) if seat not in links[table]]
    seat = next((seat for seat in mine if seat in free), mine[0])
    if seat not in free:
        _exchange(links, table, seat, free[0])
    links[copy][seat], links[table][seat] = table, copy


def _exchange(links: Links, start: Node, seat: int, other: int) -> None:
    """Exchange two seats on the path from `start` along which they alternate: `seat` gets free at `start`."""
    path, following = [start], seat
    while following in links[path[-1]]:
        path.append(links[path[-1]][following])
        following = other if following == seat else seat
    for node in path:
        ends = {other: links[node].pop(seat, None), seat: links[node].pop(other, None)}
        links[node].update({colour: end for colour, end in ends.items() if end is not None})


def _developed(base: Sequence[int], n: int) -> tuple[Order, ...]:
    """The n tables base + t (mod n): everyone once in every seat, every pair once for each difference ±d."""
    return tuple(tuple((x + t) % n for x in base) for t in range(n))


def _orbits(n: int, k: int) -> Iterator[tuple[Order, ...]]:
    """All k-subsets of n, each with those it turns into: n of them, or fewer where one turns into itself."""
    seen: set[Order] = set()
    for rest in combinations(range(1, n), k - 1):
        if (0, *rest) not in seen:
            orbit = {tuple(sorted(order)): order for order in _developed((0, *rest), n)}
            seen.update(orbit)
            yield tuple(orbit.values())


def _possible(n: int, k: int, size: int) -> bool:
    """Whether counts could be level: for even n, the difference n/2 is its own opposite: in twos."""
    level = size * k * (k - 1) // (n - 1)
    half, others = level + level % 2, n // 2 - 1
    return n % 2 == 1 or level * others <= size * k * (k - 1) // 2 - half // 2 <= (level + 1) * others


def _search(n: int, k: int, size: int, low: int, high: int) -> list[list[int]] | None:
    """Base blocks in which every difference occurs `low` to `high` times; None when the steps are used up.

    Annealing at one temperature by heat bath: one place of one block at a time is drawn anew.
    """
    dice = Dice(b"base blocks", b"%d %d %d %d" % (n, k, size, high - low))
    counts = _Differences(n, low, high)
    bases = [dice.shuffled(range(n))[:k] for _ in range(size)]
    for base in bases:
        counts.count(base)
    for step in range(STEPS):
        if step % LOOK_EVERY == 0 and counts.level():
            return bases
        base, seat = bases[dice.below(size)], dice.below(k)
        others = base[:seat] + base[seat + 1 :]
        counts.add(base[seat], others, -1)
        base[seat] = counts.drawn(others, dice)
        counts.add(base[seat], others, 1)
    return None


class _Differences:
    """How often each difference 0 .. n - 1 occurs, ±d counted at both; whole numbers, so alike everywhere.

    `_worth[c]` is what one more of a difference that occurs c times costs: less than 0 while there are too
    few of it, more than 0 from `high` on.
    """

    def __init__(self, n: int, low: int, high: int) -> None:
        self.n, self.low, self.high = n, low, high
        self._counts = np.zeros(n, dtype=np.int64)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """The counts of the differences 1 .. n/2."""
        return self._counts[1 : self.n // 2 + 1]

    def count(self, base: Sequence[int]) -> None:
        """All differences in a block."""
        for seat, x in enumerate(base):
            self.add(x, base[:seat], 1)

    def add(self, x: int, others: Sequence[int], times: int) -> None:
        """Differences of x to the others, `times` times."""
        for other in others:
            self._counts[x - other] += times  # a negative index is the difference modulo n
            self._counts[other - x] += times

    def level(self) -> bool:
        """Whether all counts are within bounds."""
        return bool(self.low <= self.pairs.min() and self.pairs.max() <= self.high)

    def drawn(self, others: Sequence[int], dice: Dice) -> int:
        """A place beside the others, 2 ** -COOL as likely for each point that it is worse than the best."""
        counts = self._counts
        short, over = np.minimum(counts - self.low, 0), np.maximum(counts - self.high + 1, 0)
        twice = np.tile(short + over, 2)
        cost = sum((twice[self.n - other : 2 * self.n - other] for other in others), np.zeros_like(counts))
        cost[list(others)] = 1 << 30
        worse = np.minimum(cost - cost.min(), MOST_WORSE)
        weights = np.int64(1) << (COOL * (MOST_WORSE - 1 - worse).clip(0))
        ends = np.cumsum(weights * (worse < MOST_WORSE))
        return int(np.searchsorted(ends, dice.below(int(ends[-1])), side="right"))
