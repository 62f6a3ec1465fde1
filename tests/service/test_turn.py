"""Writers of SQLite wait for one another, in a process and beside it, and are told when it takes too long."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import func, insert, select
from sqlalchemy.exc import DatabaseError

from service import turn
from service.errors import Unavailable
from service.jobs import InlineQueue
from service.settings import Settings
from service.tables import pulse
from service.turn import Turn
from service.work import HASTY, PATIENT, Arena

THREADS, WRITES = 16, 6


@pytest.fixture
def hasty(arena: Arena) -> Iterator[Arena]:
    """A second look at the same database, with little patience."""
    if arena.database.dialect.name != "sqlite":
        pytest.skip("PostgreSQL has its own queues")
    with closing(Arena.open(arena.settings, arena.queue, arena.clock, patience=0.05)) as opened:
        yield opened


def write(arena: Arena, number: int) -> None:
    with arena.work() as work:
        work.db.execute(insert(pulse).values(id=number, at=work.now, watched_ms=0))


def another_process(settings: Settings, first: int) -> None:
    with closing(Arena.open(settings, InlineQueue())) as arena:
        for number in range(first, first + WRITES):
            write(arena, number)


def test_threads_and_processes_that_write_all_at_once_are_all_served(arena: Arena) -> None:
    beside = multiprocessing.get_context("spawn").Process(
        target=another_process, args=(arena.settings, THREADS * WRITES)
    )
    beside.start()
    with ThreadPoolExecutor(THREADS) as crowd:
        list(crowd.map(lambda number: write(arena, number), range(THREADS * WRITES)))
    beside.join(60)
    assert beside.exitcode == 0
    with arena.glance() as db:
        assert db.scalar(select(func.count()).select_from(pulse)) == (THREADS + 1) * WRITES


def test_who_waits_too_long_for_its_own_process_is_told_that_it_is_busy(hasty: Arena) -> None:
    hasty = replace(hasty, turn=Turn(0.05))
    with hasty.work(), pytest.raises(Unavailable, match="busy"), hasty.work():
        raise AssertionError("two at once")
    write(hasty, 1)


def test_who_waited_behind_one_that_was_turned_away_is_turned_away_with_it(
    arena: Arena, hasty: Arena
) -> None:
    """Else each would wait for itself, one after the other."""
    all_there = Barrier(THREADS)

    def turned_away(number: int) -> str:
        all_there.wait(30)
        try:
            write(hasty, number)
        except Unavailable as busy:
            return repr(busy.__cause__)
        return "written"

    with arena.work(), ThreadPoolExecutor(THREADS) as crowd:
        said = list(crowd.map(turned_away, range(THREADS)))
    assert sum("in vain" in each for each in said) > THREADS / 2
    assert "written" not in said


def test_who_was_turned_away_writes_the_next_time_with_the_patience_it_had(
    arena: Arena, hasty: Arena
) -> None:
    with arena.work(), pytest.raises(Unavailable, match="busy"):
        write(hasty, 1)
    write(hasty, 1)
    with hasty.read() as db:
        assert db.exec_driver_sql("PRAGMA busy_timeout").scalar() == 50
        assert db.scalar(select(func.count()).select_from(pulse)) == 1


@pytest.mark.parametrize("kind", ["sqlite"])
def test_what_was_waited_for_the_others_of_a_process_is_not_waited_again(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = list[float]()
    monkeypatch.setattr(turn, "_look", lambda raw, patience: waited.append(patience))
    for left in (20.0, -1.0, 99.0):
        with replace(arena, turn=partial(nullcontext, left)).work():
            pass
    assert waited == [20.0, HASTY, PATIENT]
    with Turn(9.0)() as left:
        assert left <= 9.0


def test_what_is_no_database_is_told_as_of_any_other_statement(tmp_path: Path) -> None:
    (tmp_path / "rage.sqlite3").write_bytes(b"nothing of the kind " * 100)
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path)})
    with closing(Arena.open(settings, InlineQueue())) as arena:
        with pytest.raises(DatabaseError, match="not a database"), arena.work():
            raise AssertionError("it was begun")
        with pytest.raises(DatabaseError, match="not a database"), arena.read() as db:
            db.execute(select(pulse))


def test_what_fails_gives_its_turn_back(hasty: Arena) -> None:
    with pytest.raises(ZeroDivisionError), hasty.work():
        _ = 1 / 0
    write(hasty, 1)
