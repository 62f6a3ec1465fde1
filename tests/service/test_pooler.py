"""The service behind PgBouncer, whose connections are another's with every transaction."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text

from loadtests import pooler
from service import accounts, leases, progress, reap, rerate, schema, tables, tournaments
from service.accounts import Account
from service.errors import Unavailable
from service.jobs import InlineQueue
from service.settings import Settings
from service.turns import Share
from service.work import Arena

CONNECTIONS = 3
SMALL = {"preset": "fundex", "hand_sizes": [1]}


@pytest.fixture
def kind() -> str:
    return "postgres"


@pytest.fixture
def arena(migrated_url: str, tmp_path: Path, clock: Any) -> Iterator[Arena]:
    if pooler.PROGRAM is None:
        pytest.skip("pgbouncer is not installed: apt-get install pgbouncer")
    with pooler.pooler(migrated_url, CONNECTIONS) as made:
        told = {"RAGE_DATA_DIR": str(tmp_path), "RAGE_DATABASE_URL": made.url, "RAGE_DATABASE_POOLED": "true"}
        opened = Arena.open(Settings.from_environment(told), InlineQueue(), clock)
        yield opened
        opened.close()


def test_a_tournament_is_played_by_more_workers_than_there_are_connections(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], finish: Callable[..., Any]
) -> None:
    schema.migrate(arena.settings)  # finds nothing to do, and does not mind
    told = {"name": "Cup", "entrants": ready_bots(4), "players": 2, "rules": SMALL, "deals": 5}
    cup = tournaments.create(arena, author, told).id

    def work(number: int) -> int:
        played, dice = 0, random.Random(number)
        worker = f"host-0-{number}-1"
        while held := leases.claim_some(arena, worker, Share(dice.choice([10, 30]), {cup: 10.0}, 4)):
            assert all(leases.renew_all(arena, held))
            played += sum(finish(arena, each)[0] for each in held)
            reap.reap(arena)
        return played

    with ThreadPoolExecutor(12) as crowd:
        assert sum(crowd.map(work, range(12))) == 60
    assert tournaments.tournament(arena, cup).status == "finished"
    assert rerate.rerate(arena).wrong == []
    with arena.read(steady=True) as db:
        assert progress.of_tournaments(db, [cup])[cup] == progress.recounted(db, cup)
        assert db.scalar(select(func.count()).select_from(tables.seat)) == 120
    with arena.glance() as db:
        sessions = text("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
        assert 1 <= int(db.scalar(sessions) or 0) <= CONNECTIONS + 1, "and the test's own"


def test_a_lock_is_not_waited_for_longer_than_said(arena: Arena) -> None:
    accounts.register(arena, name="Ada")
    locked = select(tables.account).with_for_update()
    hasty = Arena.open(arena.settings, InlineQueue(), arena.clock, patience=0.05)
    with arena.work() as work:
        work.db.execute(locked)
        with pytest.raises(Unavailable, match="busy"), hasty.work() as other:
            other.db.execute(locked)
    with arena.work() as work:
        assert work.db.scalar(text("SHOW lock_timeout")) == "30s", "nothing of it is left in the session"
    hasty.close()


def test_without_the_setting_it_is_refused_at_once_and_said_why(arena: Arena) -> None:
    plain = Arena.open(replace(arena.settings, database_pooled=False), InlineQueue(), patience=0.5)
    with pytest.raises(Unavailable, match="RAGE_DATABASE_POOLED"), plain.read():
        pass
    plain.close()
