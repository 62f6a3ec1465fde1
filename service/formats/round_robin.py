"""Round robin: every pair meets equally often, give or take one; the tables are known from the start."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from service import schedule
from service.design import Dice, Order, search, spread
from service.formats.base import Done, Field, Stage, average, portions


class RoundRobin:
    """Blocks of tables (see `schedule`), `deals` times over; a stage is some whole blocks of them."""

    ahead = True
    endless = False
    by_points = True

    def prepare(self, field: Field) -> dict[str, Any]:
        """The base blocks of the design, which is what is searched for, and how far pair counts are apart."""
        entrants = len(field.entrants)
        if entrants < field.size or field.prepared.get("entrants") == entrants:
            return dict(field.prepared)
        bases = search(entrants, field.size, field.meetings)
        return {"entrants": entrants, "bases": bases, "spread": spread(bases, entrants) if bases else 0}

    def stage(self, field: Field, number: int, done: Sequence[Done]) -> Stage | None:
        """The blocks of portion `number`, without the tables of those who are gone."""
        same = (field.size, field.seed, field.deals, field.duplicate, field.meetings)
        cut = _orders(field.entrants, *same, _bases(field))
        if number > len(cut):
            return None
        here = tuple(order for order in cut[number - 1] if field.gone.isdisjoint(order))
        return Stage(here, last=number == len(cut))

    def groups(self, field: Field) -> int:
        """Exactly, as long as nobody leaves."""
        if len(field.entrants) < field.size:
            return field.meetings * field.deals
        return field.deals * schedule.tables(len(field.entrants), field.size, field.meetings, _bases(field))

    def places(self, field: Field, done: Sequence[Done]) -> list[list[int]]:
        """By average: those who were to meet one who left have played less."""
        return average(field.entrants, done)


def _bases(field: Field) -> tuple[Order, ...] | None:
    found = field.prepared.get("bases")
    return None if found is None else tuple(map(tuple, found))


@lru_cache(maxsize=4)  # one portion is asked for after another
def _orders(
    entrants: Order, size: int, seed: bytes, deals: int, duplicate: bool, meetings: int,
    bases: tuple[Order, ...] | None,
) -> list[list[Order]]:  # fmt: skip
    """All deal groups, cut into portions."""
    if len(entrants) < size:
        dice = Dice(b"schedule", seed)
        return [[tuple(dice.shuffled(entrants)) for _ in range(meetings * deals)]]
    blocks = schedule.round_robin(len(entrants), size, meetings=meetings, seed=seed, bases=bases)
    orders = iter(schedule.groups(blocks, deals=deals, duplicate=duplicate, seed=seed))
    named = ([tuple(entrants[x] for x in next(orders)) for _ in block] for block in blocks * deals)
    return portions(named, size if duplicate else 1)
