"""One probed sandbox for all, and eyes for what a match may leave behind."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select, update

from loadtests import proving
from loadtests.proving import STRICT
from service import accounts, bots, leases, schema, tables, tournaments
from service.jobs import InlineQueue
from service.limits import Limits
from service.settings import Settings
from service.turns import Share
from service.work import Arena
from workers.batch import Batch
from workers.match import Played
from workers.sandbox import BotCode, Sandbox
from workers.workshop import Workshop

BOT = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"
SPEC = {"name": "Cup", "players": 2, "deals": 2, "rules": {"preset": "fundex", "hand_sizes": [2, 1]}}


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The sandbox this machine offers: the fork-server where it can be."""
    probed = Sandbox.probe()
    yield probed
    probed.close()


@pytest.fixture(scope="session")
def one_shot() -> Iterator[Sandbox]:
    """The same with a bubblewrap of its own for every bot."""
    probed = Sandbox.probe(launcher="one-shot")
    yield probed
    probed.close()


@pytest.fixture(scope="session")
def bare_sandbox() -> Iterator[Sandbox]:
    """The same without control groups: mode B."""
    probed = Sandbox.probe(use_groups=False)
    yield probed
    probed.close()


@pytest.fixture(scope="session")
def locked() -> Iterator[Sandbox]:
    """Without namespaces: mode C."""
    probed = Sandbox.probe(launcher="landlock")
    yield probed
    probed.close()


Table = Callable[..., Played]


@pytest.fixture(scope="session")
def table(sandbox: Sandbox) -> Table:
    """Plays a short match of the given sources, honest bots added up to two seats."""

    def play(
        *sources: str | bytes | BotCode, limits: Limits = STRICT, at: Sandbox = sandbox, **options
    ) -> Played:
        bots = [as_code(source, f"bot{seat}.py") for seat, source in enumerate(sources)]
        return proving.play(bots, at, limits, **options)

    return play


def as_code(source: str | bytes | BotCode, name: str) -> BotCode:
    """A source as a Python bot."""
    if isinstance(source, BotCode):
        return source
    return BotCode(name, "py", source.encode() if isinstance(source, str) else source)


@pytest.fixture(scope="session")
def leftovers() -> Callable[[Sandbox], dict[str, list[str]]]:
    """What is left behind, by sort; empty when nothing is."""
    return proving.left_behind


class Shop(Workshop):
    """A workshop, and what a test wants to know of its database."""

    others: list[Workshop]

    def states(self) -> dict[str, int]:
        """How many matches are what."""
        with self.arena.read() as db:
            found = [row.status for row in db.execute(select(tables.match.c.status))]
        return {status: found.count(status) for status in set(found)}

    def suspicions(self) -> list[int]:
        """How far each match is suspected, by number."""
        with self.arena.read() as db:
            return list(db.scalars(select(tables.match.c.suspicion).order_by(tables.match.c.number)))

    def database_taken(self) -> sqlite3.Connection:
        """Somebody else has the database: it cannot be written to until this is closed."""
        other = sqlite3.connect(self.arena.settings.data_dir / "rage.sqlite3", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        return other

    def batch(self, many: int) -> Batch:
        """So many matches, claimed together."""
        with self.arena.read() as db:
            of = db.execute(select(tables.tournament.c.id)).scalar_one()
        return Batch(leases.claim_some(self.arena, self.name, Share(10.0 * many, {of: 10.0}, 0)))

    def another(self, number: int) -> Workshop:
        """Another process's, on the same database, closed with this one."""
        made = Workshop(self.arena.settings, number)
        self.others.append(made)
        return made

    def lasting(self, **told: float) -> None:
        """With these settings."""
        self.arena = replace(self.arena, settings=replace(self.arena.settings, **told))  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the schema and nothing in it, to be copied."""
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path_factory.mktemp("migrated"))})
    schema.migrate(settings)
    return settings.data_dir / "rage.sqlite3"


@pytest.fixture
def shop(migrated: Path, tmp_path: Path) -> Iterator[Shop]:
    """A workshop on a database with a tournament of four matches, and with a sandbox that it may close."""
    environment = {"RAGE_DATA_DIR": str(tmp_path), "RAGE_CHUNK_MS": "50", "RAGE_LEASE_SECONDS": "5"}
    settings = Settings.from_environment(environment)
    shutil.copy(migrated, settings.data_dir)
    made = Shop(settings, 0)
    made.others = []
    made.arena = Arena.open(settings, InlineQueue(), patience=0.2)
    owner, _ = accounts.register(made.arena, name="Ada")
    ids = [bots.submit(made.arena, owner, name=n, filename="b.py", content=BOT).id for n in ("a", "b")]
    with made.arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    tournaments.create(made.arena, owner, {**SPEC, "entrants": ids})
    yield made
    for each in (made, *made.others):
        each.forget_sandbox()
        each.arena.close()
