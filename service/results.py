"""Finished matches as the pure folds want them: out of rows, in schedule order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, select

from service.standings import Result
from service.tables import entrant, match, seat, tournament
from service.tally import Game

SAME = (seat.c.tournament_id == match.c.tournament_id) & (seat.c.number == match.c.number)
WHO = (entrant.c.tournament_id == seat.c.tournament_id) & (entrant.c.number == seat.c.entrant)
RATED = (match.c.status == "done", match.c.rated)
PLAYED = (match.c.number, match.c.deal_group, seat.c.entrant, seat.c.place, seat.c.counted, seat.c.out)
RULES = select(tournament.c.rules).where(tournament.c.id == bindparam("this"))
OF_DEALS = (
    select(*PLAYED, entrant.c.version_id)
    .select_from(match)
    .join(seat, SAME)
    .join(entrant, WHO)
    .where(
        match.c.tournament_id == bindparam("this"),
        match.c.deal_group.in_(bindparam("deals", expanding=True)),
        *RATED,
    )
    .order_by(match.c.number, seat.c.seat)
)


@dataclass(frozen=True, slots=True)
class Seated:
    """A finished match and, in seat order, which versions played it."""

    result: Result
    versions: tuple[str, ...]


def of_tournament(db: Connection, tournament_id: str) -> list[Seated]:
    """All finished matches of a tournament."""
    return list(_matches(db, _select(match.c.tournament_id == tournament_id)))


def games(db: Connection, tournament_id: str, *where: "ColumnElement[bool]") -> Iterator[Game]:
    """The finished matches of a tournament that are rated, as ratings want them, in schedule order.

    Those at full tables without fillers. A team's seats are one player; whoever sits at a table against
    itself is not rated there.
    """
    teams = "teams" in (db.scalar(RULES, {"this": tournament_id}) or {})
    numbers = select(entrant.c.number, entrant.c.version_id).where(entrant.c.tournament_id == tournament_id)
    version = {row.number: row.version_id for row in db.execute(numbers)}
    query = (
        select(*PLAYED)
        .join(seat, SAME)
        .where(match.c.tournament_id == tournament_id, *RATED, *where)
        .order_by(match.c.number, seat.c.seat)
    )
    return _games(db.execute(query), version, teams=teams)


def games_of(db: Connection, tournament_id: str, deals: Sequence[int], *, teams: bool) -> Iterator[Game]:
    """The same of a few deals, which are asked for after every match."""
    rows = db.execute(OF_DEALS, {"this": tournament_id, "deals": deals}).all()
    version = {row.entrant: row.version_id for row in rows}
    return _games((row[:6] for row in rows), version, teams=teams)


def _games(found: Iterable[Any], version: Mapping[int, str], *, teams: bool) -> Iterator[Game]:
    for (_, group), rows in groupby(found, key=itemgetter(0, 1)):
        _, _, who, places, counted, out = zip(*rows, strict=True)
        if teams:
            who, places, counted, out = _teams(who, places, counted, out)
        if len(set(who)) == len(who) > 1:
            yield Game(group, tuple(version[each] for each in who), places, counted, out)


def _teams(*columns: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The seats of one entrant as one: with the worst place and points of them, out if one of them was.

    Not left unrated when they differ, or a bot could lose a seat on purpose where it would lose the match.
    """
    held: dict[Any, list[Any]] = {}
    for who, place, counted, out in zip(*columns, strict=True):
        seat = held.setdefault(who, [who, place, counted, out])
        seat[1:] = max(seat[1], place), min(seat[2], counted), seat[3] or out
    return list(zip(*held.values(), strict=True))


def _select(*only: Any) -> "Select[Any]":
    return (
        select(match.c.number, match.c.deal_group, seat, entrant.c.version_id)
        .join(seat, SAME)
        .join(entrant, WHO)
        .where(match.c.status == "done", *only)
        .order_by(match.c.number, seat.c.seat)
    )


def _matches(db: Connection, query: "Select[Any]") -> Iterator[Seated]:
    for _, rows in groupby(db.execute(query), key=lambda row: row.number):
        yield _seated(list(rows))


def _seated(rows: "list[Row[Any]]") -> Seated:
    versions = {row.entrant: row.version_id for row in reversed(rows)}
    result = result_of(rows[0].deal_group, rows)
    return Seated(result, tuple(versions[each] for each in result.entrants))


def result_of(group: int, rows: Iterable[Any]) -> Result:
    """A match's result out of its seats, which have the columns of `seat`.

    Who has a team's seats counts once: with the lesser points and place of them, and all faults.
    """
    seats: dict[int, list[Any]] = {}
    for row in rows:
        seats.setdefault(row.entrant, []).append(row)
    each = list(seats.values())
    return Result(
        group=group,
        entrants=tuple(seats),
        counted=tuple(min(row.counted for row in mine) for mine in each),
        exact_bids=tuple(mine[0].exact_bids for mine in each),
        places=_places([max(row.place for row in mine) for mine in each]),
        faults=tuple(sum(row.faults for row in mine) for mine in each),
        out=tuple(any(row.out for row in mine) for mine in each),
    )


def _places(worst: list[int]) -> tuple[int, ...]:
    """Places among themselves: of two teams of two, the second has seats with place 3."""
    return tuple(1 + sum(other < place for other in worst) for place in worst)
