"""What is done every few seconds so that nothing gets stuck, whatever was lost; twice does no harm."""

import secrets
from dataclasses import dataclass

import structlog
from sqlalchemy import text

from service import leases, presence, rankings, stages, trials
from service.jobs import PLAY, Job
from service.work import Arena, Work

log = structlog.get_logger(__name__)
LOCK = 72_616_765  # the advisory lock's number in PostgreSQL
PER_WORKER = 4  # jobs kept waiting for each worker


@dataclass(frozen=True, slots=True)
class Reaped:
    """How much there was to put right."""

    started: int
    returned: int
    advanced: int
    checks: int
    bells: int


def reap(arena: Arena) -> Reaped:
    """Take back overdue leases, start what is due, plan what comes next, send what may have been lost."""
    with arena.work() as work:
        if not _alone(work):
            return Reaped(0, 0, 0, 0, 0)
        returned = leases.take_back_overdue(work)
    started, advanced = stages.begin_due(arena), stages.advance_due(arena)
    with arena.work() as work:
        done = Reaped(
            started=started,
            returned=returned,
            advanced=advanced,
            checks=trials.resend(work),
            bells=_ring(arena, work),
        )
        presence.forget(work)
    rankings.settle_running(arena)
    if any((done.started, done.returned, done.advanced, done.checks)):
        log.info(
            "reaped", started=done.started, returned=done.returned, advanced=done.advanced, checks=done.checks
        )
    return done


def _alone(work: Work) -> bool:
    """One at a time: on SQLite a writer is alone anyway."""
    if work.db.dialect.name != "postgresql":
        return True
    return bool(work.db.scalar(text("SELECT pg_try_advisory_xact_lock(:lock)"), {"lock": LOCK}))


def _ring(arena: Arena, work: Work) -> int:
    """Keep a few jobs waiting for each worker while there are matches to play; how many were sent."""
    wanted = leases.waiting(work, max(PER_WORKER * presence.slots(work), PER_WORKER))
    try:
        missing = wanted - arena.queue.depth(PLAY)
    except ConnectionError as error:
        log.warning("broker_away", error=str(error))
        return 0
    for _ in range(missing):
        work.send(Job(PLAY, (secrets.randbelow(1 << 30),)))
    return max(missing, 0)
