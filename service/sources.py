"""Code as it was uploaded: for who may read it, and for the workers that run it."""

from dataclasses import dataclass

from sqlalchemy import select

from service import bots
from service.accounts import Account
from service.errors import NotFound
from service.tables import bot as bot_rows
from service.tables import version as version_rows
from service.work import Arena


@dataclass(frozen=True, slots=True)
class Code:
    """An upload as it was sent."""

    filename: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Stored:
    """Code as a worker needs it."""

    filename: str
    kind: str
    content: bytes


def code(arena: Arena, caller: Account | None, bot_id: str, number: int) -> Code:
    """The upload as sent, for its owner, or for everybody if the source is public."""
    query = (
        select(
            version_rows.c.filename,
            version_rows.c.code,
            bot_rows.c.owner_id,
            bot_rows.c.public_source,
            bot_rows.c.house,
        )
        .join(bot_rows, bot_rows.c.id == version_rows.c.bot_id)
        .where(version_rows.c.bot_id == bot_id, version_rows.c.number == number)
    )
    with arena.read() as db:
        row = db.execute(query).first()
    if row is None or not bots.may_look(row, caller):
        raise NotFound(f"no version {number} of bot {bot_id}")
    return Code(row.filename, row.code)


def stored(arena: Arena, version_id: str) -> Stored:
    """A version's code for a worker; raises `NotFound`."""
    query = select(version_rows.c.filename, version_rows.c.kind, version_rows.c.code)
    with arena.read() as db:
        row = db.execute(query.where(version_rows.c.id == version_id)).first()
    if row is None:
        raise NotFound(f"no version {version_id}")
    return Stored(row.filename, row.kind, row.code)
