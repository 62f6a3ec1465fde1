"""What is well here and what is not: one finding a thing that is needed, with what to do about it."""

import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, exists, func, select
from sqlalchemy.exc import SQLAlchemyError

from service import checks, incidents, lost, presence, progress, retention, tables, valkey, watch
from service.checks import Unfit
from service.contest import COMPARISON
from service.errors import Unavailable
from service.jobs import InlineQueue
from service.lock import running
from service.settings import Settings, SettingsError, hidden, misspelt
from service.supervisor import lock_path
from service.work import HASTY, Arena

CLOCKS_APART = 5.0  # seconds that are no trouble
SHOWN = 5
MOMENTS = (tables.pulse.c.at, tables.worker.c.seen_at, tables.version.c.created_at, tables.incident.c.at)


class State(StrEnum):
    """How a thing is. Asleep: it will be there once `rage up` runs."""

    WELL = "ok"
    ASLEEP = "not yet"
    ODD = "odd"
    ILL = "trouble"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    what: str
    state: State
    text: str


def examine(environ: Mapping[str, str], still: Callable[[], None] = lambda: None) -> list[Finding]:
    """Everything, in the order in which it is best put right; `still` is called while the sandbox is slow."""
    try:
        settings = Settings.from_environment(environ)
    except SettingsError as error:
        return [Finding("settings", State.ILL, str(error))]
    odd = [Finding("settings", State.ODD, sentence) for sentence in misspelt(environ)]
    looks: Mapping[str, Callable[[Settings], Finding]] = {
        "data directory": _data_directory,
        "disk": _disk,
        "sandbox": partial(_sandbox, still=still),
        "rage up": _up,
        "database": _database,
        "ratings": _ratings,
        "records": _records,
        "broker": _broker,
        "workers": _workers,
        "clock": _clock,
        "watch": _watch,
        "spool": _spool,
        "matches": _matches,
        "checks": _checks,
    }
    return [*(odd or [Finding("settings", State.WELL, "all can be used")]),
            *(_looked(what, look, settings) for what, look in looks.items())]  # fmt: skip


def _looked(what: str, look: Callable[[Settings], Finding], settings: Settings) -> Finding:
    try:
        return look(settings)
    except (Unfit, valkey.ServerUnavailable, OSError) as error:
        return Finding(what, State.ILL, str(error))
    except (Unavailable, SQLAlchemyError) as error:
        reason = str(error.__cause__ or error).splitlines()[0]
        return Finding(
            what, State.ILL, f"{reason}; is RAGE_DATABASE_URL right? An old schema: rage-admin migrate"
        )


def _data_directory(settings: Settings) -> Finding:
    checks.writable(settings.data_dir)
    if not settings.data_dir.is_dir():
        return Finding("data directory", State.ASLEEP, f"{settings.data_dir}: `rage up` makes it")
    return Finding("data directory", State.WELL, str(settings.data_dir))


def _disk(settings: Settings) -> Finding:
    return Finding("disk", State.WELL, f"{checks.disk(settings.data_dir) >> 20} MiB free")


def _sandbox(settings: Settings, still: Callable[[], None]) -> Finding:
    said = checks.sandbox(checks.environment(settings), settings.data_dir, still)
    text = (
        f"mode {said['mode']}, bots run on {', '.join(['Python ' + said['python'], *said['interpreters']])}"
    )
    return Finding("sandbox", State.WELL, "; ".join([text, *said.get("notes", [])]))


def _up(settings: Settings) -> Finding:
    facts = running(lock_path(settings))
    if facts is None:
        return Finding("rage up", State.ASLEEP, "not running on this data directory")
    return Finding("rage up", State.WELL, f"process {facts.get('pid', '?')} at {facts.get('address', '?')}")


def _database(settings: Settings) -> Finding:
    where = hidden(settings.database_url)
    if _unmade(settings):
        return Finding(
            "database", State.ASLEEP, f"{where} is made by the first `rage up` or `rage-admin migrate`"
        )
    with _reading(settings) as (db, _):
        count = db.scalar(select(func.count()).select_from(tables.account))
    return Finding("database", State.WELL, f"{where}: accounts: {count}")


