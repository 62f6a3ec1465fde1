"""What went wrong with us, not with a bot: rows for the operator, counted, forgotten after a month."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection, delete, func, insert, select

from service.tables import incident
from service.work import Work

log = structlog.get_logger(__name__)
KEPT = timedelta(days=30)
LATE, SILENT, FAILED, HANDED_BACK = "late_result_refused", "lease_expired", "match_failed", "handed_back"
LATE_VERDICT, UNCHECKED = "late_verdict_refused", "version_set_aside"
KINDS = (LATE, SILENT, FAILED, HANDED_BACK, LATE_VERDICT, UNCHECKED)


@dataclass(frozen=True, slots=True)
class Incident:
    """One of them; `about` is a match's or a version's id."""

    kind: str
    about: str
    worker: str | None
    text: str | None
    at: datetime


def note(work: Work, kind: str, about: str, *, worker: str | None = None, text: str | None = None) -> None:
    """Keep it, and say it in the log."""
    log.warning(kind, about=about, worker=worker, text=text)
    row = {"kind": kind, "about": about, "worker": worker, "text": text, "at": work.now}
    work.db.execute(insert(incident).values(row))


def counts(db: Connection) -> dict[str, int]:
    """How many of each kind are kept; a kind that never happened is 0."""
    found = db.execute(select(incident.c.kind, func.count()).group_by(incident.c.kind))
    return dict.fromkeys(KINDS, 0) | {row[0]: row[1] for row in found}


def newest(db: Connection, kind: str, most: int) -> list[Incident]:
    """The last ones of a kind, the newest first."""
    query = select(incident).where(incident.c.kind == kind).order_by(incident.c.id.desc()).limit(most)
    return [Incident(row.kind, row.about, row.worker, row.text, row.at) for row in db.execute(query)]


def forget(work: Work) -> None:
    """Drop the old ones."""
    work.db.execute(delete(incident).where(incident.c.at < work.now - KEPT))
