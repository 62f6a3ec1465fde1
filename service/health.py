"""Whether this can serve, and the figures an operator watches."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, func, or_, select
from sqlalchemy.exc import SQLAlchemyError

from service import incidents, presence, progress, schema, watch
from service.errors import ServiceError
from service.jobs import CHECK, PLAY
from service.progress import LEASED
from service.tables import EPOCH, MICROSECOND, match, pulse, tournament, version
from service.work import Arena

MINUTE = timedelta(minutes=1)
LATELY = timedelta(minutes=10)
STATUSES = {"rage_tournaments": tournament.c.status, "rage_bot_versions": version.c.status}


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
            trouble += _unwatched(db, arena)
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


def refusing(arena: Arena) -> str | None:
    """Why a program that has nothing but the database cannot do its work; None when it can. Never raises."""
    try:
        with arena.read() as db:
            if schema.behind(db):
                return f"the database is at schema {schema.revision(db)}: `rage-admin migrate` is due"
    except (ServiceError, SQLAlchemyError) as error:
        return str(error).splitlines()[0]
    return None


def _unwatched(db: Connection, arena: Arena) -> list[str]:
    """Nobody puts right what gets lost: neither `beat` nor `desk` may be missing for long."""
    last = db.scalar(select(pulse.c.at))
    if last is None or abs(arena.clock() - last) <= watch.ABSENT:
        return []
    return [f"nobody has looked for lost work since {last:%Y-%m-%d %H:%M:%S} UTC: are beat and desk running?"]


def _ages(db: Connection, now: datetime) -> dict[str, float]:
    """Seconds: how long the oldest of each kind has waited; 0 when none waits."""
    todo = exists().where(match.c.tournament_id == tournament.c.id, match.c.status == "planned")
    served = func.coalesce(tournament.c.claimed_at, tournament.c.started_at)
    oldest = {
        "rage_oldest_check_seconds": select(func.min(version.c.created_at)).where(
            version.c.status == "checking"
        ),
        "rage_queue_age_seconds": select(func.min(served)).where(tournament.c.status == "running", todo),
        "rage_oldest_lease_seconds": select(func.min(match.c.started_at)).where(LEASED),
        "rage_watch_age_seconds": select(pulse.c.at),  # since somebody looked for lost work
    }
    found = {name: db.scalar(query) for name, query in oldest.items()}
    return {
        name: max((now - _moment(since)).total_seconds(), 0.0) if since else 0.0
        for name, since in found.items()
    }


def _moment(told: datetime | int) -> datetime:
    """An expression over moments comes out of the database as it is stored."""
    return told if isinstance(told, datetime) else EPOCH + told * MICROSECOND


def _matches(db: Connection, so_far: progress.Done, leased: int) -> dict[str, int]:
    """How many there are of each status; none where there are none."""
    written = int(db.scalar(select(func.sum(tournament.c.written))) or 0)
    open_ = {"leased": leased, "planned": written - so_far.settled - leased}
    over = {status: getattr(so_far, status) for status in ("done", "failed", "void")}
    return {status: n for status, n in {**open_, **over}.items() if n}


def _efforts(db: Connection, now: datetime, so_far: progress.Done, leased: int) -> dict[str, float]:
    """Attempts that ended without a result, and decisions: in all, and a second over the last minute."""
    lately = select(func.sum(match.c.decisions)).where(*_finished_since(now - MINUTE))
    return {
        "rage_match_attempts": float(so_far.ended + leased),
        "rage_decisions": float(so_far.decisions),
        "rage_decisions_per_second": float(db.scalar(lately) or 0) / MINUTE.total_seconds(),
    }


def _finished_since(moment: datetime) -> "tuple[ColumnElement[bool], ...]":
    """A match's conditions; those of tournaments that were over before are not even looked at."""
    going = or_(tournament.c.finished_at.is_(None), tournament.c.finished_at > moment)
    return match.c.tournament_id.in_(select(tournament.c.id).where(going)), match.c.finished_at > moment


def _by_worker(db: Connection, now: datetime) -> dict[str, float]:
    """Matches and bots' faults of the last ten minutes by machine (or pod): a sick one stands out."""
    columns = (match.c.lease_worker, func.count(), func.sum(match.c.faults))
    query = select(*columns).where(*_finished_since(now - LATELY)).group_by(match.c.lease_worker)
    matches: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for worker, played, faulty in db.execute(query):
        host = re.sub(r'["\\\n]', "_", presence.host(worker or "unknown"))
        matches[host] += played
        faults[host] += faulty
    told = {"rage_matches_lately": matches, "rage_faults_lately": faults}
    return {f'{name}{{worker="{host}"}}': by[host] for name, by in told.items() for host in by}


def _labelled(name: str, label: str, numbers: Mapping[str, float]) -> dict[str, float]:
    return {f'{name}{{{label}="{value}"}}': number for value, number in numbers.items()}


def metrics(arena: Arena) -> dict[str, float]:
    """Gauges by name, with labels in braces where a name has several."""
    gauges: dict[str, float] = {}
    with arena.read(steady=True) as db:  # or what changes between two queries counts twice, or never
        so_far = progress.in_all(db)
        leased = db.scalar(select(func.count()).where(LEASED)) or 0
        gauges |= _labelled("rage_matches", "status", _matches(db, so_far, leased))
        gauges |= _labelled("rage_faults", "kind", progress.faults_by_kind(db))
        for name, column in STATUSES.items():
            counted = select(column, func.count()).group_by(column)
            gauges |= _labelled(name, "status", {value: n for value, n in db.execute(counted)})
        now = arena.clock()
        there = presence.workers(db, now)
        gauges["rage_workers"] = len(there)
        gauges["rage_workers_unfit"] = sum(each.mode is None for each in there)  # they cannot run bots
        gauges |= _ages(db, now) | _efforts(db, now, so_far, leased) | _by_worker(db, now)
        gauges |= _labelled("rage_incidents", "kind", incidents.counts(db))
    for job, queue in ((CHECK, "checks"), (PLAY, "matches")):
        try:
            gauges[f'rage_queue_depth{{queue="{queue}"}}'] = arena.queue.depth(job)
        except ConnectionError:
            continue
    return gauges
