"""A pool's places over time: who stood where in its snapshots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from service.tables import bot, snapshot
from service.work import Arena


@dataclass(frozen=True, slots=True)
class Course:
    """A bot's places: (when, place) where it had one, oldest first."""

    bot_id: str
    name: str
    points: list[tuple[datetime, int]]


def courses(
    arena: Arena, *, rules: str, players: int, bots: Sequence[str], snapshots: int = 30
) -> list[Course]:
    """The places of some bots, each by its newest version then, in so many of the pool's snapshots."""
    pool = (snapshot.c.rules_key == rules, snapshot.c.players == players)
    with arena.read() as db:
        ids = db.scalars(select(snapshot.c.id).where(*pool).order_by(snapshot.c.id)).all()
        chosen = snapshot.c.id.in_(_spread(ids, snapshots))
        columns = (snapshot.c.created_at, snapshot.c.body)
        found = db.execute(select(*columns).where(chosen).order_by(snapshot.c.id)).all()
        names = {
            row.id: row.name for row in db.execute(select(bot.c.id, bot.c.name).where(bot.c.id.in_(bots)))
        }
    places = [(row.created_at, _places(row.body)) for row in found]
    return [
        Course(each, names[each], [(at, known[each]) for at, known in places if each in known])
        for each in bots
        if each in names
    ]


def _spread(ids: Sequence[int], most: int) -> list[int]:
    """So many of these, evenly, the first and the last among them."""
    if len(ids) <= most:
        return list(ids)
    return [ids[index * (len(ids) - 1) // (most - 1)] for index in range(most)]


def _places(body: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Places of bots in a snapshot, each by the newest version whose rating is settled."""
    newest: dict[str, int] = {}
    settled = [line["version_id"].rpartition(":") for line in body if not line["provisional"]]
    for bot_id, _, number in settled:
        newest[bot_id] = max(newest.get(bot_id, 0), int(number))
    ranked = [bot_id for bot_id, _, number in settled if newest[bot_id] == int(number)]
    return {bot_id: place for place, bot_id in enumerate(ranked, start=1)}
