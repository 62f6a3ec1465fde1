"""Matches as people see them: who sat where, what came out, the whole record, and what went wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from engine.record import Record
from service import fallen, luck, paging, retention, tournaments
from service.accounts import Account
from service.errors import Conflict, Gone, NotFound
from service.paging import Page
from service.schedule import bot_seed
from service.tables import fault, seat
from service.tables import match as rows
from service.tables import tournament as tournament_rows
from service.tournaments import Entrant
from service.work import Arena

STATUSES = {"planned": "planned", "running": "leased", "done": "done", "failed": "failed", "void": "void"}
SHOWN = {stored: shown for shown, stored in STATUSES.items()}
RESULT = (
    "score",
    "counted",
    "exact_bids",
    "place",
    "out",
    "faults",
    "cpu_ms",
    "wall_ms",
    "memory_kb",
    "waited_ms",
)


@dataclass(frozen=True, slots=True)
class Seat:
    """One seat; what came out is None until the match is done.

    Its points above the mean of its table are `luck` (its cards', by what all made of them who held them) +
    `earned`: known for a match asked for alone, once its deal was played from every seat.
    """

    seat: int
    entrant: int
    bot_id: str
    version: int | None
    name: str
    score: int | None = None
    counted: int | None = None
    exact_bids: int | None = None
    place: int | None = None
    out: bool | None = None
    faults: int | None = None
    cpu_ms: int | None = None
    wall_ms: int | None = None
    memory_kb: int | None = None
    waited_ms: int | None = None
    luck: float | None = None
    earned: float | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """One match. `faults` tells everybody who failed how; the rest is its owner's (`faults`).

    `trouble` says why it was given up, which is nobody's fault, or fell away: names of machines are the
    operator's.
    """

    id: str
    tournament_id: str
    number: int
    stage: int
    group: int
    rotation: int
    status: str
    attempts: int
    mode: str | None
    replays: int
    started_at: datetime | None
    finished_at: datetime | None
    seats: list[Seat]
    trouble: str | None = None
    faults: list[dict[str, Any]] = field(default_factory=list)


def matches(
    arena: Arena,
    tournament_id: str,
    *,
    limit: int = 50,
    cursor: str | None = None,
    status: str | None = None,
    viewer: Account | None = None,
) -> Page[Match]:
    """A tournament's matches in schedule order; a draft has none yet and is its owner's alone."""
    query = _select().where(rows.c.tournament_id == tournament_id).order_by(rows.c.number).limit(limit + 1)
    if (after := paging.read(cursor, int)) is not None:
        query = query.where(rows.c.number > after[0])
    if status is not None:
        query = query.where(rows.c.status == STATUSES[status])
    with arena.read() as db:
        here = (tournament_rows.c.id == tournament_id, tournaments.shown(viewer))
        if not db.scalar(select(tournament_rows.c.id).where(*here)):
            raise NotFound(f"no tournament {tournament_id}")
        found = db.execute(query).all()
        seats = _seats(db, tournament_id, found[:limit])
        why = fallen.causes(db, tournament_id, found[:limit])
    return paging.cut(
        found,
        limit,
        lambda row: [row.number],
        lambda row: _shape(row, seats[row.number], why=why.get(row.number)),
    )


def match(arena: Arena, match_id: str) -> Match:
    """One match."""
    with arena.read() as db:
        return _whole(db, [_find(db, match_id)])[0]


def of_deal(arena: Arena, match_id: str) -> list[Match]:
    """All matches on the deal of this one, itself among them, in the order of the schedule."""
    with arena.read() as db:
        row = _find(db, match_id)
        group = (rows.c.tournament_id == row.tournament_id, rows.c.deal_group == row.deal_group)
        return _whole(db, db.execute(_select().where(*group).order_by(rows.c.number)).all())


def latest(arena: Arena, tournament_id: str, *, limit: int) -> list[Match]:
    """The matches of a tournament that were done last, the last first."""
    done = (rows.c.tournament_id == tournament_id, rows.c.status == "done")
    order = (rows.c.finished_at.desc(), rows.c.number.desc())
    with arena.read() as db:
        found = db.execute(_select().where(*done).order_by(*order).limit(limit)).all()
        seats = _seats(db, tournament_id, found)
    return [_shape(row, seats[row.number]) for row in found]


def record(arena: Arena, match_id: str) -> dict[str, Any]:
    """The whole game as JSON: enough to replay and verify. Raises `Conflict` until it is played.

    `about` is what else playing it again takes: the limits, each seat's bot and the seed it was told.
    """
    with arena.read() as db:
        row = _find(db, match_id)
        if row.status != "done":
            why = fallen.causes(db, row.tournament_id, [row]).get(row.number)
            raise unplayed(match_id, SHOWN[row.status], why)
        seats = _seats(db, row.tournament_id, [row])[row.number]
        where = tournament_rows.c.id == row.tournament_id
        of = db.execute(select(tournament_rows.c.secret, tournament_rows.c.limits).where(where)).one()
    told = Record.unpack(packed_record(arena, row)).as_json()
    about = {
        "match": match_id,
        "tournament": row.tournament_id,
        "group": row.deal_group,
        "rotation": row.rotation,
        "limits": of.limits,
    }
    names = [
        {
            "seat": each.seat,
            "bot": each.bot_id,
            "version": each.version,
            "name": each.name,
            "seed": bot_seed(of.secret, row.number, each.seat),
        }
        for each in seats
    ]
    return {**told, "about": {**about, "seats": names}}


def unplayed(match_id: str, status: str, why: str | None) -> Conflict:
    """What to say to who asks for the game of a match that is not done; `why` is its `trouble`."""
    said = {
        "void": f"fell away and will not be played: {why}",
        "failed": "could not be played, through a failure of ours; it has no record",
    }.get(status, f"is {status}; its record comes when it is done")
    return Conflict(f"match {match_id} {said}")


def packed_record(arena: Arena, row: Any) -> bytes:
    """The record of a match that is done, wherever it is; raises `Gone`."""
    return packed_records(arena, [row])[0]


def packed_records(arena: Arena, listed: Sequence[Any]) -> list[bytes]:
    """The records of matches of one tournament that are done, wherever they are; raises `Gone`."""
    away = [row.number for row in listed if not row.record]
    found = retention.some(arena, listed[0].tournament_id, away) if away else {}
    for row in listed:
        if not row.record and row.number not in found:
            raise Gone(f"the record of match {row.tournament_id}-{row.number} is lost")
    return [bytes(row.record or found[row.number]) for row in listed]


def _select() -> Any:
    return select(*(column for column in rows.c if column.name != "record"))


def _find(db: Connection, match_id: str) -> "Row[Any]":
    tournament_id, dash, number = match_id.rpartition("-")
    known = dash and len(number) < 10 and number.isascii() and number.isdigit() and str(int(number)) == number
    key = (rows.c.tournament_id == tournament_id, rows.c.number == int(number)) if known else ()
    row = db.execute(select(rows).where(*key)).first() if known else None
    if row is None:
        raise NotFound(f"no match {match_id}")
    return row


def _seats(db: Connection, tournament_id: str, found: "Sequence[Row[Any]]") -> dict[int, list[Seat]]:
    """The seats of some matches of one tournament, with results where there are any."""
    listed = {each.number: each for each in tournaments.entrants(db, tournament_id)}
    numbers = [row.number for row in found]
    query = select(seat).where(seat.c.tournament_id == tournament_id, seat.c.number.in_(numbers))
    results = {(row.number, row.seat): row for row in db.execute(query)}
    return {
        row.number: [
            _seat(place, listed[who], results.get((row.number, place)))
            for place, who in enumerate(row.entrants)
        ]
        for row in found
    }


def _seat(place: int, who: Entrant, result: "Row[Any] | None") -> Seat:
    values = {name: getattr(result, name) for name in RESULT} if result is not None else {}
    return Seat(place, who.number, who.bot_id, who.version, who.name, **values)


def _whole(db: Connection, found: "Sequence[Row[Any]]") -> list[Match]:
    """Matches on one deal with all there is to say of them, in as many queries as for one of them."""
    tournament_id, numbers = found[0].tournament_id, [row.number for row in found]
    seats = _shared(db, found[0], _seats(db, tournament_id, found))
    columns = (fault.c.number, fault.c.seat, fault.c.kind, fault.c.round, fault.c.decision, fault.c.out)
    query = select(*columns).where(fault.c.tournament_id == tournament_id, fault.c.number.in_(numbers))
    faults: dict[int, list[dict[str, Any]]] = {number: [] for number in numbers}
    for each in db.execute(query.order_by(fault.c.number, fault.c.ordinal)):
        told = dict(each._mapping)
        faults[told.pop("number")].append(told)
    why = fallen.causes(db, tournament_id, found)
    return [_shape(row, seats[row.number], faults[row.number], why=why.get(row.number)) for row in found]


def _shared(db: Connection, row: "Row[Any]", seats: dict[int, list[Seat]]) -> dict[int, list[Seat]]:
    """The seats of matches on this one's deal with luck and what they earned, if the whole deal is done."""
    group = (rows.c.tournament_id == row.tournament_id, rows.c.deal_group == row.deal_group)
    stages = db.execute(select(rows.c.number, rows.c.status).where(*group).order_by(rows.c.number)).all()
    entrants = {each.entrant for each in seats[row.number]}
    if len(stages) < len(entrants) or any(each.status != "done" for each in stages):
        return seats
    numbers = [each.number for each in stages]
    query = select(seat.c.number, seat.c.counted).where(
        seat.c.tournament_id == row.tournament_id, seat.c.number.in_(numbers)
    )
    points: dict[int, list[int]] = {number: [] for number in numbers}
    for each in db.execute(query.order_by(seat.c.number, seat.c.seat)):
        points[each.number].append(each.counted)
    shares = dict(zip(numbers, luck.shares(list(points.values())), strict=True))
    return {
        number: [
            replace(place, luck=float(share.luck), earned=float(share.earned))
            for place, share in zip(places, shares[number], strict=True)
        ]
        for number, places in seats.items()
    }


def _shape(
    row: "Row[Any]", seats: list[Seat], faults: Sequence[dict[str, Any]] = (), *, why: str | None = None
) -> Match:
    """`why` it fell away, if it did."""
    return Match(
        id=f"{row.tournament_id}-{row.number}",
        tournament_id=row.tournament_id,
        number=row.number,
        stage=row.stage,
        group=row.deal_group,
        rotation=row.rotation,
        status=SHOWN[row.status],
        attempts=row.attempts,
        mode=row.mode,
        replays=row.replays,
        started_at=row.started_at,
        finished_at=row.finished_at,
        seats=seats,
        trouble=tournaments.trouble(row.trouble) if row.status == "failed" else why,
        faults=list(faults),
    )
