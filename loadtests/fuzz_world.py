"""A world to be fuzzed: the application with a played tournament, bots and comparisons, and real Redis."""

import io
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from flask import Flask
from sqlalchemy import text, update

import api.rates
from api.app import create_app
from api.schemas.tournaments import ENTRANTS
from engine.rules import RuleSet
from engine.table import LocalPlayer, play
from loadtests import singly
from service import accounts, bots, comparisons, refit, schema, tables, tokens, tournaments, valkey
from service.accounts import Account, Role
from service.jobs import InlineQueue
from service.settings import Settings
from service.sheet import Spent
from service.work import Arena, engine

CODE = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"
MOST_CHUNKS = 2  # of a stream of events: what is there already. More may take as long as the tournament
ROOMY = {
    "requests_per_minute": 10_000_000,
    "writes_per_minute": 10_000_000,
    "accounts_per_hour": 10_000_000,
    "uploads_per_hour": 1_000_000,
    "max_bots": 1_000_000,
    "max_matches": 2_000,  # a case is to take milliseconds
}


@dataclass(frozen=True, slots=True)
class World:
    """The application, a token for each who may send, what must not be taken away, and bots that are there.

    `stand_ins`: those bots by what the document's examples call theirs.
    """

    app: Flask
    tokens: Mapping[str, str]
    kept: frozenset[str]
    stand_ins: Mapping[str, str]


@contextmanager
def furnished(folder: Path, database_url: str | None = None) -> Iterator[World]:
    """A world in that folder, on SQLite or in a PostgreSQL, which is emptied first."""
    given = {"RAGE_DATA_DIR": str(folder)} | ({"RAGE_DATABASE_URL": database_url} if database_url else {})
    settings = replace(Settings.from_environment(given), **ROOMY)
    _empty(settings.database_url)
    schema.migrate(settings)
    with _redis(settings), _wrong_tokens():
        arena = Arena.open(settings, _Forgetful())
        app = create_app(arena=arena)
        app.wsgi_app = _Between(app.wsgi_app)  # type: ignore[method-assign]
        try:
            yield _furnish(app, arena)
        finally:
            arena.close()


@contextmanager
def _wrong_tokens() -> Iterator[None]:
    """As many as there are: they are among the cases."""
    usual = api.rates.REFUSALS
    api.rates.REFUSALS = ROOMY["requests_per_minute"]
    try:
        yield
    finally:
        api.rates.REFUSALS = usual


def _empty(database_url: str) -> None:
    """What an earlier world left in a PostgreSQL is not wanted; a SQLite file is new."""
    if not database_url.startswith("sqlite"):
        database = engine(database_url)
        with database.begin() as connection:
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
        database.dispose()


class _Forgetful(InlineQueue):
    """Nobody works here."""

    def send(self, job: Any) -> None:
        pass


@contextmanager
def _redis(settings: Settings) -> Iterator[None]:
    with subprocess.Popen(valkey.arguments(settings), stdout=subprocess.DEVNULL) as server:
        try:
            while not valkey.answers(settings.client_url):
                time.sleep(0.02)
            yield
        finally:
            server.terminate()
    valkey.tidy(settings)


class _Between:
    """Before the application: listeners of events have heard enough after a while, a bot's file is named."""

    def __init__(self, app: Callable[..., Iterable[bytes]]) -> None:
        self._app = app

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("CONTENT_TYPE", "").startswith("multipart/"):
            sent = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            named = sent.replace(b'filename="code"', b'filename="code.py"')
            environ |= {"wsgi.input": io.BytesIO(named), "CONTENT_LENGTH": str(len(named))}
        environ.pop(
            "HTTP_ACCEPT_ENCODING", None
        )  # schemathesis offers to unpack, and does not, in its process
        told = self._app(environ, start)
        if not environ["PATH_INFO"].endswith("/events"):
            return told
        try:
            return list(islice(told, MOST_CHUNKS))
        finally:
            getattr(told, "close", lambda: None)()


def _furnish(app: Flask, arena: Arena) -> World:
    with arena.work() as work:
        boss, admin = accounts.create(work, name="boss", role=Role.ADMIN)
        ada, author = accounts.create(work, name="ada", role=Role.AUTHOR)
    _, organiser = tokens.issue(arena, ada, label="cups", scopes=["organiser"])
    ids = [bots.submit(arena, ada, name=f"bot {n}", filename="bot.py", content=CODE).id for n in range(6)]
    with arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    _play(arena, ada, ids[:4])
    for name in ("one", "two", "three", "four"):
        wanted = {"name": name, "entrants": ids[:4], "start_at": "manual", "entry": {"open": True}}
        tournaments.create(arena, ada, wanted)
    comparisons.create(arena, ada, {"a": ids[0], "b": ids[1], "cap": 30})
    kept = {*ids[:4], *(each.id for who in (boss, ada) for each in tokens.tokens(arena, who))}
    given = {"author": author, "organiser": organiser, "admin": admin}
    return World(app, given, frozenset(kept), _stand_ins(ids))


def _stand_ins(ids: list[str]) -> dict[str, str]:
    both = {f"{ENTRANTS[0]}:4": ids[0], f"{ENTRANTS[0]}:3": ids[1]}
    return both | dict(zip(ENTRANTS, (ids[0], f"{ids[1]}:1", *ids[2:4]), strict=True))


def _play(arena: Arena, owner: Account, ids: list[str]) -> None:
    """A small tournament, played and rated."""
    rules = {"preset": "fundex", "hand_sizes": [2, 1]}
    made = tournaments.create(arena, owner, {"name": "Open", "entrants": ids, "deals": 2, "rules": rules})
    held = singly.claim(arena, "here")
    while held is not None:
        seats = [LocalPlayer(bid=lambda view: 1, play=lambda view: view["legal"][0]) for _ in held.entrants]
        outcome = play(RuleSet.parse(held.rules, len(seats)), seats, seed=held.seed)
        spent = [Spent(1, 2, 3)] * len(seats)
        _, held = singly.finish_and_claim(arena, held, outcome, spent, mode="A", worker="here", more=True)
    refit.settle(arena, made.id)
