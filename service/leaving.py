"""Entrants leave: they withdraw or are disqualified.

Nobody gets points from somebody who leaves: deal groups that are whole stay, all others with it are void.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Connection, Row, delete, select, update

from service import names, stages
from service.accounts import Account
from service.entries import entered, seen, speaks_for_bots
from service.errors import Conflict, Forbidden, NotFound
from service.stages import OPEN, OVER, WAITING
from service.tables import bot, entrant, match
from service.tables import tournament as rows
from service.work import Arena, Work

log = structlog.get_logger(__name__)
CHUNK = 500  # groups named in one statement


def withdraw(arena: Arena, caller: Account, tournament_id: str, bot_id: str) -> None:
    """Take a bot out: its author, or before the start its organiser as well. Again: no harm."""
    with arena.read(steady=True) as db:
        _may_withdraw(db, caller, seen(db, caller, tournament_id, lock=False), bot_id)
        known = _open_with(db, tournament_id, bot_id)
    with arena.work() as work:
        row = seen(work.db, caller, tournament_id)
        mine = _may_withdraw(work.db, caller, row, bot_id)
        if row.status in WAITING:
            here = entered(work.db, tournament_id)
            _take_out(work, here, [each for each in mine if each.status == "in"])
        else:
            _leave(work, tournament_id, mine, "withdrawn", None, known)
    _go_on(arena, tournament_id, bot_id, "withdrawn")


def disqualify(arena: Arena, caller: Account, tournament_id: str, bot_id: str, reason: str) -> None:
    """Take a bot out for a reason that everybody is told; the organiser's. Again: the first reason stays."""
    told = names.line("reason", reason, 200)
    with arena.read(steady=True) as db:
        _may_disqualify(db, caller, seen(db, caller, tournament_id, lock=False), bot_id)
        known = _open_with(db, tournament_id, bot_id)
    with arena.work() as work:
        mine = _may_disqualify(work.db, caller, seen(work.db, caller, tournament_id), bot_id)
        _leave(work, tournament_id, mine, "disqualified", told, known)
    _go_on(arena, tournament_id, bot_id, "disqualified")


def _may_withdraw(db: Connection, caller: Account, row: "Row[Any]", bot_id: str) -> "list[Row[Any]]":
    """The bot's places in a tournament that the caller may take it out of."""
    mine = _mine(db, row.id, bot_id)
    owner = db.scalar(select(bot.c.owner_id).where(bot.c.id == bot_id)) or ""
    organises = caller.may_organise(row.owner_id)
    if not (organises and row.status in WAITING):
        speaks_for_bots(caller)
    if not caller.may_change(owner) and not (organises and row.status in WAITING):
        reason = "only its author withdraws a bot; the organiser may disqualify it"
        raise Forbidden(reason if organises else "this is another account's bot")
    _still_on(row)
    return mine


def _may_disqualify(db: Connection, caller: Account, row: "Row[Any]", bot_id: str) -> "list[Row[Any]]":
    """The same for the organiser."""
    if not caller.may_change(row.owner_id):
        raise Forbidden(f"{row.name} is another account's tournament")
    _still_on(row)
    return _mine(db, row.id, bot_id)


def _still_on(row: "Row[Any]") -> None:
    if row.status in OVER:
        raise Conflict(f"{row.name} is {row.status}; nobody leaves it any more")


def _mine(db: Connection, tournament_id: str, bot_id: str) -> "list[Row[Any]]":
    found = [each for each in entered(db, tournament_id) if each.bot_id == bot_id]
    if not found:
        name = db.scalar(select(bot.c.name).where(bot.c.id == bot_id))
        raise NotFound(f"{name} is not entered" if name else f"no bot {bot_id}")
    return found


def _take_out(work: Work, here: "Sequence[Row[Any]]", mine: "Sequence[Row[Any]]") -> None:
    """Before the start there is no trace of it; the others move up, so numbers stay whole."""
    for each in mine:
        key = (entrant.c.tournament_id == each.tournament_id, entrant.c.number == each.number)
        work.db.execute(delete(entrant).where(*key))
    stay = [each.number for each in here if each not in mine]
    for number, old in enumerate(stay):
        key = (entrant.c.tournament_id == here[0].tournament_id, entrant.c.number == old)
        if number != old:
            work.db.execute(update(entrant).where(*key).values(number=number))


@dataclass(frozen=True, slots=True)
class _Open:
    """Deal groups that are not played out with one of these entrants, among matches before `until`."""

    numbers: frozenset[int]
    until: int
    groups: frozenset[int]


def _open_with(db: Connection, tournament_id: str, bot_id: str) -> _Open:
    """Looked up while nothing is locked: who sits in a match never changes, and there may be very many."""
    until = db.scalar(select(rows.c.written).where(rows.c.id == tournament_id)) or 0
    numbers = _staying(_mine(db, tournament_id, bot_id))
    groups = _groups(db, tournament_id, numbers, match.c.number < until) if numbers else frozenset()
    return _Open(numbers, until, groups)


def _staying(mine: "Sequence[Row[Any]]") -> frozenset[int]:
    return frozenset(each.number for each in mine if each.status == "in")


def _groups(db: Connection, tournament_id: str, numbers: Collection[int], *only: Any) -> frozenset[int]:
    columns = (match.c.deal_group, match.c.entrants)
    still = select(*columns).where(match.c.tournament_id == tournament_id, match.c.status.in_(OPEN), *only)
    return frozenset(row.deal_group for row in db.execute(still) if not set(numbers).isdisjoint(row.entrants))


def _leave(
    work: Work,
    tournament_id: str,
    mine: "Sequence[Row[Any]]",
    status: str,
    reason: str | None,
    known: _Open,
) -> None:
    """Mark it, and make void what it would still have to play: as known, and what was written since."""
    numbers = _staying(mine)
    if not numbers:
        return
    key = (entrant.c.tournament_id == tournament_id, entrant.c.number.in_(numbers))
    left = {"status": status, "reason": reason, "left_at": work.now}
    work.db.execute(update(entrant).where(*key).values(left))
    if numbers == known.numbers:
        groups = sorted(
            known.groups | _groups(work.db, tournament_id, numbers, match.c.number >= known.until)
        )
    else:  # the entrants changed just now
        groups = sorted(_groups(work.db, tournament_id, numbers))
    for first in range(0, len(groups), CHUNK):
        stages.void(work, tournament_id, match.c.deal_group.in_(groups[first : first + CHUNK]))


def _go_on(arena: Arena, tournament_id: str, bot_id: str, status: str) -> None:
    log.info("left", tournament=tournament_id, bot=bot_id, status=status)
    stages.advance(arena, tournament_id)
