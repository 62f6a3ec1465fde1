"""The fairness report of a tournament that is over, out of its rows and records."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row, select

from engine.record import Record
from service import fairness, retention, summaries, tournaments
from service.errors import Conflict, Gone
from service.fairness import LEVEL, Check, Played
from service.stages import OVER
from service.tables import match, seat
from service.work import Arena

MOST_REPLAYED = (
    600  # matches whose rounds are looked at for the dealer's sake; each takes about two milliseconds
)


@dataclass(frozen=True, slots=True)
class Fairness:
    """What the checks say. `level`: how often they would find anything where nothing makes a difference."""

    tournament_id: str
    level: float
    matches: int
    groups: int
    alarm: bool
    checks: list[Check]


def fairness_of(arena: Arena, tournament_id: str, *, named: bool = False) -> Fairness:
    """The report; workers go by numbers unless `named`. Raises `Conflict` until it is over."""
    told = tournaments.tournament(arena, tournament_id)
    if told.status not in OVER:
        raise Conflict(f"{told.name} is {told.status}; the fairness report comes when it is over")
    with arena.read() as db:
        kept = summaries.of_tournament(db, tournament_id)
    found = _read(kept["fairness"]) if kept else worked_out(arena, tournament_id)
    names = {each.number: each.name for each in told.entrants}
    return replace(found, checks=[_shown(check, names, named=named) for check in found.checks])


def worked_out(arena: Arena, tournament_id: str, *, whole: bool = False) -> Fairness:
    """The report out of its matches, with workers by name and bots by number.

    Where records are away there are fewer deals to look at; if it must be `whole`, that raises `Gone`.
    """
    with arena.read() as db:
        played = _played(arena, db, tournament_id, whole)
    checks = fairness.report(played, seed=tournament_id.encode())
    groups = len({each.group for each in played})
    alarm = any(check.alarm for check in checks)
    return Fairness(tournament_id, LEVEL, len(played), groups, alarm, checks)


def _read(kept: dict[str, Any]) -> Fairness:
    checks = [Check(**{**each, "detail": tuple(each["detail"])}) for each in kept["checks"]]
    return Fairness(**{**kept, "checks": checks})


def _played(arena: Arena, db: Connection, tournament_id: str, whole: bool) -> list[Played]:
    groups = _whole_groups(db, tournament_id)
    sampled = _dealers(arena, db, tournament_id, groups, whole)
    numbers = {number for group in groups for number in group}
    same = (seat.c.tournament_id == match.c.tournament_id) & (seat.c.number == match.c.number)
    columns = (match.c.number, match.c.deal_group, match.c.faults, match.c.lease_worker)
    query = (
        select(*columns, seat.c.entrant, seat.c.counted)
        .join(seat, same)
        .where(match.c.tournament_id == tournament_id)
        .order_by(match.c.number, seat.c.seat)
    )
    rows: Iterator[Any] = (row for row in db.execute(query) if row.number in numbers)
    return [
        _match(list(seats), sampled.get(number))
        for number, seats in groupby(rows, key=lambda row: row.number)
    ]


def _match(seats: "Sequence[Row[Any]]", by_dealer: tuple[float, ...] | None) -> Played:
    return Played(
        group=seats[0].deal_group,
        entrants=tuple(each.entrant for each in seats),
        points=tuple(each.counted for each in seats),
        faults=seats[0].faults,
        worker=seats[0].lease_worker or "unknown",
        by_dealer=by_dealer,
    )


def _whole_groups(db: Connection, tournament_id: str) -> list[list[int]]:
    """The numbers of the matches of each deal group that was played to its end."""
    columns = (match.c.number, match.c.deal_group, match.c.status)
    query = select(*columns).where(match.c.tournament_id == tournament_id).order_by(match.c.number)
    groups: defaultdict[int, list[int]] = defaultdict(list)
    left = set()
    for row in db.execute(query):
        groups[row.deal_group].append(row.number)
        if row.status != "done":
            left.add(row.deal_group)
    return [numbers for group, numbers in groups.items() if group not in left]


def _dealers(
    arena: Arena, db: Connection, tournament_id: str, groups: Sequence[Sequence[int]], whole: bool
) -> dict[int, tuple[float, ...]]:
    """Points by place after the dealer, of some whole groups from the whole length of the tournament."""
    step = max(1, -(-sum(map(len, groups)) // MOST_REPLAYED))
    numbers = [number for group in groups[::step] for number in group]
    query = select(match.c.number, match.c.record).where(
        match.c.tournament_id == tournament_id, match.c.number.in_(numbers)
    )
    found = {row.number: row.record for row in db.execute(query)}
    try:
        found |= retention.some(arena, tournament_id, [number for number in found if not found[number]])
    except Gone:
        if whole:
            raise
    return {number: by_dealer(Record.unpack(packed)) for number, packed in found.items() if packed}


def by_dealer(record: Record) -> tuple[float, ...]:
    """Points a round above the table's mean by place after the dealer; a seat that is out counts like any."""
    seats = record.players
    total = [0.0] * seats
    finished = record.replay().finished
    for played in finished:
        points = played.scores()
        mean = sum(points) / seats
        for place in range(seats):
            total[place] += points[(played.dealer + place) % seats] - mean
    return tuple(each / len(finished) for each in total)


def _shown(check: Check, names: dict[int, str], *, named: bool) -> Check:
    """With the names of bots, and without those of machines."""
    if check.name == "company":
        detail = tuple(
            {**each, "a_name": names[each["a"]], "b_name": names[each["b"]]} for each in check.detail
        )
        return replace(check, detail=detail)
    if check.detail and "worker" in check.detail[0] and not named:
        text, hidden = check.text, _numbered(check.detail)
        for each, other in zip(check.detail, hidden, strict=True):
            text = text.replace(f"on {each['worker']} ", f"on {other['worker']} ")
        return replace(check, text=text, detail=hidden)
    return check


def _numbered(detail: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple({**each, "worker": f"worker {number}"} for number, each in enumerate(detail, start=1))
