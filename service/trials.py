"""The check of a new version: claimed under a lease, its verdict written once.

Its lease is renewed and watched like a match's (`watch.py`). A check that ends three times without a verdict
is not begun again: nobody knows that it was the bot's doing, so the report says just that.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Select, and_, or_, select, update

from service import incidents, watch
from service.jobs import CHECK, Job
from service.tables import account, bot, version
from service.work import Arena, Work

AGAIN = timedelta(seconds=5)
MOST_ATTEMPTS = 3
MOST_SENT = 64
CHECKING = version.c.status == "checking"


@dataclass(frozen=True, slots=True)
class Trial:
    """A version to be checked, by the holder of `token` alone."""

    version_id: str
    token: str
    bot: str
    filename: str
    kind: str
    code: bytes


def claim(arena: Arena, version_id: str, worker: str = "") -> Trial | None:
    """The check of a version, unless it is done or somebody is at it."""
    token = secrets.token_hex(16)
    with arena.work() as work:
        _lock_owner(work, version_id)
        if _owner_is_served(work, version_id):
            return None
        wanted = (version.c.id == version_id, CHECKING, _free(work))
        lease = {"lease_token": token, "lease_worker": worker, "attempts": version.c.attempts + 1}
        until = work.now + timedelta(seconds=arena.settings.lease_seconds)
        if not work.db.execute(update(version).where(*wanted).values(**lease, lease_until=until)).rowcount:
            return None
        columns = (version.c.filename, version.c.kind, version.c.code, bot.c.name)
        query = select(*columns).join(bot, bot.c.id == version.c.bot_id).where(version.c.id == version_id)
        row = work.db.execute(query).one()
    return Trial(version_id, token, row.name, row.filename, row.kind, row.code)


def renew(arena: Arena, trial: Trial) -> bool:
    """Hold on to a check that still goes on; False if it was lost."""
    with arena.work() as work:
        until = work.now + timedelta(seconds=arena.settings.lease_seconds)
        return bool(work.db.execute(update(version).where(_held(trial)).values(lease_until=until)).rowcount)


def record_check(arena: Arena, trial: Trial, *, ready: bool, report: Mapping[str, Any]) -> bool:
    """The verdict, written once; False if the lease was lost to somebody else."""
    verdict = {"status": "ready" if ready else "rejected", "report": dict(report), "lease_until": None}
    with arena.work() as work:
        values = {**verdict, "lease_token": None, "checked_at": work.now}
        written = work.db.execute(update(version).where(_held(trial)).values(values)).rowcount
        if not written:
            incidents.note(work, incidents.LATE_VERDICT, trial.version_id)
        if (following := work.db.scalar(_next_of_owner(trial.version_id))) is not None:
            work.send(Job(CHECK, (following,)))
    return bool(written)


def give_back(arena: Arena, trial: Trial, trouble: str, *, counts: bool = True) -> None:
    """We failed, not the bot: the check is free again, a little later each time.

    Not `counts`: a stopping worker or a sick machine, which says nothing about this check.
    """
    with arena.work() as work:
        attempts = work.db.scalar(select(version.c.attempts).where(_held(trial)).with_for_update())
        if attempts is not None:
            _release(work, trial.version_id, trial.token, attempts if counts else attempts - 1, trouble)


def inherit(arena: Arena, place: str, heir: str) -> int:
    """What a worker's dead process in this `place` checked is free again; how many. See `lost.inherit`."""
    with arena.work() as work:
        of_place = version.c.lease_worker.startswith(f"{place}-", autoescape=True)
        theirs = and_(of_place, version.c.lease_worker != heir)
        columns = (version.c.id, version.c.attempts, version.c.lease_token, version.c.lease_worker)
        found = work.db.execute(select(*columns).where(CHECKING, version.c.lease_token.is_not(None), theirs))
        return sum(_take_back(work, row, f"{row.lease_worker} died") for row in found.all())


