"""The check of a new version: claimed under a lease, its verdict written once."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog
from sqlalchemy import Select, or_, select, update

from service.jobs import CHECK, Job
from service.tables import bot, version
from service.work import Arena, Work

log = structlog.get_logger(__name__)
LEASE = timedelta(seconds=120)  # a trial match of bots that use all their time ends well before
AGAIN = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Trial:
    """A version to be checked, by the holder of `token` alone."""

    version_id: str
    token: str
    bot: str
    filename: str
    kind: str
    code: bytes


def claim(arena: Arena, version_id: str) -> Trial | None:
    """The check of a version, unless it is done or somebody is at it."""
    token = secrets.token_hex(16)
    with arena.work() as work:
        free = or_(version.c.lease_until.is_(None), version.c.lease_until < work.now)
        wanted = (version.c.id == version_id, version.c.status == "checking", free)
        if _owner_is_served(work, version_id):
            return None
        lease = {"lease_token": token, "lease_until": work.now + LEASE, "attempts": version.c.attempts + 1}
        if not work.db.execute(update(version).where(*wanted).values(lease)).rowcount:
            return None
        columns = (version.c.filename, version.c.kind, version.c.code, bot.c.name)
        query = select(*columns).join(bot, bot.c.id == version.c.bot_id).where(version.c.id == version_id)
        row = work.db.execute(query).one()
    return Trial(version_id, token, row.name, row.filename, row.kind, row.code)


def _owner_is_served(work: Work, version_id: str) -> bool:
    """Whether another check of the same owner is under way: nobody's uploads keep all workers busy."""
    busy = _checking_of_owner(version_id).where(
        version.c.lease_until > work.now, version.c.lease_token.is_not(None)
    )
    return work.db.execute(busy.limit(1)).first() is not None


def _next_of_owner(version_id: str) -> "Select[Any]":
    return _checking_of_owner(version_id).order_by(version.c.created_at).limit(1)


def _checking_of_owner(version_id: str) -> "Select[Any]":
    """The owner's other versions that are not checked yet."""
    this = version.alias("this")
    of_this = select(bot.c.owner_id).join(this, this.c.bot_id == bot.c.id).where(this.c.id == version_id)
    return (
        select(version.c.id)
        .join(bot, bot.c.id == version.c.bot_id)
        .where(version.c.status == "checking", version.c.id != version_id)
        .where(bot.c.owner_id == of_this.correlate(None).scalar_subquery())
    )


def record_check(arena: Arena, trial: Trial, *, ready: bool, report: Mapping[str, Any]) -> bool:
    """The verdict, written once; False if the lease was lost to somebody else."""
    verdict = {"status": "ready" if ready else "rejected", "report": dict(report), "lease_until": None}
    with arena.work() as work:
        held = (
            version.c.id == trial.version_id,
            version.c.lease_token == trial.token,
            version.c.status == "checking",
        )
        written = work.db.execute(
            update(version).where(*held).values(**verdict, checked_at=work.now)
        ).rowcount
        if (following := work.db.scalar(_next_of_owner(trial.version_id))) is not None:
            work.send(Job(CHECK, (following,)))
    if not written:
        log.warning("late_verdict_refused", version=trial.version_id)
    return bool(written)


def give_back(arena: Arena, trial: Trial, trouble: str) -> None:
    """We failed, not the bot: the check is free again, a little later each time."""
    with arena.work() as work:
        held = (
            version.c.id == trial.version_id,
            version.c.lease_token == trial.token,
            version.c.status == "checking",
        )
        attempts = work.db.scalar(select(version.c.attempts).where(version.c.id == trial.version_id)) or 1
        later = work.now + min(attempts, 60) * AGAIN
        work.db.execute(update(version).where(*held).values(lease_token=None, lease_until=later))
    log.error("check_failed_by_us", version=trial.version_id, attempt=attempts, trouble=trouble)


def resend(work: Work) -> int:
    """Have every check that nobody is at sent (again); how many."""
    overdue = or_(version.c.lease_until < work.now, version.c.lease_until.is_(None))
    waiting = (version.c.status == "checking", version.c.created_at < work.now - AGAIN, overdue)
    due = work.db.scalars(select(version.c.id).where(*waiting).order_by(version.c.created_at).limit(64)).all()
    for version_id in due:
        work.send(Job(CHECK, (version_id,)))
    return len(due)
