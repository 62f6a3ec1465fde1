"""What happens in a tournament, for those who follow it: every result once, in one order for all of them.

Results cannot be told by the time they bear. It is taken before they are committed, on many machines with
clocks of their own, so an earlier one may come to be seen after a later one was told. So a result gets the
next number when it is first told: whoever looks numbers what is done and has none yet, one at a time, and
nothing comes before a number that anybody has seen. A tournament that nobody follows is never numbered, and
who gives in results never waits for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, literal_column, select, text, update

from service import paging, tournaments
from service.accounts import Account
from service.stages import OVER
from service.tables import match, seat
from service.work import Arena, Work

AT_ONCE = 200  # results told, and numbered, at once; the next call tells what follows
DONE = match.c.status == literal_column("'done'")  # said literally, as the index of them does
THIS = (match.c.tournament_id == bindparam("this"), DONE)
FRESH = (  # in the order of the schedule, as the index has them: there may be very many
    select(match.c.number, match.c.finished_at).where(*THIS, match.c.told.is_(None)).order_by(match.c.number)
)
LAST = select(func.max(match.c.told)).where(*THIS, match.c.told.is_not(None))
GIVE = update(match).where(
    match.c.tournament_id == bindparam("this"), match.c.number == bindparam("key"), match.c.told.is_(None)
)
WAIT = text("SELECT pg_advisory_xact_lock(hashtextextended(:told, 0)) IS NOT NULL")
TRY = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:told, 0))")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened; `id` is where to go on from."""

    id: str
    type: str
    data: dict[str, Any]


def since(
    arena: Arena, tournament_id: str, after: str | None = None, viewer: Account | None = None
) -> list[Event]:
    """Results after the event `after` in the order they are told; then who has left, if anybody has, which
    stage it is, the progress and the status.

    These are told every time, with the id of the last result; a listener drops what it knows. To who comes
    with an id that means nothing here (an older program's, or from before a backup was restored) all is told.
    """
    asked = paging.read(after, paging.Micros, int) or [0, -1]
    now = tournaments.tournament(arena, tournament_id, viewer)  # first: once it is over nothing is added
    with arena.read() as db:
        start = _known(db, tournament_id, asked)
        found = _after(db, tournament_id, start[0])
        fresh = len(found) < AT_ONCE and db.execute(FRESH.limit(1), {"this": tournament_id}).first()
    if fresh:
        number(arena, tournament_id, wait=now.status in OVER)
    with arena.read() as db:
        found = _after(db, tournament_id, start[0]) if fresh else found
        events = _results(db, tournament_id, found)
    return events + _state(now, events[-1].id if events else paging.written(start))


def over(events: list[Event]) -> bool:
    """Whether the last of these events says that no more will follow."""
    return events[-1].data["status"] in OVER and len(events) < AT_ONCE


def number(arena: Arena, tournament_id: str, *, wait: bool = True) -> None:
    """Number some results that have none yet, in the order they came in; again: the next ones.

    Unless to `wait`, leave it to who is at it: there may be very many listeners, and what is numbered is told
    the next time. Who listens to what is over waits, or would not hear the last of it.
    """
    this = {"this": tournament_id}
    with arena.work() as work:
        if not alone(work, tournament_id, wait=wait):
            return
        last = work.db.scalar(LAST, this) or 0
        fresh = work.db.execute(FRESH.limit(AT_ONCE), this).all()
        in_order = sorted(fresh, key=lambda row: (row.finished_at, row.number))
        if in_order:
            given = [{**this, "key": row.number, "told": n} for n, row in enumerate(in_order, last + 1)]
            work.db.execute(GIVE, given)


def alone(work: Work, tournament_id: str, *, wait: bool = True) -> bool:
    """Whether nobody else numbers: who comes after sees all numbers that were given before.

    On SQLite a writer is alone anyway.
    """
    if work.db.dialect.name != "postgresql":
        return True
    return bool(work.db.scalar(WAIT if wait else TRY, {"told": f"told/{tournament_id}"}))


def _known(db: Connection, tournament_id: str, asked: list[Any]) -> list[Any]:
    """The number and the match an id stands for; of one that does not fit what is before all."""
    here = (match.c.tournament_id == tournament_id, match.c.number == asked[1])
    fits = db.scalar(select(match.c.told).where(*here)) == asked[0]
    return asked if fits else [0, -1]


def _after(db: Connection, tournament_id: str, last: int) -> Sequence[Any]:
    columns = (match.c.tournament_id, match.c.number, match.c.told, match.c.faults)
    later = select(*columns).where(*THIS, match.c.told > last).order_by(match.c.told).limit(AT_ONCE)
    return db.execute(later, {"this": tournament_id}).all()


def _results(db: Connection, tournament_id: str, found: Sequence[Any]) -> list[Event]:
    numbers = [row.number for row in found]
    here = (seat.c.tournament_id == tournament_id, seat.c.number.in_(numbers))
    columns = (seat.c.number, seat.c.entrant, seat.c.counted, seat.c.place)
    seats: dict[int, list[dict[str, Any]]] = {number: [] for number in numbers}
    for each in db.execute(select(*columns).where(*here).order_by(seat.c.number, seat.c.seat)):
        told = dict(each._mapping)
        seats[told.pop("number")].append(told)
    return [_result(row, seats[row.number]) for row in found]


def _result(row: Any, seats: list[dict[str, Any]]) -> Event:
    told = {"match": f"{row.tournament_id}-{row.number}", "number": row.number}
    return Event(
        paging.written([row.told, row.number]), "result", {**told, "seats": seats, "faults": row.faults}
    )


def _state(now: tournaments.Tournament, last: str) -> list[Event]:
    left = [
        {"entrant": each.number, "name": each.name, "status": each.status, "reason": each.reason}
        for each in now.entrants
        if each.status != "in"
    ]
    progress = now.progress
    counts = {"played": progress.played, "total": progress.total, "failed": progress.failed}
    return [
        *([Event(last, "left", {"entrants": left})] if left else []),
        *([Event(last, "stage", {"stage": now.stage, "format": now.format})] if now.stage else []),
        Event(last, "progress", {**counts, "faults": progress.faults, "eta": progress.eta}),
        Event(last, "status", {"status": now.status, "reason": now.reason}),
    ]
