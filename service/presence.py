"""Which workers are there: each says so every few seconds, and who falls silent is forgotten."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from service.tables import worker
from service.work import Arena, Work

SILENT = timedelta(seconds=30)
FORGOTTEN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that plays matches, in the sandbox mode it has."""

    name: str
    mode: str | None
    detail: dict[str, Any]
    started_at: datetime
    seen_at: datetime


def host(name: str) -> str:
    """The machine (or pod) a worker of this name runs on: HOST-BIRTH-NUMBER-PROCESS."""
    return name.rsplit("-", 3)[0]


def here(arena: Arena, name: str, mode: str | None, detail: Mapping[str, Any]) -> None:
    """A worker says that it is there, and how it runs bots (`mode` None: it cannot, `detail` says why)."""
    with arena.work() as work:
        seen = {"mode": mode, "detail": dict(detail), "seen_at": work.now}
        if not work.db.execute(update(worker).where(worker.c.name == name).values(seen)).rowcount:
            work.db.execute(insert(worker).values(**seen, name=name, started_at=work.now))


def gone(arena: Arena, name: str) -> None:
    """A worker says goodbye."""
    with arena.work() as work:
        work.db.execute(delete(worker).where(worker.c.name == name))


def workers(db: Connection, now: datetime) -> list[Worker]:
    """Those heard of lately, by name."""
    query = select(worker).where(worker.c.seen_at > now - SILENT).order_by(worker.c.name)
    return [Worker(row.name, row.mode, row.detail, row.started_at, row.seen_at) for row in db.execute(query)]


def slots(db: Connection, now: datetime) -> int:
    """Matches that can be played at once."""
    there = (worker.c.seen_at > now - SILENT, worker.c.mode.is_not(None))
    return db.scalar(select(func.count()).select_from(worker).where(*there)) or 0


def forget(work: Work) -> None:
    """Drop those not heard of for long."""
    work.db.execute(delete(worker).where(worker.c.seen_at < work.now - FORGOTTEN))
