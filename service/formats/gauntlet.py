"""Gauntlet: one challenger at every table, the field spread evenly over the seats beside it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from service.design import Dice, Order
from service.formats.base import Done, Field, Stage, average, portions, repeated, seated
from service.formats.grouping import grouped, met


class Gauntlet:
    """Everybody meets the challenger `meetings` times, some once more if tables do not come out even."""

    ahead = True
    endless = False
    by_points = False

    def prepare(self, field: Field) -> dict[str, Any]:
        """Nothing."""
        return {}

    def stage(self, field: Field, number: int, done: Sequence[Done]) -> Stage | None:
        """The tables of portion `number`; over when the challenger is gone."""
        assert field.challenger is not None, "the start sees to it"
        cut = portions(_passes(field, field.challenger) * field.deals, field.size if field.duplicate else 1)
        if number > len(cut) or field.challenger in field.gone:
            return None
        tables = [table for table in cut[number - 1] if field.gone.isdisjoint(table)]
        dice = Dice(b"gauntlet %d" % number, field.seed)
        return Stage(seated(field, tables, done, dice, deals=1), last=number == len(cut))

    def groups(self, field: Field) -> int:
        """Exactly, as long as nobody leaves."""
        return field.meetings * field.deals * _tables(field)

    def places(self, field: Field, done: Sequence[Done]) -> list[list[int]]:
        """By average: the challenger has played more than the others."""
        return average(field.entrants, done)


def _tables(field: Field) -> int:
    """For one meeting with each."""
    return -(-(len(field.entrants) - 1) // (field.size - 1))


def _passes(field: Field, challenger: int) -> list[list[Order]]:
    """For each meeting a list of tables; who sits at two of them is another one each time."""
    apart = tuple(sorted(field.owners.items())) if field.apart else ()
    return _drawn(field.entrants, challenger, field.size, field.seed, field.meetings, apart)


@lru_cache(maxsize=4)  # of a large one it takes seconds, and one portion is asked for after another
def _drawn(
    entrants: Order,
    challenger: int,
    size: int,
    seed: bytes,
    meetings: int,
    owners: tuple[tuple[int, str], ...],
) -> list[list[Order]]:
    """`owners`: of all, where bots of one are kept apart."""
    field = Field(size, size, entrants, seed, meetings=meetings, apart=bool(owners), owners=dict(owners))
    dice = Dice(b"field", seed)
    others = dice.shuffled(each for each in entrants if each != challenger)
    if len(others) < size - 1:
        return [[(challenger, *others)]] * meetings
    spare, seats, passes = 0, _tables(field) * (size - 1), list[list[Order]]()
    for _ in range(meetings):
        extra = [others[(spare + n) % len(others)] for n in range(seats - len(others))]
        spare += len(extra)
        before = repeated(field, []) + met(table[1:] for each in passes for table in each)
        before.update({(each, each): 1000 for each in others})
        order = dice.shuffled(others) + extra
        tables = grouped(order, [size - 1] * _tables(field), before, dice)
        passes.append([(challenger, *table) for table in tables])
    return passes
