"""Fitting anew: a function of results alone, by one desk at a time, kept in snapshots that never change."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from loadtests import singly
from service import counts, paging, rankings, refit, rerate, tables, tournaments
from service.accounts import Account
from service.errors import Invalid
from service.leases import Assignment
from service.rating_models import MODELS
from service.work import Arena

QUICK = {"preset": "fundex", "hand_sizes": [1]}
RESULTS = (
    tables.progress,
    tables.rating,
    tables.estimate,
    tables.snapshot,
    tables.counted,
    tables.fault,
    tables.seat,
)


@pytest.fixture
def cups(arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]) -> list[str]:
    """Two tournaments of one pool, under way at once: 15 matches in 5 deals."""
    ready, told = ready_bots(4), {"players": 3, "deals": 1, "rules": QUICK}
    return [
        tournaments.create(arena, author, {**told, "name": name, "entrants": entrants}).id
        for name, entrants in (("One", ready), ("Two", ready[1:]))
    ]


def claimed(arena: Arena) -> list[Assignment]:
    return list(iter(lambda: singly.claim(arena, "w"), None))


def pool(arena: Arena) -> Any:
    with arena.read() as db:
        return db.execute(select(tables.pool)).one()


def newest(arena: Arena) -> dict[str, str]:
    """By model: all that the newest snapshot says, as text."""
    row, told = pool(arena), {}
    same = ("model_version", "parameters", "matches", "deals", "tournaments", "last_deal", "digest", "body")
    with arena.read() as db:
        for model in MODELS:
            found = db.execute(refit.newest(row.rules_key, row.players, model)).one()
            told[model] = json.dumps([getattr(found, name) for name in same])
    return told


def undo(arena: Arena) -> None:
    """As if nothing had been played yet."""
    with arena.work() as work:
        for table in RESULTS:
            work.db.execute(table.delete())
        fresh = {"status": "planned", "lease_token": None, "lease_until": None, "attempts": 0}
        work.db.execute(update(tables.match).values(fresh))
        work.db.execute(update(tables.tournament).values(status="running", finished_at=None))


@pytest.mark.timeout(400)
def test_many_orders_with_results_given_in_twice_give_the_same_bytes(
    arena: Arena, cups: list[str], finish: Callable[..., Any], clock: Any, kind: str
) -> None:
    orders = 20 if kind == "sqlite" else 6  # the sums are the same ones; a server is slower to ask
    expected: dict[str, str] = {}
    for order in range(orders):
        dice, held = random.Random(order), claimed(arena)
        assert len(held) == 15
        dice.shuffle(held)
        for at, each in enumerate(held):
            clock.turn(0.5)
            assert finish(arena, each)[0]
            if dice.random() < 0.1:
                assert not finish(arena, dice.choice(held[: at + 1]))[0], "it counts once"
            if dice.random() < 0.1:
                refit.refit(arena, pool(arena).rules_key, 3)
        clock.turn(5)
        for cup in cups:
            assert tournaments.tournament(arena, cup).status == "finished"
            refit.settle(arena, cup)
        found = newest(arena)
        expected = expected or found
        assert found == expected, f"order {order}"
        if order < orders - 1:
            undo(arena)
    assert rerate.rerate(arena).wrong == []


def test_one_desk_at_a_time_fits_a_pool(
    arena: Arena, cups: list[str], play_all: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_all(arena)
    rules, seen, model = pool(arena).rules_key, list[bool](), MODELS["elo"]

    def meanwhile(results: Any) -> Any:
        seen.append(refit.refit(arena, rules, 3))
        return model.rate(results)

    monkeypatch.setitem(MODELS, "elo", replace(model, rate=meanwhile))
    assert refit.refit(arena, rules, 3) is True
    assert seen == [False], "the other desk leaves it to the first"
    assert refit.refit(arena, rules, 3) is False, "nothing new"


def test_what_a_dead_desk_held_is_fitted_when_its_lease_is_over(
    arena: Arena, cups: list[str], play_all: Any, clock: Any
) -> None:
    play_all(arena)
    rules = pool(arena).rules_key
    assert refit._take(arena, rules, 3, "dead") is not None
    assert refit.settle_running(arena) == 0
    clock.turn(refit.LEASE.total_seconds() + 1)
    assert refit.settle_running(arena) == 1
    with arena.work() as work:
        assert not refit._let_go(work, rules, 3, "dead")


def test_a_clock_that_goes_back_stops_no_ratings(
    arena: Arena, cups: list[str], clock: Any, finish: Callable[..., Any]
) -> None:
    held = claimed(arena)
    for each in held[:10]:
        finish(arena, each)
    assert refit.settle_running(arena) == 1
    before = rankings.rankings(arena, rules=pool(arena).rules_key, players=3)
    for each in held[10:]:
        finish(arena, each)
    assert refit._take(arena, pool(arena).rules_key, 3, "dead") is not None
    clock.turn(-86_400)
    assert refit.settle_running(arena) == 1
    after = rankings.rankings(arena, rules=pool(arena).rules_key, players=3)
    assert after.matches > before.matches


def test_a_pool_that_cannot_be_fitted_keeps_nobody_from_anything(
    arena: Arena, cups: list[str], play_all: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_all(arena)

    def broken(results: Any) -> Any:
        raise ValueError("no rating")

    with monkeypatch.context() as patch:
        patch.setitem(MODELS, "elo", replace(MODELS["elo"], rate=broken))
        assert refit.settle_running(arena) == 0
    assert refit.settle_running(arena) == 1


def test_a_lost_message_of_the_end_is_made_up_for(arena: Arena, cups: list[str], play_all: Any) -> None:
    play_all(arena)
    assert pool(arena).asked_at is not None, "the end asked for it, whatever becomes of the message"
    assert refit.settle_running(arena) == 1
    assert (pool(arena).asked_at, refit.settle_running(arena)) == (None, 0)


def test_what_is_asked_for_while_it_is_fitted_is_done_next(
    arena: Arena, cups: list[str], play_all: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a clock that stands still, or another's that is behind."""
    play_all(arena)
    rules_key, fits = pool(arena).rules_key, refit._fits

    def interrupted(*asked: Any) -> Any:
        found = list(fits(*asked))
        with arena.work() as work:
            counts.ask(work, rules_key, 3)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(refit, "_fits", interrupted)
        assert refit.refit(arena, rules_key, 3)
    assert pool(arena).asked_at is not None
    assert (refit.refit(arena, rules_key, 3), pool(arena).asked_at) == (False, None)


