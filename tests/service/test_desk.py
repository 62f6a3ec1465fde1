"""The desk: what takes long is done aside, once, and is what an adding up gives."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, update

from service import desk, folds, inquiry, reap, refit, retention, summaries, tournaments
from service.accounts import Account
from service.leases import Assignment
from service.tables import bot, pool
from service.work import Arena

SMALL = {"preset": "fundex", "hand_sizes": [1]}


def cup(arena: Arena, author: Account, bots: list[str], **more: object) -> str:
    told = {"name": "Cup", "entrants": bots, "players": 2, "rules": SMALL, "deals": 2, **more}
    return tournaments.create(arena, author, told).id


def test_what_the_desk_keeps_is_what_an_adding_up_gives(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], play_all: Callable[[Arena], int]
) -> None:
    bots = ready_bots(4)
    made = [cup(arena, author, bots, deals=8), cup(arena, author, bots, format="swiss")]
    while play_all(arena):
        pass
    for each in made:
        standings, fairness = folds.standings_of(arena, each), inquiry.fairness_of(arena, each, named=True)
        with arena.read() as db:
            assert summaries.of_tournament(db, each) is None
        while desk.sum_up(arena):
            pass
        with arena.read() as db:
            assert summaries.of_tournament(db, each) is not None
        assert folds.standings_of(arena, each) == standings == folds.added_up(arena, each)
        assert inquiry.fairness_of(arena, each, named=True) == fairness
        with arena.work() as work:
            work.db.execute(update(bot).where(bot.c.id == bots[0]).values(name=f"renamed {each}"))
        renamed = [row.name if row.bot_id != bots[0] else f"renamed {each}" for row in standings]
        assert [row.name for row in folds.standings_of(arena, each)] == renamed
        with arena.work() as work:
            work.db.execute(summaries.summary.delete())


def test_a_pass_sums_up_what_is_over_and_nothing_else(
    arena: Arena,
    author: Account,
    ready_bots: Callable[[int], list[str]],
    finish: Callable[..., tuple[bool, Assignment | None]],
    play_all: Callable[[Arena], int],
) -> None:
    made = cup(arena, author, ready_bots(2))
    reap.reap(arena)
    with arena.read() as db:
        assert summaries.missing(db) == []
    play_all(arena)
    with arena.read() as db:
        assert summaries.missing(db) == [made]
    reap.reap(arena)
    with arena.read() as db:
        assert summaries.of_tournament(db, made) is not None
    with arena.work() as work:  # worked out by an older release
        work.db.execute(update(summaries.summary).values(version=summaries.VERSION - 1))
    with arena.read() as db:
        assert (summaries.of_tournament(db, made), summaries.missing(db)) == (None, [made])


def test_one_that_fails_blocks_no_other(
    arena: Arena,
    author: Account,
    ready_bots: Callable[[int], list[str]],
    play_all: Callable[[Arena], int],
    clock: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bots, add_up, tried = ready_bots(2), folds.added_up, []
    bad, good = cup(arena, author, bots), cup(arena, author, bots)
    play_all(arena)

    def fail(arena: Arena, tournament_id: str) -> Any:
        tried.append(tournament_id)
        if tournament_id == bad:
            raise ArithmeticError
        return add_up(arena, tournament_id)

    monkeypatch.setattr(folds, "added_up", fail)
    assert desk.sum_up(arena) == [good] and desk.sum_up(arena) == []
    assert sorted(tried) == sorted([bad, good]), "it is put off"
    clock.turn(desk.PUT_OFF.total_seconds())
    monkeypatch.undo()
    assert desk.sum_up(arena) == [bad]
    keeping = replace(arena, settings=replace(arena.settings, records_days=1))
    clock.turn(2 * 86_400)
    first, second = retention.due(keeping)
    (arena.settings.records / f"{first}.records").mkdir(parents=True)
    assert [desk.move_next(keeping) for _ in range(3)] == [[], [second], []]


def test_the_watch_goes_on_while_something_takes_long(arena: Arena) -> None:
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def long(_: Arena) -> None:
        begun.set()
        go_on.wait(20)
        done.set()

    assert desk.aside(arena, long) and begun.wait(20)
    try:
        reap.reap(arena, desk.aside)
        assert desk.aside(arena) is False, "one at a time"
    finally:
        go_on.set()
    assert done.wait(20)


def test_who_ends_lets_others_fit_what_it_was_fitting(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], play_all: Callable[[Arena], int]
) -> None:
    made = cup(arena, author, ready_bots(2))
    play_all(arena)
    with arena.read() as db:
        row = db.execute(select(pool)).one()
    taken = refit._take(arena, row.rules_key, row.players, "mine")
    assert taken is not None and refit.settle(arena, made) is False
    refit.break_off(arena)
    assert refit.settle(arena, made) is True
