"""Tables out of entrants in an order: neighbours together, but as few as can be who have met before.

Whole numbers and SHAKE-256 only, so the same everywhere.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from service.design import Dice, Order

KICKS = 8_000  # by the number of entrants: how often tables are shaken up while some repeat a pair
AGAIN = 1 << 24  # a pair that met once costs more than any displacement
Met = Mapping[tuple[int, int], int]
Ints = NDArray[np.int64]


def sizes(entrants: int, full: int, least: int) -> tuple[list[int], int]:
    """Table sizes, full ones first, then one less, and how many are left without a table.

    As few byes as possible, then as few small tables. Too few for one full table: one table of all.
    """
    if entrants < full:
        return [entrants], 0
    smaller = full - 1
    most = entrants // smaller if smaller >= max(2, least) else 0
    byes, small = min(
        ((entrants - small * smaller) % full, small)
        for small in range(min(most, full) + 1)
        if entrants - small * smaller >= 0
    )
    return [full] * ((entrants - byes - small * smaller) // full) + [smaller] * small, byes


def met(tables: Iterable[Sequence[int]]) -> Counter[tuple[int, int]]:
    """How often each pair sat at one table, the lower number first."""
    return Counter(pair for table in tables for pair in combinations(sorted(table), 2))


def grouped(order: Sequence[int], cut: Sequence[int], before: Met, dice: Dice) -> list[Order]:
    """Tables of these sizes from an order, best first, with the fewest repeated meetings that a search finds.

    The cost of a pair is the square of its meetings, so nobody meets thrice while others never did; among
    equal costs entrants stay as near as can be to their place in the order.
    """
    seating = _Seating.of(order, cut, before)
    seating.improve()
    best, rank = seating.table.copy(), seating.rank()
    for _ in range(max(2, KICKS // max(len(order), 1))):
        if not rank[0]:
            break
        seating.move_to(best)
        seating.shake(dice)
        seating.improve()
        if seating.rank() < rank:
            best, rank = seating.table.copy(), seating.rank()
    return [tuple(order[int(p)] for p in np.flatnonzero(best == number)) for number in range(len(cut))]


@dataclass(slots=True, eq=False)
class _Seating:
    """Places in the order (p) and the table each has now. `cost` (n, n) of each pair; `at` (n, tables): of
    each with all who sit there. `home`: the table the order alone would give.
    """

    cost: Ints
    home: Ints
    table: Ints
    at: Ints

    @classmethod
    def of(cls, order: Sequence[int], cut: Sequence[int], before: Met) -> "_Seating":
        """Everybody at home."""
        cost = np.zeros((len(order), len(order)), dtype=np.int64)
        places: dict[int, list[int]] = {}
        for p, each in enumerate(order):
            places.setdefault(each, []).append(p)
        for (a, b), times in before.items():
            for p, q in product(places.get(a, ()), places.get(b, ())):
                cost[p, q] = cost[q, p] = times * times if p != q else 0
        home = np.repeat(np.arange(len(cut)), cut)
        made = cls(cost, home, home, np.zeros((len(order), len(cut)), dtype=np.int64))
        made.move_to(home)
        return made

    def move_to(self, table: Ints) -> None:
        """Take these tables."""
        self.table = table.copy()
        for number in range(self.at.shape[1]):
            self.at[:, number] = self.cost[:, table == number].sum(axis=1)

    def rank(self) -> tuple[int, int]:
        """What the repeats cost, and how far all are from home, squared; less is better."""
        return int(self._own().sum()), int(((self.home - self.table) ** 2).sum())

    def improve(self) -> None:
        """Make the exchange that saves most, again and again, until none saves anything."""
        while (troubled := np.flatnonzero(self._own())).size:
            saved = self._saved(troubled)
            row, q = divmod(int(saved.argmax()), len(self.table))
            if saved[row, q] <= 0:
                return
            self._exchange(int(troubled[row]), q)

    def shake(self, dice: Dice) -> None:
        """Exchange everybody who has met somebody at the table for anybody, every second time."""
        for p in np.flatnonzero(self._own()):
            if dice.below(2):
                self._exchange(int(p), dice.below(len(self.table)))

    def _own(self) -> Ints:
        return self.at[np.arange(len(self.table)), self.table]

    def _saved(self, rows: Ints) -> Ints:
        """(rows, n): what an exchange of the two saves; 0 where it saves no repeat."""
        own, table, home = self._own(), self.table, self.home
        less = (
            own[rows, None] + own - self.at[rows][:, table] - self.at[:, table[rows]].T + 2 * self.cost[rows]
        )
        less[table[rows, None] == table] = 0
        moved = (home[rows, None] - table) ** 2 + (home - table[rows, None]) ** 2
        moved -= ((home - table) ** 2)[rows, None] + (home - table) ** 2
        return np.where(less > 0, less * AGAIN - moved, 0)

    def _exchange(self, p: int, q: int) -> None:
        a, b = int(self.table[p]), int(self.table[q])
        self.at[:, a] += self.cost[:, q] - self.cost[:, p]
        self.at[:, b] += self.cost[:, p] - self.cost[:, q]
        self.table[p], self.table[q] = b, a
