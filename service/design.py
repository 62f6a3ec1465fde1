"""The mathematics under a schedule: balanced tables by cyclic development, balanced seats by edge colouring.

Pure: the same arguments give the same tables on any machine and any Python. Every choice comes from SHAKE-256
and whole numbers: of `random` only a few methods promise their sequence, and floats may round differently.
"""

import hashlib
import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import TypeVar

T = TypeVar("T")
Order = tuple[int, ...]  # entrants (from 0) in the order of their seats
Node = tuple[int, int]  # (entrant, copy), or (-1, table)
Links = defaultdict[Node, dict[int, Node]]  # node -> seat -> the node at the other end
WORDS = 1024  # 32-bit words taken from SHAKE-256 at a time
COOL = 10  # the search takes a step that is worse by e with probability 2 ** (-COOL * e)


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
    """The base blocks of a design; None where all C(n, k) tables are not more."""
    copies = -(-meetings // comb(n - 2, k - 2))
    fewest = -(-meetings * (n - 1) // (k * (k - 1)))
    for size in range(fewest, -(-copies * comb(n, k) // n)):
        if _possible(n, k, size) and (bases := _search(n, k, size)):
            return tuple(map(tuple, bases))
    return None


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


def _search(n: int, k: int, size: int) -> list[list[int]] | None:
    """Base blocks in which every difference occurs q or q + 1 times, q = floor(size k (k - 1) / (n - 1)).

    Annealing at one temperature; None when the allotted steps are used up.
    """
    dice = Dice(b"base blocks", b"%d %d %d" % (n, k, size))
    counts = _Differences(n, size * k * (k - 1) // (n - 1))
    bases = [dice.shuffled(range(n))[:k] for _ in range(size)]
    for base in bases:
        for seat in range(k):
            counts.add(base[seat], base[:seat])
    for _ in range(40_000 + 10 * n * size):
        if counts.energy == 0:
            return bases
        base, seat, new = bases[dice.below(size)], dice.below(k), dice.below(n)
        if new not in base and _step(counts, base, seat, new, dice):
            base[seat] = new
    return None


def _step(counts: "_Differences", base: list[int], seat: int, new: int, dice: Dice) -> bool:
    """Count the block with `new` in that place, if the dice allow it."""
    old, others, before = base[seat], base[:seat] + base[seat + 1 :], counts.energy
    counts.drop(old, others)
    counts.add(new, others)
    worse = counts.energy - before
    if worse <= 0 or dice.word() < (1 << 32) >> COOL * worse:
        return True
    counts.drop(new, others)
    counts.add(old, others)
    return False


class _Differences:
    """How far the counts c of the differences 1 .. n/2 are from level: energy = sum of (c - q)(c - q - 1)/2.

    It is 0 when every c is q or q + 1. `_cost[d]` is what one more d adds; it grows by `_slope[d]` a time.
    """

    def __init__(self, n: int, level: int) -> None:
        self.energy = level * (level + 1) // 2 * (n // 2)
        self._fold = [min(d, n - d) for d in range(n)]  # x - y, also as a negative index -> difference
        self._cost, self._slope = [-level] * (n // 2 + 1), [1] * (n // 2 + 1)
        if n % 2 == 0:
            self._cost[-1], self._slope[-1] = 1 - 2 * level, 4

    def add(self, x: int, others: Sequence[int]) -> None:
        for other in others:
            d = self._fold[x - other]
            self.energy += self._cost[d]
            self._cost[d] += self._slope[d]

    def drop(self, x: int, others: Sequence[int]) -> None:
        for other in others:
            d = self._fold[x - other]
            self._cost[d] -= self._slope[d]
            self.energy -= self._cost[d]