def _ratings(settings: Settings) -> Finding:
    if _unmade(settings):
        return Finding("ratings", State.ASLEEP, "none before there is a database")
    played, pools = tables.tournament, tables.pool
    known = exists().where(pools.c.rules_key == played.c.rules_key, pools.c.players == played.c.players)
    rated = played.c.started_at.is_not(None), played.c.format != COMPARISON
    query = select(func.count()).where(*rated, ~known)
    with closing(Arena.open(settings, InlineQueue())) as arena, arena.read() as db:
        uncounted, count = db.scalar(query), db.scalar(select(func.count()).select_from(pools))
    if uncounted:
        text = f"{uncounted} tournaments of an older release are not counted: rage-admin rerate --repair"
        return Finding("ratings", State.ILL, text)
    return Finding("ratings", State.WELL, f"pools: {count}; `rage-admin rerate` computes all again")


def _records(settings: Settings) -> Finding:
    """Files that records were moved into."""
    if _unmade(settings):
        return Finding("records", State.ASLEEP, "none before there is a database")
    with closing(Arena.open(settings, InlineQueue(), patience=HASTY)) as arena:
        moved = retention.shelved(arena)
        with arena.read() as db:
            there = presence.workers(db, arena.clock())
    missing = [each.file for each in moved if not each.here]
    partly = ", ".join(each.tournament_id for each in moved if each.partly_back)
    if not missing and partly:
        text = f"only partly brought back: {partly}; `rage-admin records back` goes on, `move` undoes it"
        return Finding("records", State.ODD, text)
    if not missing:
        text = f"files: {len(moved)}; `rage-admin records list --check` reads them all"
        return Finding("records", State.WELL, text)
    if _only_plays(settings, there):
        text = f"files: {len(moved)}, on other machines: who plays needs none, API and desk RAGE_RECORDS_DIR"
        return Finding("records", State.WELL, text)
    shown = ", ".join(missing[:SHOWN]) + (", ..." if len(missing) > SHOWN else "")
    text = f"files missing in {settings.records} (RAGE_RECORDS_DIR): {len(missing)} of {len(moved)}: {shown}"
    return Finding("records", State.ILL, text)


def _only_plays(settings: Settings, there: Sequence[presence.Worker]) -> bool:
    """Whether this machine looks like one of several that plays, and was never to have records."""
    apart = settings.redis_url is not None and settings.records_dir is None and not settings.records.is_dir()
    return apart and any(presence.host(each.name) == socket.gethostname() for each in there)


def _unmade(settings: Settings) -> bool:
    file = settings.database_url.removeprefix("sqlite:///")
    return file != settings.database_url and not Path(file).exists()


def _stopped(settings: Settings) -> bool:
    """Whether nothing can run here: the broker is one that `rage up` starts, and it does not run."""
    return settings.redis_url is None and running(lock_path(settings)) is None


def _broker(settings: Settings) -> Finding:
    where = hidden(settings.redis_url or f"unix socket {settings.socket}")
    if valkey.answers(settings.client_url):
        return Finding("broker", State.WELL, f"{where} answers")
    if _stopped(settings):
        return Finding("broker", State.ASLEEP, f"`rage up` starts {valkey.program(settings)}")
    return Finding(
        "broker", State.ILL, f"{where} does not answer; start it, or see RAGE_REDIS_URL and the logs"
    )


def _workers(settings: Settings) -> Finding:
    if _unmade(settings):
        return Finding("workers", State.ASLEEP, "none before there is a database")
    with _reading(settings) as (db, now):
        there = presence.workers(db, now)
    lame = [
        f"{each.name} cannot run bots: {each.detail.get('error', '?')}" for each in there if each.mode is None
    ]
    if lame:
        return Finding("workers", State.ILL, "; ".join(lame))
    if there:
        return Finding("workers", State.WELL, ", ".join(f"{each.name} (mode {each.mode})" for each in there))
    if _stopped(settings):
        return Finding("workers", State.ASLEEP, "`rage up` starts them")
    return Finding("workers", State.ILL, f"none heard of for {presence.SILENT.seconds} s; their log says why")


