"""A pool's places over time: who stood where after its tournaments."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from service.rating_models import DEFAULT
from service.tables import bot, rating, snapshot, version
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
    """The places of some bots, each by its newest version then, after so many of the pool's tournaments."""
    pool = (snapshot.c.rules_key == rules, snapshot.c.players == players, snapshot.c.model == DEFAULT)
    finals = select(snapshot.c.id).where(*pool, snapshot.c.final).order_by(snapshot.c.id)
    query = (
        select(version.c.bot_id, bot.c.name, snapshot.c.created_at, rating.c.place)
        .join(snapshot, snapshot.c.id == rating.c.snapshot_id)
        .join(version, version.c.id == rating.c.version_id)
        .join(bot, bot.c.id == version.c.bot_id)
        .where(version.c.bot_id.in_(bots), rating.c.place.is_not(None))
        .order_by(snapshot.c.id)
    )
    with arena.read() as db:
        chosen = rating.c.snapshot_id.in_(_spread(db.scalars(finals).all(), snapshots))
        found = db.execute(query.where(chosen)).all()
    points: dict[str, Course] = {row.bot_id: Course(row.bot_id, row.name, []) for row in found}
    for row in found:
        points[row.bot_id].points.append((row.created_at, row.place))
    return [points[each] for each in bots if each in points]


def _spread(ids: Sequence[int], most: int) -> list[int]:
    """So many of these, evenly, the first and the last among them."""
    if len(ids) <= most:
        return list(ids)
    return [ids[index * (len(ids) - 1) // (most - 1)] for index in range(most)]
