"""The house's own bots: always there, opponents in trials, and who fills a table."""

import hashlib

from sqlalchemy import select, update

from engine import bots as engine_bots
from service import accounts, bots, names
from service.tables import bot as bot_rows
from service.tables import version as version_rows
from service.work import Arena, Work


def ensure(arena: Arena) -> None:
    """The house bots in their present form, ready to play; nothing happens when they are there."""
    with arena.work() as work:
        keeper = accounts.by_name(work, accounts.HOUSE)
        if keeper is None:
            keeper, _ = accounts.create(work, name=accounts.HOUSE, role=accounts.Role.AUTHOR)
        for name in engine_bots.NAMES:
            _ensure_bot(work, keeper.id, name, engine_bots.source(name).encode())


def _ensure_bot(work: Work, keeper: str, name: str, content: bytes) -> None:
    filename, ours = f"{name}.py", [name, f"house {name}"]
    query = select(bot_rows.c.id).where(bot_rows.c.name_key.in_(ours), bot_rows.c.house)
    bot_id = work.db.scalar(query)
    if bot_id is None:
        bot_id = names.new_id("bot")
        if work.db.scalar(select(bot_rows.c.id).where(bot_rows.c.name_key == name)) is not None:
            name = ours[1]  # an author was first
        row = {"id": bot_id, "owner_id": keeper, "name": name, "name_key": names.key(name), "house": True}
        bots.insert_bot(work, {**row, "description": "a house bot", "public_source": True})
    known = select(version_rows.c.number, version_rows.c.sha256).where(version_rows.c.bot_id == bot_id)
    newest = max(work.db.execute(known).all(), default=None)
    if newest is None or newest.sha256 != hashlib.sha256(content).hexdigest():
        made = bots.insert_version(work, bot_id, newest.number + 1 if newest else 1, "py", filename, content)
        ready = {"status": "ready", "checked_at": work.now}
        work.db.execute(update(version_rows).where(version_rows.c.id == made).values(ready))
