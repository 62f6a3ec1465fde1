"""What one account may take up: bots, uploads an hour, matches that wait. An admin has no quota."""

from datetime import timedelta

from sqlalchemy import func, select

from service import progress
from service.accounts import Account
from service.errors import Conflict, Invalid, TooMany
from service.progress import LEASED
from service.tables import bot, match, tournament, version
from service.work import Arena, Work

HOUR = timedelta(hours=1)


def another_bot(arena: Arena, work: Work, caller: Account) -> None:
    """Raises `Conflict` when the account has as many active bots as it may."""
    most = arena.settings.max_bots
    active = select(func.count()).where(bot.c.owner_id == caller.id, bot.c.retired_at.is_(None))
    if not caller.admin and (work.db.scalar(active) or 0) >= most:
        raise Conflict(f"an account has at most {most} active bots; retire one, or add a version to one")


def another_upload(arena: Arena, work: Work, caller: Account) -> None:
    """Raises `TooMany` when the account has uploaded as much within the hour as it may."""
    most = arena.settings.uploads_per_hour
    recent = (
        select(version.c.created_at)
        .join(bot, bot.c.id == version.c.bot_id)
        .where(bot.c.owner_id == caller.id, version.c.created_at > work.now - HOUR)
        .order_by(version.c.created_at.desc())
        .limit(most)
    )
    times = [] if caller.admin else work.db.scalars(recent).all()
    if len(times) >= most:
        wait = times[-1] + HOUR - work.now
        raise TooMany(f"at most {most} uploads an hour", retry_after=int(wait.total_seconds()) + 1)


def more_matches(arena: Arena, work: Work, caller: Account, more: int, *, field: str = "deals") -> None:
    """Raises `Invalid` for `field` when too many matches of the account's tournaments would wait."""
    most = arena.settings.queued_matches
    waiting = 0 if caller.admin else _waiting(work, caller)
    if not caller.admin and waiting + more > most:
        reason = f"this makes {more:,} matches and {waiting:,} of yours wait already; at most {most:,} may"
        raise Invalid({field: [f"{reason}. Take fewer deals, or wait until some are played"]})


def _waiting(work: Work, caller: Account) -> int:
    """Matches of the account's tournaments that are planned, or will be."""
    going = (tournament.c.owner_id == caller.id, tournament.c.status.not_in(("finished", "cancelled")))
    mine = select(tournament.c.id).where(*going)
    expected = select(func.coalesce(func.sum(tournament.c.total), 0)).where(*going)
    played = select(func.count()).where(LEASED, match.c.tournament_id.in_(mine))
    parts = [int(work.db.scalar(query) or 0) for query in (expected, progress.settled_of(mine), played)]
    return parts[0] - sum(parts[1:])
