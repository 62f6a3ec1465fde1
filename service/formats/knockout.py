"""Knock-out: seeded by rating, snaked into tables, the better half goes on until one table is left."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.design import Dice, Order
from service.formats.base import Done, Field, Stage, repeated, seated
from service.formats.grouping import grouped

UNRATED = 1500.0


class Knockout:
    """Best floor(k/2) of a table go on: by points over its deal groups, exact bids, one more group, seed."""

    ahead = False
    endless = False
    by_points = False

    def prepare(self, field: Field) -> dict[str, Any]:
        """The seeds, best first: ratings are those at the start, equals by lot."""
        drawn = Dice(b"seeds", field.seed).shuffled(field.entrants)
        return {"seeds": sorted(drawn, key=lambda each: -field.ratings.get(each, UNRATED))}

    def stage(self, field: Field, number: int, done: Sequence[Done]) -> Stage | None:
        """The next tables, or the playoff of those where exact bids did not tell who goes on."""
        dice = Dice(b"knockout %d" % number, field.seed)
        alive = [each for each in field.prepared["seeds"] if each not in field.gone]
        if done:
            main = max(index for index, each in enumerate(done) if each.kind == "main")
            boards = _boards(field, done[main:])
            if main == len(done) - 1 and (again := [each.staying for each in boards if each.level]):
                return Stage(seated(field, again, done, dice, deals=1), kind="playoff")
            if len(boards) == 1 and not done[main].byes:
                return None
            through = {each for board in boards for each in board.through} | set(done[main].byes)
            alive = [each for each in alive if each in through]
        if len(alive) < 2:
            return None
        tables = _apart(field, _snake(alive, field.size), dice)
        byes = tuple(each for table in tables if len(table) == 1 for each in table)
        return Stage(seated(field, [table for table in tables if len(table) > 1], done, dice), byes)

    def groups(self, field: Field) -> int:
        """As many as without playoffs and withdrawals."""
        alive, count = len(field.staying), 0
        while alive > 1:
            cut = [len(table) for table in _snake(range(alive), field.size)]
            count += sum(each > 1 for each in cut) * field.deals
            alive = sum(_places(each, field.size) for each in cut) if len(cut) > 1 else 1
        return count

    def places(self, field: Field, done: Sequence[Done]) -> list[list[int]]:
        """By how far they came, then by their place at the table where they went out; seeds before that."""
        seeds = {each: number for number, each in enumerate(field.prepared["seeds"])}
        reached: dict[int, tuple[int, int, int]] = {each: (0, 0, number) for each, number in seeds.items()}
        for stage in (index for index, each in enumerate(done) if each.kind == "main"):
            following = done[stage + 1 : stage + 2]
            playoff = [each for each in following if each.kind == "playoff"]
            reached |= {each: (-stage - 1, -1, 0) for each in done[stage].byes}
            for board in _boards(field, [done[stage], *playoff]):
                reached |= {each: (-stage - 1, place, 0) for place, each in enumerate(board.order)}
        levels: dict[tuple[int, int, int], list[int]] = {}
        for each in field.entrants:
            levels.setdefault(reached[each], []).append(each)
        return [levels[key] for key in sorted(levels)]


@dataclass(frozen=True, slots=True)
class _Board:
    """A table of a stage: all at it, the best first; how many go on; whether that cannot be told yet."""

    order: Order
    staying: Order
    through: Order
    level: bool


def _boards(field: Field, played: Sequence[Done]) -> list[_Board]:
    """The tables of a main stage, with what they added in a playoff."""
    points: dict[Order, dict[int, tuple[int, int]]] = {}
    for table in (table for stage in played for table in stage.tables):
        key = next((each for each in points if set(table.entrants) <= set(each)), table.entrants)
        sums = points.setdefault(key, dict.fromkeys(key, (0, 0)))
        for each in table.points:
            sums[each] = (sums[each][0] + table.points[each], sums[each][1] + table.exact_bids[each])
    alone = len(points) == 1 and not played[0].byes
    return [_board(field, sums, alone) for sums in points.values()]


def _board(field: Field, sums: dict[int, tuple[int, int]], final: bool) -> _Board:
    seeds = {each: number for number, each in enumerate(field.prepared["seeds"])}
    order = sorted(sums, key=lambda each: (-sums[each][0], -sums[each][1], seeds[each]))
    staying = [each for each in order if each not in field.gone]
    count = 1 if final else _places(len(sums), field.size)
    level = len(staying) > count and sums[staying[count - 1]] == sums[staying[count]]
    ranked = staying + [each for each in order if each in field.gone]
    return _Board(tuple(ranked), tuple(staying), tuple(staying[:count]), level)


def _places(table: int, full: int) -> int:
    """How many of a table go on; of a small one so many that somebody is out."""
    return max(1, min(full // 2, table - 1))


def _apart(field: Field, tables: list[Order], dice: Dice) -> list[Order]:
    """Bots of one owner moved to tables nearby, if they are to be kept apart."""
    if not field.apart:
        return tables
    order = [each for table in tables for each in table]
    return grouped(order, [len(table) for table in tables], repeated(field, []), dice)


def _snake(seeds: Sequence[int], full: int) -> list[Order]:
    """Tables of at most `full`: 1 2 3, then 6 5 4, then 7 8 9 … so that the strong are apart."""
    count = -(-len(seeds) // full)
    tables: list[list[int]] = [[] for _ in range(count)]
    for index, each in enumerate(seeds):
        row, place = divmod(index, count)
        tables[count - 1 - place if row % 2 else place].append(each)
    return [tuple(table) for table in tables]
