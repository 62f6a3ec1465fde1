"""What bots did wrong in their matches, as their authors see it."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, select, tuple_

from service import paging
from service.accounts import Account
from service.errors import NotFound
from service.paging import Micros, Page
from service.tables import bot, fault, version
from service.tables import match as rows
from service.work import Arena


@dataclass(frozen=True, slots=True)
class BotFault:
    """What went wrong, as the bot's owner sees it; `replay` plays that very match again at home."""

    match_id: str
    seat: int
    round: int
    trick: int
    decision: int
    kind: str
    asked: str
    text: str
    out: bool
    evidence: dict[str, Any]
    replay: str


def of_version(
    arena: Arena, caller: Account, bot_id: str, number: int, *, limit: int = 50, cursor: str | None = None
) -> Page[BotFault]:
    """What went wrong with a version in matches, newest match first; for its owner."""
    after = paging.read(cursor, Micros, str, int, int)
    with arena.read() as db:
        query = select(bot.c.owner_id).join(version, version.c.bot_id == bot.c.id)
        owner = db.scalar(query.where(bot.c.id == bot_id, version.c.number == number))
        if owner is None or not caller.may_change(owner):
            raise NotFound(f"no version {number} of bot {bot_id}")
        found = db.execute(_faults(f"{bot_id}:{number}", after).limit(limit + 1)).all()
    return paging.cut(found, limit, _fault_key, _bot_fault)


def _faults(version_id: str, after: list[Any] | None) -> Any:
    key = (rows.c.finished_at, fault.c.tournament_id, fault.c.number, fault.c.ordinal)
    same = (rows.c.tournament_id == fault.c.tournament_id) & (rows.c.number == fault.c.number)
    query = select(fault, rows.c.finished_at).join(rows, same).where(fault.c.version_id == version_id)
    if after is not None:
        query = query.where(tuple_(*key) < paging.row(key, [paging.moment(after[0]), *after[1:]]))
    return query.order_by(*(column.desc() for column in key))


def _fault_key(row: "Row[Any]") -> list[int | str]:
    return [paging.micros(row.finished_at), row.tournament_id, row.number, row.ordinal]


def _bot_fault(row: "Row[Any]") -> BotFault:
    same = ("seat", "round", "trick", "decision", "kind", "asked", "text", "out", "evidence")
    values = {name: getattr(row, name) for name in same}
    match_id = f"{row.tournament_id}-{row.number}"
    again = f"rage reproduce {match_id} --seat {row.seat}"
    return BotFault(**values, match_id=match_id, replay=again)