def _clock(settings: Settings) -> Finding:
    """Against the newest thing that was written by anybody, and the broker's clock."""
    if _unmade(settings):
        return Finding("clock", State.ASLEEP, "nothing to compare it with before there is a database")
    with _reading(settings) as (db, now):
        newest = max(filter(None, (db.scalar(select(func.max(column))) for column in MOMENTS)), default=now)
    ahead = (newest - now).total_seconds()
    if ahead > CLOCKS_APART:
        text = f"it is {ahead:,.0f} s behind what was written last; set it right (NTP) on every machine"
        return Finding("clock", State.ILL, text)
    theirs = valkey.clock(settings.client_url)
    apart = 0.0 if theirs is None else abs(theirs - time.time())
    if apart > CLOCKS_APART:
        return Finding("clock", State.ILL, f"the broker's differs by {apart:,.0f} s; set both right (NTP)")
    return Finding("clock", State.WELL, "agrees with the database" + (" and the broker" if theirs else ""))


def _watch(settings: Settings) -> Finding:
    """Whether somebody looks for lost work."""
    if _unmade(settings) or _stopped(settings):
        return Finding("watch", State.ASLEEP, "nothing looks for lost work; `rage up` starts it")
    with _reading(settings) as (db, now):
        looked = db.scalar(select(tables.pulse.c.at))
        last = looked or db.scalar(select(func.min(tables.worker.c.started_at)))
        left = db.scalar(select(func.count()).where(tables.tournament.c.status == "running")) or 0
    if last is not None and abs(now - last) <= watch.ABSENT:
        age = f"last {(now - looked).total_seconds():.0f} s ago" if looked else "for the first time soon"
        return Finding("watch", State.WELL, f"lost work is looked for, {age}")
    since = "ever" if last is None else f"since {last:%Y-%m-%d %H:%M:%S} UTC"
    text = f"nobody looked for lost work {since}; running tournaments: {left}. Start beat and desk"
    return Finding("watch", State.ILL, text)


def _spool(settings: Settings) -> Finding:
    """Results on this machine's disk that were not given in yet."""
    sheets = list((settings.data_dir / "spool").glob("*.json"))
    if not sheets:
        return Finding("spool", State.WELL, "no result waits on this disk")
    text = f"{len(sheets)} results wait in {settings.data_dir / 'spool'}; a worker started here gives them in"
    return Finding("spool", State.ODD, text)


def _matches(settings: Settings) -> Finding:
    """Matches that were given up, newest first."""
    if _unmade(settings):
        return Finding("matches", State.ASLEEP, "none before there is a database")
    with _reading(settings) as (db, _):
        failed = progress.in_all(db).failed
        newest = incidents.newest(db, incidents.FAILED, SHOWN)
    if not failed:
        return Finding("matches", State.WELL, "none was given up")
    shown = "; ".join(f"{each.about}: {each.text}" for each in newest)
    text = f"{failed} given up after {lost.ENOUGH // lost.ALONE} workers died of them, no bot's fault"
    return Finding("matches", State.ODD, f"{text}: {shown}. See the workers' logs and their memory limits")


def _checks(settings: Settings) -> Finding:
    """Versions that have no verdict through no fault that is known."""
    if _unmade(settings):
        return Finding("checks", State.ASLEEP, "none before there is a database")
    aside = (tables.version.c.status == "rejected", tables.version.c.trouble.is_not(None))
    with _reading(settings) as (db, _):
        query = select(tables.version.c.id, tables.version.c.trouble).where(*aside)
        found = db.execute(query.order_by(tables.version.c.checked_at.desc()).limit(SHOWN)).all()
    if not found:
        return Finding("checks", State.WELL, "every check came to a verdict")
    shown = "; ".join(f"{row.id}: {row.trouble}" for row in found)
    text = f"without a verdict: {shown}. `rage-admin recheck VERSION` tries again"
    return Finding("checks", State.ODD, text)


@contextmanager
def _reading(settings: Settings) -> "Iterator[tuple[Connection, datetime]]":
    with closing(Arena.open(settings, InlineQueue(), patience=HASTY)) as arena, arena.read() as db:
        yield db, arena.clock()
