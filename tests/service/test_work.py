"""A look at the database, with and without a transaction; what is said when others are in the way."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import create_engine, func, insert, select, text, update

from service.errors import Unavailable
from service.tables import pulse
from service.work import Arena


def test_a_glance_sees_what_is_committed_and_leaves_the_connection_as_it_was(arena: Arena) -> None:
    count = select(func.count()).select_from(pulse)
    with arena.glance() as db:
        assert db.scalar(count) == 0
    with pytest.raises(RuntimeError), arena.work() as work:
        work.db.execute(insert(pulse).values(id=1, at=work.now, watched_ms=0))
        raise RuntimeError
    with arena.glance() as db:
        assert db.scalar(count) == 0, "a write after it is a transaction again"
    with arena.work() as work:
        work.db.execute(insert(pulse).values(id=1, at=work.now, watched_ms=0))
        with arena.glance() as db:
            assert db.scalar(count) == 0
    with arena.glance() as db:
        assert db.scalar(count) == 1


@pytest.fixture
def rows(arena: Arena) -> None:
    with arena.work() as work:
        work.db.execute(insert(pulse), [{"id": n, "at": work.now, "watched_ms": 0} for n in (1, 2)])


@pytest.mark.usefixtures("rows")
def test_who_waited_too_long_for_another_is_told_that_it_is_busy(arena: Arena) -> None:
    hasty = Arena.open(arena.settings, arena.queue, arena.clock, patience=0.05)
    with arena.work() as work:
        work.db.execute(update(pulse).values(watched_ms=1))
        with pytest.raises(Unavailable, match="busy"), hasty.work() as other:
            other.db.execute(update(pulse).values(watched_ms=2))
    hasty.close()


@pytest.mark.usefixtures("rows")
def test_of_two_who_wait_for_each_other_one_is_told_that_it_is_busy(arena: Arena) -> None:
    if arena.database.dialect.name == "sqlite":
        pytest.skip("a writer is alone there")
    both = Barrier(2)

    def lock(order: Sequence[int]) -> str:
        try:
            with arena.work() as work:
                work.db.execute(text("SET LOCAL deadlock_timeout = '20ms'"))
                work.db.execute(update(pulse).where(pulse.c.id == order[0]).values(watched_ms=1))
                both.wait(5)
                work.db.execute(update(pulse).where(pulse.c.id == order[1]).values(watched_ms=1))
        except Unavailable as error:
            return str(error)
        return "done"

    with ThreadPoolExecutor(2) as crowd:
        told = sorted(crowd.map(lock, ((1, 2), (2, 1))))
    assert told == ["done", "the database is busy; try again"]


def test_who_finds_all_connections_taken_is_told_that_it_is_busy(arena: Arena) -> None:
    one = create_engine(arena.database.url, pool_size=1, max_overflow=0, pool_timeout=0.05)
    narrow = replace(arena, database=one)
    with narrow.read(), pytest.raises(Unavailable, match="busy"), narrow.read():
        pass
    one.dispose()
