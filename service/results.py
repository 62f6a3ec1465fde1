"""Finished matches as the pure folds want them: out of rows, in schedule order."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from service.standings import Result
from service.tables import entrant, match, seat, tournament


@dataclass(frozen=True, slots=True)
class Seated:
    """A finished match and, in seat order, which versions played it."""

    result: Result
    versions: tuple[str, ...]


def of_tournament(db: Connection, tournament_id: str, *, rated: bool = False) -> list[Seated]:
    """All finished matches of a tournament, or only those that are rated (no filler, a full table)."""
    only = (match.c.tournament_id == tournament_id, *([match.c.rated] if rated else []))
    return list(_matches(db, _select(*only)))


def of_pool(db: Connection, rules_key: str, players: int) -> Iterator[tuple[str, list[Seated]]]:
    """For every tournament of a pool, by id: its matches that are rated.

    Those in whole deal groups; of a tournament that its owner stopped all, or stopping at the right moment
    would pick which results count.
    """
    query = (
        select(tournament.c.id, tournament.c.duplicate, tournament.c.status)
        .where(tournament.c.rules_key == rules_key, tournament.c.players == players)
        .order_by(tournament.c.id)
    )
    for row in db.execute(query).all():
        size = 1 if row.status in ("paused", "cancelled") or not row.duplicate else players
        found = of_tournament(db, row.id, rated=True)
        yield row.id, found if size == 1 else whole_groups(found, size)


def whole_groups(found: list[Seated], size: int) -> list[Seated]:
    """Without the matches of groups that are not whole; a smaller table has fewer seats to rotate."""
    played: dict[int, int] = {}
    for each in found:
        played[each.result.group] = played.get(each.result.group, 0) + 1
    return [each for each in found if played[each.result.group] == min(size, len(each.result.entrants))]


def _select(*only: Any) -> "Select[Any]":
    same = (seat.c.tournament_id == match.c.tournament_id) & (seat.c.number == match.c.number)
    who = (entrant.c.tournament_id == seat.c.tournament_id) & (entrant.c.number == seat.c.entrant)
    return (
        select(match.c.number, match.c.deal_group, seat, entrant.c.version_id)
        .join(seat, same)
        .join(entrant, who)
        .where(match.c.status == "done", *only)
        .order_by(match.c.number, seat.c.seat)
    )


def _matches(db: Connection, query: "Select[Any]") -> Iterator[Seated]:
    for _, rows in groupby(db.execute(query), key=lambda row: row.number):
        yield _seated(list(rows))


def _seated(rows: "list[Row[Any]]") -> Seated:
    """Who has a team's seats counts once: with the lesser points and place of them, and all faults."""
    seats: dict[int, list[Row[Any]]] = {}
    for row in rows:
        seats.setdefault(row.entrant, []).append(row)
    each = list(seats.values())
    result = Result(
        group=rows[0].deal_group,
        entrants=tuple(seats),
        counted=tuple(min(row.counted for row in mine) for mine in each),
        exact_bids=tuple(mine[0].exact_bids for mine in each),
        places=_places([max(row.place for row in mine) for mine in each]),
        faults=tuple(sum(row.faults for row in mine) for mine in each),
        out=tuple(any(row.out for row in mine) for mine in each),
    )
    return Seated(result, tuple(mine[0].version_id for mine in each))


def _places(worst: list[int]) -> tuple[int, ...]:
    """Places among themselves: of two teams of two, the second has seats with place 3."""
    return tuple(1 + sum(other < place for other in worst) for place in worst)
