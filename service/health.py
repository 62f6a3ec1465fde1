"""Whether this can serve, and the figures an operator watches."""

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from service import presence
from service.errors import ServiceError
from service.jobs import CHECK, PLAY
from service.tables import fault, match, tournament, version
from service.work import Arena


@dataclass(frozen=True, slots=True)
class Health:
    """`trouble` says in a sentence each what is missing; empty when all is well."""

    ok: bool
    database: str
    broker: str
    workers: list[dict[str, Any]]
    trouble: list[str] = field(default_factory=list)


def ready(arena: Arena) -> Health:
    """What can be reached now. Never raises."""
    trouble: list[str] = []
    database = broker = "ok"
    there: list[presence.Worker] = []
    try:
        with arena.read() as db:
            there = presence.workers(db, arena.clock())
    except (ServiceError, SQLAlchemyError) as error:  # away, or never migrated
        database = "away"
        trouble.append(str(error).splitlines()[0])
    try:
        arena.queue.depth(PLAY)
    except ConnectionError as error:
        broker = "away"
        trouble.append(str(error))
    playing = [each for each in there if each.mode is not None]
    if database == "ok" and not playing:
        trouble += [f"{each.name} cannot run bots: {each.detail.get('error', '')}" for each in there]
        trouble.append("no worker has been seen lately that can run bots; start one, or wait some seconds")
    shown = [{"name": each.name, "mode": each.mode, "seen_at": each.seen_at} for each in there]
    return Health(not trouble, database, broker, shown, trouble)


def metrics(arena: Arena) -> dict[str, float]:
    """Gauges by name, with labels in braces where a name has several."""
    gauges: dict[str, float] = {}
    with arena.read() as db:
        statuses = {
            "rage_matches": match.c.status,
            "rage_tournaments": tournament.c.status,
            "rage_bot_versions": version.c.status,
            "rage_faults": fault.c.kind,
        }
        for name, column in statuses.items():
            label = column.name
            for value, number in db.execute(select(column, func.count()).group_by(column)):
                gauges[f'{name}{{{label}="{value}"}}'] = number
        gauges["rage_workers"] = len(presence.workers(db, arena.clock()))
        waiting = select(func.min(version.c.created_at)).where(version.c.status == "checking")
        oldest = db.scalar(waiting)
        gauges["rage_oldest_check_seconds"] = (arena.clock() - oldest).total_seconds() if oldest else 0.0
    for job, queue in ((CHECK, "checks"), (PLAY, "matches")):
        try:
            gauges[f'rage_queue_depth{{queue="{queue}"}}'] = arena.queue.depth(job)
        except ConnectionError:
            continue
    return gauges
