"""What is well here and what is not: one finding a thing that is needed, with what to do about it."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from service import checks, presence, tables, valkey
from service.checks import Unfit
from service.errors import Unavailable
from service.jobs import InlineQueue
from service.lock import running
from service.settings import Settings, SettingsError, hidden, misspelt
from service.supervisor import lock_path
from service.work import Arena


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


def examine(environ: Mapping[str, str]) -> list[Finding]:
    """Everything, in the order in which it is best put right."""
    try:
        settings = Settings.from_environment(environ)
    except SettingsError as error:
        return [Finding("settings", State.ILL, str(error))]
    odd = [Finding("settings", State.ODD, sentence) for sentence in misspelt(environ)]
    looks: Mapping[str, Callable[[Settings], Finding]] = {
        "data directory": _data_directory,
        "disk": _disk,
        "sandbox": _sandbox,
        "rage up": _up,
        "database": _database,
        "broker": _broker,
        "workers": _workers,
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
    checks.data_directory(settings.data_dir)
    return Finding("data directory", State.WELL, str(settings.data_dir))


def _disk(settings: Settings) -> Finding:
    return Finding("disk", State.WELL, f"{checks.disk(settings.data_dir) >> 20} MiB free")


def _sandbox(settings: Settings) -> Finding:
    said = checks.sandbox(checks.environment(settings), settings.data_dir)
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
    with closing(Arena.open(settings, InlineQueue())) as arena, arena.read() as db:
        count = db.scalar(select(func.count()).select_from(tables.account))
    return Finding("database", State.WELL, f"{where}: accounts: {count}")


def _unmade(settings: Settings) -> bool:
    file = settings.database_url.removeprefix("sqlite:///")
    return file != settings.database_url and not Path(file).exists()


def _broker(settings: Settings) -> Finding:
    where = hidden(settings.redis_url or f"unix socket {settings.socket}")
    if valkey.answers(settings.client_url):
        return Finding("broker", State.WELL, f"{where} answers")
    if settings.redis_url is None and running(lock_path(settings)) is None:
        return Finding("broker", State.ASLEEP, f"`rage up` starts {valkey.program(settings)}")
    return Finding(
        "broker", State.ILL, f"{where} does not answer; start it, or see RAGE_REDIS_URL and the logs"
    )


def _workers(settings: Settings) -> Finding:
    if _unmade(settings):
        return Finding("workers", State.ASLEEP, "none before there is a database")
    with closing(Arena.open(settings, InlineQueue())) as arena, arena.read() as db:
        there = presence.workers(db, arena.clock())
    lame = [
        f"{each.name} cannot run bots: {each.detail.get('error', '?')}" for each in there if each.mode is None
    ]
    if lame:
        return Finding("workers", State.ILL, "; ".join(lame))
    if there:
        return Finding("workers", State.WELL, ", ".join(f"{each.name} (mode {each.mode})" for each in there))
    if settings.redis_url is None and running(lock_path(settings)) is None:
        return Finding("workers", State.ASLEEP, "`rage up` starts them")
    return Finding("workers", State.ILL, f"none heard of for {presence.SILENT.seconds} s; their log says why")