def test_snapshots_between_are_let_go_after_a_day_those_after_a_tournament_stay(
    arena: Arena, cups: list[str], play_all: Any, clock: Any, finish: Callable[..., Any]
) -> None:
    held = claimed(arena)
    for each in held[:10]:
        finish(arena, each)
    assert refit.settle(arena, cups[0])
    for each in held[10:]:
        finish(arena, each)
    refit.settle(arena, cups[1])
    clock.turn(timedelta(days=2).total_seconds())
    with arena.work() as work:
        counts.ask(work, pool(arena).rules_key, 3)
        work.db.execute(update(tables.bot).values(retired_at=work.now))
    assert refit.settle_running(arena) == 1
    with arena.read() as db:
        rows = db.execute(select(tables.snapshot).where(tables.snapshot.c.model == "elo")).all()
    assert [row.final for row in rows].count(False) == 1, "the newest, which is after no tournament"
    assert all(row.tournaments for row in rows if row.final)


def test_what_is_asked_of_the_rankings_touches_no_results(
    arena: Arena, cups: list[str], play_all: Any, queries: list[str]
) -> None:
    play_all(arena)
    refit.settle(arena, cups[0])
    rules = pool(arena).rules_key
    queries.clear()
    for model in MODELS:
        assert len(rankings.rankings(arena, rules=rules, players=3, model=model).items) == 4
    asked = [query for query in queries if query.startswith("SELECT")]
    assert len(asked) == 3 * len(MODELS)
    named = " ".join(asked)
    assert not any(
        f"FROM {table}" in named or f"JOIN {table}" in named for table in ("match", "seat", "counted")
    )


def test_of_ten_minutes_under_way_the_last_snapshot_is_kept(
    arena: Arena, cups: list[str], finish: Callable[..., Any], clock: Any
) -> None:
    held, kept = claimed(arena), set()
    for each in held:
        finish(arena, each)
        clock.turn(240)
        refit.refit(arena, pool(arena).rules_key, 3)
        with arena.read() as db:
            query = select(tables.snapshot).where(tables.snapshot.c.model == "elo")
            rows = db.execute(query.order_by(tables.snapshot.c.created_at)).all()
        slots = [refit._slot(row.created_at) for row in rows[:-1] if not row.final]
        assert len(slots) - len(set(slots)) <= 2, "only the slot that just began is not thinned yet"
        kept |= set(slots)
    assert len(kept) > 2
    clock.turn(8 * 86400)
    with pytest.raises(Invalid, match="kept no more"):
        rankings.rankings(arena, rules=pool(arena).rules_key, players=3, cursor=paging.written([10**6, 2]))
