"""Ladder: goes on until it is stopped; the least certain bot plays next, with those it met least."""

from collections import Counter
from collections.abc import Sequence
from math import inf
from typing import Any

from service.design import Dice
from service.formats.base import Done, Field, Stage, average, repeated, seated
from service.formats.grouping import Met
from service.rating import elo, rank
from service.tally import Game


class Ladder:
    """A stage is a batch of tables, about one for each entrant's seat."""

    ahead = False
    endless = True
    by_points = False

    def prepare(self, field: Field) -> dict[str, Any]:
        """Nothing."""
        return {}

    def stage(self, field: Field, number: int, done: Sequence[Done]) -> Stage:
        """The most uncertain who has no table yet in this batch, and those it met least; never over."""
        dice = Dice(b"ladder %d" % number, field.seed)
        doubt, before = _doubt(field, done), repeated(field, done)
        waiting = sorted(dice.shuffled(field.staying), key=lambda each: -doubt[each])
        tables, used = list[tuple[int, ...]](), Counter[int]()
        while waiting:
            table = [waiting[0]]
            free = sorted(field.staying, key=lambda each: (used[each], -doubt[each]))
            while len(table) < min(field.size, len(free)):
                table.append(min((each for each in free if each not in table),
                                 key=lambda each: (used[each], _together(each, table, before))))  # fmt: skip
            used.update(table)
            waiting = [each for each in waiting if each not in table]
            tables.append(tuple(table))
        return Stage(seated(field, tables, done, dice))

    def groups(self, field: Field) -> int:
        """Those of one batch: nobody knows how many follow."""
        return max(1, -(-len(field.staying) // field.size)) * field.deals

    def places(self, field: Field, done: Sequence[Done]) -> list[list[int]]:
        """By average."""
        return average(field.entrants, done)


def _together(one: int, table: Sequence[int], before: Met) -> int:
    return sum(before.get((min(one, each), max(one, each)), 0) for each in table)


def _doubt(field: Field, done: Sequence[Done]) -> dict[int, float]:
    """Half the width of each rating's interval, by this ladder's deal groups alone; without any: no end."""
    tables = [table for stage in done for table in stage.tables if len(table.points) > 1]
    games = [
        Game(n, table.entrants, rank([table.points[each] for each in table.entrants],
                                     [table.exact_bids[each] for each in table.entrants]))
        for n, table in enumerate(tables)
    ]  # fmt: skip
    margin = {rated.player: round(rated.margin or inf, 1) for rated in elo(games)}
    return {each: margin.get(each, inf) for each in field.staying}
