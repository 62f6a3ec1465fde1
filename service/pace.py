"""How fast a tournament's matches come in: by the latest ones, as workers come and go.

While nothing of it was played for long, it was paused or the service was away: that is no part of its pace.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, func, select, union_all

from service.tables import match

LATEST = 100  # matches looked at
STILL = timedelta(minutes=1)  # without play; waiting for others to have their turn takes seconds
Play = tuple[datetime, datetime]  # begun, done


def latest(db: Connection, tournament_ids: Collection[str]) -> dict[str, list[Play]]:
    """The matches done last, of each of these tournaments."""
    parts = [_latest(each).subquery() for each in tournament_ids]
    found: dict[str, list[Play]] = {each: [] for each in tournament_ids}
    if parts:
        for row in db.execute(union_all(*(select(part) for part in parts))):
            found[row.tournament_id].append((row.started_at, row.finished_at))
    return found


def a_match(plays: Sequence[Play], started_at: datetime, now: datetime) -> timedelta | None:
    """The time from one result to the next, by the latest plays; None before there are any.

    They are counted from the earliest one's end on, or from the tournament's start where they are all it has.
    """
    whole = len(plays) < LATEST
    since = started_at if whole else min((done for _, done in plays))
    count = len(plays) if whole else len(plays) - 1
    taken = now - since - _still(plays, since, now)
    return max(taken, timedelta()) / count if count else None  # clocks of workers may be ahead of ours


def _still(plays: Sequence[Play], since: datetime, now: datetime) -> timedelta:
    """How long nothing was played, without the short whiles."""
    end, still = since, timedelta()
    for begun, done in (*sorted(plays), (now, now)):
        if begun - end > STILL:
            still += begun - end
        end = max(end, done)
    return still


def _latest(tournament_id: str) -> "Select[Any]":
    done = (match.c.status == "done", match.c.finished_at.is_not(None))
    begun = func.coalesce(match.c.started_at, match.c.finished_at)
    return (
        select(match.c.tournament_id, begun.label("started_at"), match.c.finished_at)
        .where(match.c.tournament_id == tournament_id, *done)
        .order_by(match.c.finished_at.desc(), match.c.number.desc())
        .limit(LATEST)
    )
