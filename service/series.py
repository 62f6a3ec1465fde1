"""Tournaments that repeat by a cron line (UTC): each, when it starts, makes the next one of its series.

So none is made twice, and of those whose time passed while nothing ran only one is played. None begins while
an earlier one of its series is still being played: or each would add to what waits, beyond any quota.
"""

import secrets
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from cronsim import CronSim, CronSimError
from sqlalchemy import ColumnElement, Connection, Row, exists, insert, or_, select

from service import names
from service.errors import Invalid
from service.tables import entrant, tournament
from service.work import Work

LEAST_APART = timedelta(minutes=10)
SECRET_BYTES = 32
ANEW = (
    "stage",
    "planned",
    "groups",
    "written",
    "more",
    "plan",
    "started_at",
    "finished_at",
    "claimed_at",
    "reason",
)


def line(field: str, text: str) -> str:
    """A cron line that can be kept; raises `Invalid` for `field`."""
    right = 'must be a cron line of five parts, UTC, such as "0 18 * * 1" for Mondays at 18:00'
    clean = names.line(field, text, 100)
    try:
        times = CronSim(clean, datetime(2030, 1, 1))
        found = [next(times) for _ in range(50)]
    except (CronSimError, StopIteration) as error:
        raise Invalid({field: [right]}) from error
    if min(after - before for before, after in pairwise(found)) < LEAST_APART:
        raise Invalid({field: ["must leave at least 10 minutes between two starts"]})
    return clean


def following(text: str, moment: datetime) -> datetime:
    """The next time after a moment."""
    return next(CronSim(text, moment))


def busy() -> "ColumnElement[bool]":
    """Whether another of the same series as a row of `tournament` is being played."""
    other = tournament.alias("other")
    same = or_(other.c.series == tournament.c.series, other.c.id == tournament.c.series)
    return exists().where(same, other.c.id != tournament.c.id, other.c.status.in_(("running", "paused")))


def is_busy(db: Connection, tournament_id: str) -> bool:
    """The same for one tournament."""
    return bool(db.scalar(select(tournament.c.id).where(tournament.c.id == tournament_id, busy())))


def follow(work: Work, row: "Row[Any]") -> str | None:
    """Make the tournament that comes after this one, if it repeats: the same but for its seed and secret."""
    if row.repeat is None:
        return None
    begin = following(row.repeat, max(work.now, row.start_at or work.now))
    shift = begin - (row.start_at or work.now)
    made = {
        **{key: value for key, value in row._mapping.items() if key not in ANEW},
        "id": names.new_id("t"),
        "status": "scheduled",
        "seed": secrets.token_hex(16),
        "secret": secrets.token_bytes(SECRET_BYTES),
        "series": row.series or row.id,
        "start_at": begin,
        "entry_deadline": row.entry_deadline and row.entry_deadline + shift,
        "created_at": work.now,
    }
    work.db.execute(insert(tournament).values(made))
    columns = (entrant.c.bot_id, entrant.c.version_id)
    listed = select(*columns).where(entrant.c.tournament_id == row.id, entrant.c.status == "in")
    entries = work.db.execute(listed.where(~entrant.c.filler).order_by(entrant.c.number)).all()
    for number, each in enumerate(entries):
        work.db.execute(insert(entrant).values(tournament_id=made["id"], number=number, **each._mapping))
    return str(made["id"])
