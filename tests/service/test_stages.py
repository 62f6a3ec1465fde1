"""Stages: written once however many ask, in portions, and closed when there is nothing left to play."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from loadtests import singly
from service import matches, parts, reap, stages, tables, tournaments
from service.accounts import Account
from service.formats import Done, Field, Stage, base
from service.formats.swiss import Swiss
from service.leases import Assignment
from service.work import Arena

Ready = Callable[[int], list[str]]
PlayAll = Callable[[Arena], int]
Finish = Callable[..., tuple[bool, Assignment | None]]
SMALL = {"preset": "fundex", "hand_sizes": [2, 1]}


def spec(entrants: list[str], **changes: Any) -> dict[str, Any]:
    return {"name": "Cup", "entrants": entrants, "players": 4, "deals": 2, "rules": SMALL, **changes}


def count(arena: Arena, tournament_id: str) -> int:
    query = select(func.count()).where(tables.match.c.tournament_id == tournament_id)
    with arena.read() as db:
        return db.scalar(query) or 0


@pytest.fixture
def in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "PORTION", 16)
    monkeypatch.setattr(parts, "AHEAD", 8)


@pytest.mark.usefixtures("in_portions")
def test_a_round_robin_is_written_in_portions_ahead_of_play_and_ends_whole(
    arena: Arena, author: Account, ready_bots: Ready, finish: Finish
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(5), deals=3))
    assert made.progress.total == 60
    assert count(arena, made.id) == 20
    held, written = singly.claim(arena, "w"), [20]
    while held is not None:
        reap.reap(arena)
        written.append(count(arena, made.id))
        _, held = finish(arena, held, more=True)
    assert sorted(set(written)) == [20, 40, 60]
    over = tournaments.tournament(arena, made.id)
    assert (over.status, over.progress.played) == ("finished", 60)
    assert [each.number for each in matches.matches(arena, made.id, limit=200).items] == list(range(60))


@pytest.mark.usefixtures("in_portions")
def test_the_last_match_of_a_portion_brings_the_next_without_the_reaper(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(5), deals=3))
    assert play_all(arena) == 60
    assert tournaments.tournament(arena, made.id).status == "finished"


@pytest.mark.usefixtures("in_portions")
def test_a_stage_is_written_once_however_many_ask_for_it(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(5), deals=3))
    with arena.work() as work:
        work.db.execute(update(tables.match).values(status="failed"))
    gate = threading.Barrier(6)

    def ask() -> None:
        gate.wait()
        stages.advance(arena, made.id)

    askers = [threading.Thread(target=ask) for _ in range(6)]
    for each in askers:
        each.start()
    for each in askers:
        each.join()
    assert count(arena, made.id) == 40


def test_a_lost_start_and_a_lost_end_are_made_up_for(
    arena: Arena, author: Account, ready_bots: Ready, monkeypatch: pytest.MonkeyPatch, play_all: PlayAll
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(stages, "begin", lambda arena, tournament_id: False)
        made = tournaments.create(arena, author, spec(ready_bots(4)))
    assert made.status == "scheduled"
    assert reap.reap(arena).started == 1
    with monkeypatch.context() as patch:
        patch.setattr(stages, "advance", lambda arena, tournament_id: False)
        assert play_all(arena) == 8
    assert tournaments.tournament(arena, made.id).status == "running"
    assert reap.reap(arena).advanced == 1
    assert tournaments.tournament(arena, made.id).status == "finished"


def test_starting_twice_at_once_begins_once(arena: Arena, author: Account, ready_bots: Ready) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4), start_at="manual"))
    begun: list[bool] = []
    askers = [threading.Thread(target=lambda: begun.append(stages.begin(arena, made.id))) for _ in range(6)]
    for each in askers:
        each.start()
    for each in askers:
        each.join()
    assert sorted(begun) == [False] * 5 + [True]
    assert count(arena, made.id) == 8


def test_a_plan_that_fails_keeps_no_other_tournament_waiting(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    ids = ready_bots(4)
    broken = tournaments.create(arena, author, spec(ids, start_at="manual"))
    with arena.work() as work:
        this = tables.tournament.c.id == broken.id
        work.db.execute(
            update(tables.tournament).where(this).values(status="running", format="dance", more=True)
        )
    made = tournaments.create(arena, author, spec(ids))
    with arena.work() as work:
        work.db.execute(update(tables.match).values(status="failed"))
    reap.reap(arena)
    assert tournaments.tournament(arena, made.id).status == "finished"


def test_cancelling_while_results_come_in_never_deadlocks(
    arena: Arena, author: Account, ready_bots: Ready, finish: Finish
) -> None:
    ids = ready_bots(4)
    for _ in range(4):
        made = tournaments.create(arena, author, spec(ids, deals=400))  # more than is played meanwhile
        trouble: list[BaseException] = []

        def work_on(name: str, trouble: list[BaseException] = trouble) -> None:
            try:
                held = singly.claim(arena, name)
                while held is not None:
                    _, held = finish(arena, held, more=True)
            except BaseException as error:
                trouble.append(error)

        workers = [threading.Thread(target=work_on, args=(f"w{n}",)) for n in range(3)]
        for each in workers:
            each.start()
        assert tournaments.cancel(arena, author, made.id).status == "cancelled"
        for each in workers:
            each.join()
        assert trouble == []
        assert {each.status for each in matches.matches(arena, made.id, limit=200).items} <= {"done", "void"}


def test_matches_become_void_in_the_order_in_which_others_lock_them(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    if arena.database.dialect.name == "sqlite":
        pytest.skip("a writer is alone there")
    made = tournaments.create(arena, author, spec(ready_bots(4), deals=1))
    number, waiting = tables.match.c.number, text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    with arena.work() as work:  # the first lies behind the others in the file from now on
        work.db.execute(update(tables.match).where(number == 0).values(trouble="moved"))

    def void() -> None:
        with arena.work() as work:
            for way in ("indexscan", "bitmapscan"):  # in which the index's order might hide its lack
                work.db.execute(text(f"SET LOCAL enable_{way} = off"))
            stages.void(work, made.id)

    with ThreadPoolExecutor(1) as other, arena.work() as work:
        work.db.execute(select(number).where(number == 1).with_for_update())
        done = other.submit(void)
        until = time.monotonic() + 60
        while not work.db.scalar(waiting) and time.monotonic() < until:
            time.sleep(0.01)
        free = select(number).where(number != 1).order_by(number).with_for_update(skip_locked=True)
        assert work.db.scalars(free).all() == [2, 3]
    done.result()


def test_who_gives_in_the_last_of_a_deal_waits_for_nobody_who_changes_the_tournament(
    arena: Arena, author: Account, ready_bots: Ready, finish: Finish
) -> None:
    if arena.database.dialect.name == "sqlite":
        pytest.skip("a writer is alone there")
    made = tournaments.create(arena, author, spec(ready_bots(4), deals=1, rules=SMALL))
    *others, last = [held for held in iter(lambda: singly.claim(arena, "w"), None)][:4]
    for held in others:
        finish(arena, held)
    giving = threading.Thread(target=finish, args=(arena, last))
    with arena.work() as work:
        stages.lock(work, made.id)
        giving.start()
        until = time.monotonic() + 60
        while matches.match(arena, last.match_id).status != "done" and time.monotonic() < until:
            time.sleep(0.02)
        assert matches.match(arena, last.match_id).status == "done"
    giving.join()


def test_nobody_waits_and_no_lease_runs_while_a_stage_is_worked_out(
    arena: Arena, author: Account, ready_bots: Ready, finish: Finish, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = ready_bots(4)
    other = Arena.open(arena.settings, arena.queue, arena.clock, patience=0.2)
    real, leased = Swiss.stage, []

    def slowly(self: Swiss, field: Field, number: int, done: Sequence[Done]) -> Stage | None:
        with other.work() as work:  # SQLite: nobody else may be writing
            work.db.execute(update(tables.tournament).values(name="Cup"))
            leased.append(work.db.scalar(select(func.count()).where(tables.match.c.status == "leased")))
        return real(self, field, number, done)

    monkeypatch.setattr(Swiss, "stage", slowly)
    tournaments.create(arena, author, spec(ids, format="swiss", stages=2, deals=1))
    assert leased == [0]
    tournaments.create(arena, author, spec(ids, deals=1))  # there is another match to go on with
    held = singly.claim(arena, "w")
    while held is not None and len(leased) < 2:
        _, held = finish(arena, held, more=True)
    assert leased == [0, 0]
    assert held is not None
    other.close()