def take_back_silent(work: Work, lease_ms: int, watched: int) -> int:
    """Free the checks of silent workers; how many."""
    leased = and_(CHECKING, version.c.lease_token.is_not(None))
    found = watch.silent(work, version, leased, watched)
    over = [row for row, silent_ms in found if silent_ms >= lease_ms]
    return sum(_take_back(work, row, f"{row.lease_worker} went silent") for row in over)


def resend(arena: Arena, work: Work) -> int:
    """Have checks that nobody is at sent again, unless as many are on their way; how many."""
    settled = version.c.created_at < work.now - AGAIN
    waiting = (CHECKING, or_(settled, version.c.created_at > work.now), _free(work))
    query = select(version.c.id).where(*waiting).order_by(version.c.created_at).limit(MOST_SENT)
    due = work.db.scalars(query).all()
    try:
        missing = len(due) - arena.queue.depth(CHECK)
    except ConnectionError:
        return 0  # nothing can be sent
    for version_id in due[: max(missing, 0)]:
        work.send(Job(CHECK, (version_id,)))
    return max(missing, 0)


def again(arena: Arena, version_id: str) -> bool:
    """An operator has a version checked anew that was set aside; False if it was not."""
    with arena.work() as work:
        aside = (version.c.id == version_id, version.c.status == "rejected", version.c.trouble.is_not(None))
        fresh = {"status": "checking", "attempts": 0, "trouble": None, "report": None, "checked_at": None}
        found = bool(work.db.execute(update(version).where(*aside).values(fresh)).rowcount)
        if found:
            work.send(Job(CHECK, (version_id,)))
    return found


def _free(work: Work) -> Any:
    """Nobody is at it, and the time to try again has come."""
    due = or_(version.c.lease_until.is_(None), version.c.lease_until <= work.now)
    return and_(version.c.lease_token.is_(None), due)


def _held(trial: Trial) -> Any:
    return and_(version.c.id == trial.version_id, version.c.lease_token == trial.token, CHECKING)


def _take_back(work: Work, row: Any, trouble: str) -> bool:
    incidents.note(work, incidents.SILENT, row.id, worker=row.lease_worker, text=trouble)
    return _release(work, row.id, row.lease_token, row.attempts, trouble)


def _release(work: Work, version_id: str, token: str, attempts: int, trouble: str) -> bool:
    held = and_(version.c.id == version_id, version.c.lease_token == token, CHECKING)
    if attempts >= MOST_ATTEMPTS:
        values = {"status": "rejected", "report": _set_aside(attempts), "checked_at": work.now}
        incidents.note(work, incidents.UNCHECKED, version_id, text=trouble)
    else:
        values = {"lease_until": work.now + attempts * AGAIN}  # then `resend` finds it
    values = {"lease_until": None, **values, "lease_token": None, "attempts": attempts, "trouble": trouble}
    return bool(work.db.execute(update(version).where(held).values(values)).rowcount)


def _set_aside(attempts: int) -> dict[str, Any]:
    """A report that blames nobody: all that is known is that there is no verdict."""
    message = f"the check was begun {attempts} times and ended each time without a verdict"
    advice = (
        "That is no verdict on your bot: it may be our fault. The operator has been told and can have it "
        "checked again; or upload it again. If it starts programs or takes much memory, try it with less."
    )
    return {
        "ready": False,
        "stage": "check",
        "error": {"kind": "not checked", "message": message, "advice": advice},
    }


def _lock_owner(work: Work, version_id: str) -> None:
    """One claim at a time for each owner, or two workers would both find that no other check is under way."""
    owner = (
        select(bot.c.owner_id).join(version, version.c.bot_id == bot.c.id).where(version.c.id == version_id)
    )
    this = account.c.id == owner.scalar_subquery()
    work.db.execute(select(account.c.id).where(this).with_for_update(key_share=True))


def _owner_is_served(work: Work, version_id: str) -> bool:
    """Whether another check of the same owner is under way: nobody's uploads keep all workers busy."""
    busy = _checking_of_owner(version_id).where(version.c.lease_token.is_not(None))
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
        .where(CHECKING, version.c.id != version_id)
        .where(bot.c.owner_id == of_this.correlate(None).scalar_subquery())
    )
