"""Finished matches to look at: every state of the table, and what others made of the same cards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from engine.match import Match as Game
from engine.record import Record
from engine.story import story
from engine.view import teams
from service import matches
from service.matches import Match
from service.tables import match as rows
from service.work import Arena


@dataclass(frozen=True, slots=True)
class Told:
    """A match from deal to deal. `rounds` are those of `engine.story`; its marks number the faults."""

    match: Match
    rules: dict[str, Any]
    players: int
    teams: list[list[int]] | None
    out: list[int]
    scores: list[int]
    places: list[int]
    rounds: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Hand:
    """What one seat made of its hand in one round."""

    bid: int
    taken: int
    points: int


@dataclass(frozen=True, slots=True)
class Table:
    """One match of a deal: who sat where, and round by round what each seat made of its hand."""

    match: Match
    sizes: list[int]  # cards a hand in each round
    rounds: list[list[Hand]]


def told(arena: Arena, match_id: str) -> Told:
    """A finished match in every state; raises `NotFound`, and `Conflict` until it is played."""
    shown = matches.match(arena, match_id)
    record = _record(arena, shown)
    game = record.replay()
    return Told(
        match=shown,
        rules=record.rules.spec(),
        players=record.players,
        teams=teams(game),
        out=list(record.out),
        scores=list(game.scores()),
        places=list(game.places(record.out)),
        rounds=story(record, [(fault["seat"], fault["decision"]) for fault in shown.faults]),
    )


def tables_of(arena: Arena, deal: Sequence[Match]) -> list[Table]:
    """Those of all matches on one deal (`matches.of_deal`) that are finished, in the order of the schedule.

    A seat's first cards are the same in all of them; who holds them moves on.
    """
    known = {each.number: each for each in deal}
    query = (
        select(rows.c.tournament_id, rows.c.number, rows.c.record)
        .where(rows.c.tournament_id == deal[0].tournament_id, rows.c.number.in_(known))
        .where(rows.c.status == "done")
        .order_by(rows.c.number)
    )
    with arena.read() as db:
        found = db.execute(query).all()
    records = matches.packed_records(arena, found)
    return [_table(known[row.number], record) for row, record in zip(found, records, strict=True)]


def _table(match: Match, record: bytes) -> Table:
    game = Record.unpack(record).replay()
    return Table(match, list(game.rounds), _hands(game))


def _hands(game: Game) -> list[list[Hand]]:
    return [
        [Hand(*each) for each in zip(played.bids, played.taken, played.scores(), strict=True)]
        for played in game.finished
    ]


def _record(arena: Arena, shown: Match) -> Record:
    key = (rows.c.tournament_id == shown.tournament_id, rows.c.number == shown.number)
    with arena.read() as db:
        row = db.execute(select(rows.c.tournament_id, rows.c.number, rows.c.record).where(*key)).one()
    if shown.status != "done":
        raise matches.unplayed(shown.id, shown.status, shown.trouble)
    return Record.unpack(matches.packed_record(arena, row))
