"""What follows from finished matches: standings, the crosstable, and the events of a tournament under way."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select, tuple_

from engine.rules import RuleSet
from service import luck, order, paging, results, summaries, tournaments
from service import standings as numbers
from service.accounts import Account
from service.errors import NotFound
from service.stages import OVER
from service.tables import match, seat
from service.tables import tournament as tournament_rows
from service.tournaments import Entrant
from service.work import Arena

EVENTS = 200  # results told at once; the next call tells what follows


@dataclass(frozen=True, slots=True)
class StandingRow:
    """A line of the standings; entrants that are level share a place. Only whole deal groups count.

    `places`: how often it came first, second, …; `bid_accuracy`: the share of bids made exactly. Points
    a match: `average` = `dealt` (what the average holder of the same cards took) + `earned`; `swing` is how
    far the cards moved one match. These three are None where deals are not played from every seat.
    """

    place: int
    entrant: int
    bot_id: str
    version: int | None
    name: str
    points: int
    average: float
    wins: int
    exact_bids: int
    bid_accuracy: float | None
    faults: int
    outs: int
    matches: int
    places: list[int]
    status: str
    dealt: float | None
    earned: float | None
    swing: float | None


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two entrants' matches together: average difference of points (a minus b), and who came out ahead."""

    a: int
    b: int
    a_name: str
    b_name: str
    games: int
    difference: float | None
    wins_a: int
    wins_b: int
    ties: int


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened; `id` is where to go on from."""

    id: str
    type: str
    data: dict[str, Any]


def standings_of(arena: Arena, tournament_id: str) -> list[StandingRow]:
    """Who stands where, while it is running too; of one that is over as the desk has kept it."""
    with arena.read() as db:
        kept = summaries.of_tournament(db, tournament_id)
        listed = tournaments.entrants(db, tournament_id) if kept else []
    if kept is None:
        return added_up(arena, tournament_id)
    return [StandingRow(**{**line, "name": listed[line["entrant"]].name}) for line in kept["standings"]]


def added_up(arena: Arena, tournament_id: str) -> list[StandingRow]:
    """The same, out of its matches."""
    played = _played(arena, tournament_id)
    lines = numbers.standings(len(played.entrants), played.results, played.group_size)
    shares = luck.totals(played.whole()) if played.duplicate else {}
    return [
        _line(line, played, shares.get(line.entrant))
        for line in order.ranked(lines, played.entrants, played.order)
    ]


def crosstable_of(arena: Arena, tournament_id: str) -> list[PairRow]:
    """Every pair of entrants that met."""
    played = _played(arena, tournament_id)
    listed = played.entrants
    return [
        PairRow(
            a=row.a,
            b=row.b,
            a_name=listed[row.a].name,
            b_name=listed[row.b].name,
            games=row.games,
            difference=row.average_difference,
            wins_a=row.wins_a,
            wins_b=row.wins_b,
            ties=row.ties,
        )
        for row in numbers.crosstable(len(listed), played.results, played.group_size)
    ]


def events_since(
    arena: Arena, tournament_id: str, after: str | None = None, viewer: Account | None = None
) -> list[Event]:
    """Results after the event `after` in the order they came in; then who has left, if anybody has, which
    stage it is, the progress and the status.

    These are told every time, with the id of the last result; a listener drops what it knows.
    """
    start = paging.read(after, paging.Micros, int) or [0, -1]
    told = tournaments.tournament(arena, tournament_id, viewer)
    with arena.read() as db:
        found = _finished_after(db, tournament_id, start)
        events = [_result(db, row) for row in found]
    last = events[-1].id if events else paging.written(start)
    left = [
        {"entrant": each.number, "name": each.name, "status": each.status, "reason": each.reason}
        for each in told.entrants
        if each.status != "in"
    ]
    events += [Event(last, "left", {"entrants": left})] if left else []
    events += [Event(last, "stage", {"stage": told.stage, "format": told.format})] if told.stage else []
    progress = told.progress
    counts = {"played": progress.played, "total": progress.total, "failed": progress.failed}
    events.append(Event(last, "progress", {**counts, "faults": progress.faults, "eta": progress.eta}))
    events.append(Event(last, "status", {"status": told.status, "reason": told.reason}))
    return events


def over(events: list[Event]) -> bool:
    """Whether the last of these events says that no more will follow."""
    return events[-1].data["status"] in OVER and len(events) < EVENTS


@dataclass(frozen=True, slots=True)
class _Played:
    """A tournament's entrants and finished matches; `bids` are those of one match."""

    entrants: list[Entrant]
    results: list[numbers.Result]
    group_size: int
    duplicate: bool
    bids: int
    order: list[list[int]] | None

    def whole(self) -> list[numbers.Result]:
        return numbers.whole_groups(self.results, self.group_size)


def _played(arena: Arena, tournament_id: str) -> _Played:
    with arena.read() as db:
        query = select(tournament_rows).where(tournament_rows.c.id == tournament_id)
        row = db.execute(query).first()
        if row is None:
            raise NotFound(f"no tournament {tournament_id}")
        listed = tournaments.entrants(db, tournament_id)
        found = [each.result for each in results.of_tournament(db, tournament_id)]
        own = order.of_format(db, row)
    bids = len(RuleSet.parse(row.rules, row.players).rounds(row.players))
    return _Played(listed, found, row.players if row.duplicate else 1, row.duplicate, bids, own)


def _line(line: numbers.Standing, played: _Played, share: luck.Dealt | None) -> StandingRow:
    who, bids = played.entrants[line.entrant], line.matches * played.bids
    same = ("place", "entrant", "points", "average", "wins", "exact_bids", "faults", "outs", "matches")
    return StandingRow(
        **{name: getattr(line, name) for name in same},
        bot_id=who.bot_id,
        version=who.version,
        name=who.name,
        bid_accuracy=line.exact_bids / bids if bids else None,
        places=list(line.places),
        status=order.status_of(who),
        dealt=share.dealt if share else None,
        earned=share.earned if share else None,
        swing=share.swing if share else None,
    )


def _finished_after(db: Connection, tournament_id: str, start: list[Any]) -> "list[Row[Any]]":
    key = (match.c.finished_at, match.c.number)
    done = (match.c.tournament_id == tournament_id, match.c.status == "done")
    later = tuple_(*key) > paging.row(key, [paging.moment(start[0]), start[1]])
    columns = (match.c.tournament_id, match.c.number, match.c.finished_at, match.c.faults)
    return list(db.execute(select(*columns).where(*done, later).order_by(*key).limit(EVENTS)))


def _result(db: Connection, row: "Row[Any]") -> Event:
    key = (seat.c.tournament_id == row.tournament_id, seat.c.number == row.number)
    columns = (seat.c.entrant, seat.c.counted, seat.c.place)
    seats = [dict(each._mapping) for each in db.execute(select(*columns).where(*key).order_by(seat.c.seat))]
    data = {
        "match": f"{row.tournament_id}-{row.number}",
        "number": row.number,
        "seats": seats,
        "faults": row.faults,
    }
    return Event(paging.written([paging.micros(row.finished_at), row.number]), "result", data)
