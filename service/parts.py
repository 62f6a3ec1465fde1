"""What is planned is written in parts, ahead of play: on SQLite all others wait for whoever writes.

A stage is planned whole, and so are a comparison's deals; the matches follow in transactions of some `PART`.
How many deal groups are `planned`, and how many `groups` of them are written, stands in the tournament's row:
whoever comes next goes on there, whatever became of who wrote the last part. A group is written whole.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from engine.rules import RuleSet
from service import contest, lineup, schedule
from service.contest import COMPARISON
from service.design import Order
from service.formats import FORMATS, Field
from service.jobs import PLAY, Job
from service.schedule import Pairing
from service.tables import bot, entrant, match
from service.tables import stage as stage_rows
from service.tables import tournament as rows
from service.work import Work

Matches = list[dict[str, Any]]  # rows to be, but for their status
PART = 2_000  # matches in one transaction, at most twice as many: some tens of milliseconds on SQLite
AHEAD = 2_000  # matches kept planned where those that follow are known
ENDLESS = {name for name, each in FORMATS.items() if each.endless}
DOORBELLS = 16  # how many jobs a part sends; workers send the next themselves


def left(row: Any) -> bool:
    """Whether more is planned than is written, unless it is of a ladder that was stopped."""
    return row.groups < row.planned and (row.more or row.format not in ENDLESS)


def few(db: Connection, tournament_id: str) -> bool:
    """Whether so few matches wait to be played that more should be written."""
    waiting = select(match.c.number).where(
        match.c.tournament_id == tournament_id, match.c.status == "planned"
    )
    return (db.scalar(select(func.count()).select_from(waiting.limit(AHEAD).subquery())) or 0) < AHEAD


def following(db: Connection, row: Any, field: Field) -> Matches:
    """The next part of what is planned of a tournament that goes on."""
    if row.format == COMPARISON:
        return of_comparison(row, len(field.entrants))
    stage = (stage_rows.c.tournament_id == row.id, stage_rows.c.number == row.stage)
    found = db.execute(select(stage_rows.c.tables, stage_rows.c.first_group).where(*stage)).one()
    of_it = (entrant.c.tournament_id == row.id, entrant.c.filler)
    fillers = db.scalars(select(entrant.c.number).where(*of_it).order_by(entrant.c.number)).all()
    tables = [tuple(order) for order in found.tables[row.groups - found.first_group :]]
    return of_stage(row, tables, field, fillers)


def of_stage(row: Any, tables: Sequence[Order], field: Field, fillers: Sequence[int]) -> Matches:
    """The next part of a stage, of whose tables these are not written yet; `fillers` take empty seats.

    Rated are full tables of entrants.
    """
    tables = tables[: 2 * PART]  # no part is of more, and there may be very many
    orders = [order + tuple(fillers[: missing(len(order), field)]) for order in tables]
    some = orders[: _many(len(order) if row.duplicate else 1 for order in orders)]
    rules = RuleSet.parse(row.rules, row.players)
    seats = rules.teams.seats if rules.teams else ()
    full = [not missing(len(order), field) and len(order) == field.size for order in tables]
    rated = {group for group, each in enumerate(full, row.groups) if each}
    made = schedule.pairings(some, duplicate=row.duplicate, first=row.groups, teams=seats)
    return list(_matches(row, made, rated))


def of_comparison(row: Any, bots: int) -> Matches:
    """The next part of a comparison of so many bots, which is not rated."""
    orders = contest.orders(row.players, bots, row.seed, row.planned)[row.groups :]
    some = enumerate(orders[: _many(map(len, orders))], row.groups)
    made = (Pairing(group, rotation, order) for group, both in some for rotation, order in enumerate(both))
    return list(_matches(row, made, ()))


def missing(seated: int, field: Field) -> int:
    """How many seats house bots fill: up to a full table if entrants are too few, else up to a lawful one."""
    wanted = field.size if len(field.entrants) < field.size else field.least
    return max(0, wanted - seated)


def write(work: Work, row: Any, part: Matches, gone: Collection[int] = ()) -> None:
    """Write the next part, and have it played; void is what somebody has left since it was planned.

    The caller holds the tournament's row, and made the part of it as it is.
    """
    void = [not set(gone).isdisjoint(each["entrants"]) for each in part]
    statuses = ("void" if each else "planned" for each in void)
    if part:
        work.db.execute(
            insert(match), [{**each, "status": now} for each, now in zip(part, statuses, strict=True)]
        )
    groups = len({each["deal_group"] for each in part})
    after = {"groups": row.groups + groups, "written": row.written + len(part)}
    work.db.execute(update(rows).where(rows.c.id == row.id).values(after))
    work.steps.note(row.id, void=sum(void))
    for bell in range(min(DOORBELLS, len(part) - sum(void))):
        work.send(Job(PLAY, (bell,)))


def fillers(work: Work, tournament_id: str, count: int) -> list[int]:
    """The numbers of `count` house bots that fill seats, entered as far as they are not yet."""
    of_it = entrant.c.tournament_id == tournament_id
    listed = work.db.execute(select(entrant).where(of_it).order_by(entrant.c.number)).all()
    found = [each.number for each in listed if each.filler]
    if len(found) >= count:
        return found[:count]
    house = work.db.execute(select(bot.c.id, bot.c.name).where(bot.c.house))
    names = {each.id: each.name for each in house}
    ready = lineup.newest_ready(work.db, list(names))
    playing = {each.bot_id for each in listed}
    free = sorted(ready, key=lambda each: (each in playing, names[each]))
    for number in range(len(listed), len(listed) + count - len(found)) if free else ():
        chosen = free[len(found) % len(free)]
        row = {"tournament_id": tournament_id, "number": number, "bot_id": chosen, "filler": True}
        work.db.execute(insert(entrant).values(**row, version_id=ready[chosen]))
        found.append(number)
    return found


def _many(games: Iterable[int]) -> int:
    """How many deal groups, of so many matches each, one part is of: all, unless they are too many."""
    sums = list(accumulate(games))
    return len(sums) if not sums or sums[-1] < 2 * PART else bisect_left(sums, PART) + 1


def _matches(row: Any, made: Iterable[Pairing], rated: Collection[int]) -> Iterator[dict[str, Any]]:
    """`rated`: the groups that are."""
    for number, each in enumerate(made, row.written):
        yield {
            "tournament_id": row.id,
            "number": number,
            "deal_group": each.group,
            "rotation": each.rotation,
            "stage": max(row.stage, 1),
            "entrants": each.entrants,
            "rated": each.group in rated,
        }
