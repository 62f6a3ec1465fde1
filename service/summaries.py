"""What the desk has worked out of tournaments that are over, as it is kept: numbers, no names.

Nothing of such a tournament changes any more but names, which are put in when it is read. `VERSION` goes up
when the same matches give other numbers: what was worked out before is then worked out anew.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, and_, delete, insert, select

from service.stages import OVER
from service.tables import summary, tournament
from service.work import Work

VERSION = 1


def of_tournament(db: Connection, tournament_id: str) -> Mapping[str, Any] | None:
    """`standings` and `fairness`; None as long as it is not kept."""
    this = (summary.c.tournament_id == tournament_id, summary.c.version == VERSION)
    return db.scalar(select(summary.c.body).where(*this))


def missing(db: Connection) -> list[str]:
    """Those that are over and not kept yet, the latest first."""
    known = and_(summary.c.tournament_id == tournament.c.id, summary.c.version == VERSION)
    query = select(tournament.c.id).outerjoin(summary, known)
    over = query.where(tournament.c.status.in_(OVER), summary.c.tournament_id.is_(None))
    return list(db.scalars(over.order_by(tournament.c.finished_at.desc(), tournament.c.id)))


def keep(work: Work, tournament_id: str, body: Mapping[str, Any]) -> None:
    """Instead of what was."""
    work.db.execute(delete(summary).where(summary.c.tournament_id == tournament_id))
    work.db.execute(insert(summary).values(tournament_id=tournament_id, version=VERSION, body=dict(body)))
