"""Round robin: every pair meets equally often, give or take one; the tables are known from the start."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from service import schedule
from service.design import Dice, Order, search
from service.formats.base import Done, Field, Stage

PORTION = 2_000  # matches planned at once, or what more a block needs


class RoundRobin:
    """Blocks of tables (see `schedule`), `deals` times over; a stage is some whole blocks of them."""

    ahead = True

    def prepare(self, field: Field) -> dict[str, Any]:
        """The base blocks of the design, which is what is searched for."""
        if len(field.entrants) < field.size:
            return {}
        return {"bases": search(len(field.entrants), field.size, field.meetings)}

    def stage(self, field: Field, number: int, done: Sequence[Done]) -> Stage | None:
        """The blocks of portion `number`, without the tables of those who are gone."""
        portions = _portions(field.size, len(field.entrants), field.deals, field.duplicate, field.meetings,
                             field.seed, _frozen(field))  # fmt: skip
        if number > len(portions):
            return None
        orders = [tuple(field.entrants[x] for x in order) for order in portions[number - 1]]
        here = tuple(order for order in orders if field.gone.isdisjoint(order))
        return Stage(here, last=number == len(portions))

    def groups(self, field: Field) -> int:
        """Exactly."""
        if len(field.entrants) < field.size:
            return field.meetings * field.deals
        return field.deals * schedule.tables(len(field.entrants), field.size, field.meetings, _frozen(field))

    def places(self, field: Field, done: Sequence[Done]) -> None:
        """By points."""
        return None


def _frozen(field: Field) -> tuple[Order, ...] | None:
    bases = field.prepared.get("bases")
    return None if bases is None else tuple(map(tuple, bases))


@lru_cache(maxsize=4)
def _portions(
    size: int, entrants: int, deals: int, duplicate: bool, meetings: int, seed: bytes,
    bases: tuple[Order, ...] | None,
) -> list[list[Order]]:  # fmt: skip
    """The deal groups of the whole tournament, cut after whole blocks."""
    if entrants < size:
        dice = Dice(b"schedule", seed)
        return [[tuple(dice.shuffled(range(entrants))) for _ in range(meetings * deals)]]
    blocks = schedule.round_robin(entrants, size, meetings=meetings, seed=seed, bases=bases)
    orders = iter(schedule.groups(blocks, deals=deals, duplicate=duplicate, seed=seed))
    portions: list[list[Order]] = [[]]
    for block in blocks * deals:
        if len(portions[-1]) * (size if duplicate else 1) >= PORTION:
            portions.append([])
        portions[-1] += [next(orders) for _ in block]
    return portions
