"""What the service's tests share: an arena on a fresh database, a clock to turn, bots that are ready."""

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text, update

from engine.rules import RuleSet
from engine.table import LocalPlayer, Outcome, play
from loadtests import singly
from service import accounts, bots, leases, reap, tables
from service.accounts import Account
from service.jobs import InlineQueue
from service.leases import Assignment
from service.settings import Settings
from service.sheet import Sheet, Spent
from service.work import Arena
from tests.databases import OpenDatabase, as_psycopg, at_once

BOT = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"
# Rows out, numbers from 1 on, the schema the newest; in one go, for to go costs more than to sweep.
SWEEP = ";".join(
    [
        *(f'DELETE FROM "{table.name}"' for table in reversed(tables.metadata.sorted_tables)),
        "SELECT setval(format('%I', sequencename)::regclass, 1, false) FROM pg_sequences",
        "UPDATE alembic_version SET version_num = made_as.version_num FROM made_as",
    ]
)


@dataclass(slots=True)
class Clock:
    """A clock that stands still until it is turned."""

    now: datetime = field(default_factory=lambda: datetime(2030, 1, 1, 12, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def turn(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which sort of database."""
    return str(request.param)


@pytest.fixture
def database_url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/rage.sqlite3"
    url: str = request.getfixturevalue("postgres")
    at_once(url, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return url


@pytest.fixture(scope="session")
def migrated_database(open_database: OpenDatabase) -> Iterator[Callable[[], str]]:
    """Gives the address of such a PostgreSQL database, each time without a row: faster than to copy one."""
    with open_database("postgres") as told:
        url = told["RAGE_DATABASE_URL"]
        at_once(url, "CREATE TABLE made_as AS SELECT * FROM alembic_version")
        broom = create_engine(as_psycopg(url), isolation_level="AUTOCOMMIT")

        def swept() -> str:
            with broom.connect() as connection:
                connection.execute(text(SWEEP))
            return url

        yield swept
        broom.dispose()


@pytest.fixture
def migrated_url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind with the schema and nothing in it."""
    if kind == "sqlite":
        return f"sqlite:///{shutil.copy(request.getfixturevalue('migrated_file'), tmp_path)}"
    return str(request.getfixturevalue("migrated_database")())


@pytest.fixture
def arena(migrated_url: str, tmp_path: Path, clock: Clock) -> Iterator[Arena]:
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path), "RAGE_DATABASE_URL": migrated_url})
    opened = Arena.open(settings, InlineQueue(), clock)
    yield opened
    opened.close()


@pytest.fixture
def pass_time(arena: Arena, clock: Clock) -> Callable[[float], int]:
    """Lets time pass under the eyes of the reaper; how many matches it took back."""

    def do(seconds: float) -> int:
        returned, step = reap.reap(arena).returned, arena.settings.reap_seconds
        for _ in range(int(seconds / step) + 1):
            clock.turn(step)
            returned += reap.reap(arena).returned
        return returned

    return do


@pytest.fixture
def author(arena: Arena) -> Account:
    return accounts.register(arena, name="Ada")[0]


@pytest.fixture
def ready_bots(arena: Arena, author: Account, clock: Clock) -> Callable[[int], list[str]]:
    """Makes that many bots of `author` and says they passed their check."""

    def make(count: int) -> list[str]:
        ids = []
        for number in range(count):
            clock.turn(1)
            ids.append(bots.submit(arena, author, name=f"bot {number}", filename="bot.py", content=BOT).id)
        with arena.work() as work:
            work.db.execute(update(tables.version).values(status="ready"))
        return ids

    return make


class Dice:
    """A bot that depends on nothing but its seed."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def bid(self, view: dict[str, Any]) -> int:
        return self.dice.choice(view["legal"])

    def play(self, view: dict[str, Any]) -> str:
        return self.dice.choice(view["legal"])


def played(held: Assignment) -> Outcome:
    players = [LocalPlayer.of(Dice(seed)) for seed in held.bot_seeds]
    return play(RuleSet.parse(held.rules, len(players)), players, seed=held.seed, bot_seeds=held.bot_seeds)


@pytest.fixture
def finish() -> Callable[..., tuple[bool, Assignment | None]]:
    """Plays a claimed match in this process and gives it in."""

    def do(arena: Arena, held: Assignment, *, more: bool = False) -> tuple[bool, Assignment | None]:
        spent = [Spent(1, 2, 3) for _ in held.versions]
        return singly.finish_and_claim(arena, held, played(held), spent, mode="A", worker="w", more=more)

    return do


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, finish: Any) -> Callable[[Assignment], Sheet]:
    """A sheet of a match that was played, not given in."""

    def do(held: Assignment) -> Sheet:
        seen: list[Sheet] = []
        with monkeypatch.context() as patched:
            patched.setattr(leases, "give_in", lambda arena, sheet, **_: (seen.append(sheet), None))
            finish(None, held)
        return seen[0]

    return do


@pytest.fixture
def play_all(finish: Callable[..., tuple[bool, Assignment | None]]) -> Callable[[Arena], int]:
    """Plays whatever there is to play; how many matches that were."""

    def do(arena: Arena) -> int:
        count, held = 0, singly.claim(arena, "w")
        while held is not None:
            _, held = finish(arena, held, more=True)
            count += 1
        return count

    return do


class Submitted:
    """Makes bots that are to be checked."""

    def __init__(self, arena: Arena, author: Account) -> None:
        self.arena, self.author, self.count = arena, author, 0

    def __call__(self) -> str:
        self.count += 1
        made = bots.submit(self.arena, self.author, name=f"new {self.count}", filename="b.py", content=BOT)
        return made.id

    def version(self, bot_id: str) -> bots.Version:
        return bots.version(self.arena, self.author, bot_id, 1)


@pytest.fixture
def submitted(arena: Arena, author: Account) -> Submitted:
    return Submitted(arena, author)
