"""What is done every few seconds so that nothing gets stuck, whatever was lost; twice does no harm."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
from sqlalchemy import text

from service import comparisons, desk, incidents, lost, presence, stages, trials, turns, watch
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


def reap(arena: Arena, after: Callable[[Arena], object] = desk.work_off) -> Reaped:
    """Take back what the silent hold, start what is due, plan what comes next, send what may be lost.

    `after`: what may take long is left to it, so that the watch over leases does not wait.
    """
    with _alone(arena) as alone:
        return _reap(arena, after) if alone else Reaped(0, 0, 0, 0, 0)


def _reap(arena: Arena, after: Callable[[Arena], object]) -> Reaped:
    lease_ms = 1000 * arena.settings.lease_seconds
    with arena.work() as work:
        watched = watch.tick(work, arena.settings)
        returned = lost.take_back_silent(work, lease_ms, watched)
        trials.take_back_silent(work, lease_ms, watched)
    comparisons.decide(arena)
    started, advanced = stages.begin_due(arena), stages.advance_due(arena)
    with arena.work() as work:
        done = Reaped(
            started=started,
            returned=returned,
            advanced=advanced,
            checks=trials.resend(arena, work),
            bells=_ring(arena, work),
        )
        presence.forget(work)
        incidents.forget(work)
    after(arena)
    if any((done.started, done.returned, done.advanced, done.checks)):
        log.info(
            "reaped", started=done.started, returned=done.returned, advanced=done.advanced, checks=done.checks
        )
    return done


@contextmanager
def _alone(arena: Arena) -> Iterator[bool]:
    """Whether nobody else is at it: on SQLite each writer is alone anyway, PostgreSQL has a lock for it.

    It belongs to a transaction, so the lock of a reaper that died is free, also behind PgBouncer.
    """
    if arena.database.dialect.name != "postgresql":
        yield True
        return
    with arena.read() as db:
        yield bool(db.scalar(text("SELECT pg_try_advisory_xact_lock(:lock)"), {"lock": LOCK}))


def _ring(arena: Arena, work: Work) -> int:
    """Keep a few jobs waiting for each worker while there are matches to play; how many were sent."""
    wanted = turns.count(work, max(PER_WORKER * presence.slots(work.db, work.now), PER_WORKER))
    try:
        missing = wanted - arena.queue.depth(PLAY)
    except ConnectionError as error:
        log.warning("broker_away", error=str(error))
        return 0
    for _ in range(missing):
        work.send(Job(PLAY, (secrets.randbelow(1 << 30),)))
    return max(missing, 0)
