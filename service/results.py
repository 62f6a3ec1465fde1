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


def of_tournament(db: Connection, tournament_id: str) -> list[Seated]:
    """All finished matches of a tournament."""
    return list(_matches(db, _select().where(match.c.tournament_id == tournament_id)))


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
        found = of_tournament(db, row.id)
        yield row.id, found if size == 1 else whole_groups(found, size)


def whole_groups(found: list[Seated], size: int) -> list[Seated]:
    """Without the matches of groups that are not whole."""
    played: dict[int, int] = {}
    for each in found:
        played[each.result.group] = played.get(each.result.group, 0) + 1
    return [each for each in found if played[each.result.group] == size]


def _select() -> "Select[Any]":
    same = (seat.c.tournament_id == match.c.tournament_id) & (seat.c.number == match.c.number)
    who = (entrant.c.tournament_id == seat.c.tournament_id) & (entrant.c.number == seat.c.entrant)
    return (
        select(match.c.number, match.c.deal_group, seat, entrant.c.version_id)
        .join(seat, same)
        .join(entrant, who)
        .where(match.c.status == "done")
        .order_by(match.c.number, seat.c.seat)
    )


def _matches(db: Connection, query: "Select[Any]") -> Iterator[Seated]:
    for _, rows in groupby(db.execute(query), key=lambda row: row.number):
        yield _seated(list(rows))


def _seated(rows: "list[Row[Any]]") -> Seated:
    result = Result(
        group=rows[0].deal_group,
        entrants=tuple(row.entrant for row in rows),
        counted=tuple(row.counted for row in rows),
        exact_bids=tuple(row.exact_bids for row in rows),
        places=tuple(row.place for row in rows),
        faults=tuple(row.faults for row in rows),
        out=tuple(row.out for row in rows),
    )
    return Seated(result, tuple(row.version_id for row in rows))
