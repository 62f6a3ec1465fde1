"""Several matches under one lease: each still finished, lost, suspected and handed back by itself."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, update

from loadtests import singly
from service import (
    accounts,
    bots,
    costs,
    incidents,
    leases,
    reap,
    rerate,
    tables,
    tournaments,
    turns,
)
from service.accounts import Account
from service.jobs import PLAY
from service.leases import Assignment
from service.lost import inherit
from service.sheet import Sheet
from service.turns import ONE, Share
from service.work import Arena
from tests.service.batched import consistent, rows, some

SMALL = {"preset": "fundex", "hand_sizes": [1]}
CODE = b"def bid(view):\n    return 0\n"
Make = Callable[[Assignment], Sheet]


def spec(entrants: list[str], deals: int) -> dict[str, Any]:
    return {"name": "Cup", "entrants": entrants, "players": 2, "deals": deals, "rules": SMALL}


@pytest.fixture
def cup(arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]) -> str:
    """24 matches in twelve deals."""
    return tournaments.create(arena, author, spec(ready_bots(4), 2)).id


def test_a_batch_is_the_next_matches_in_their_order_under_one_lease(
    arena: Arena, cup: str, make: Make
) -> None:
    held = some(arena, cup, "w", 4)
    assert [each.number for each in held] == [0, 1, 2, 3]
    assert len({each.token for each in held}) == 1
    alone = singly.claim(arena, "another")
    assert alone is not None and alone.number == 4
    taken, following = leases.give_in_all(
        arena, [make(each) for each in held], worker="w", share=Share(20, {cup: 10})
    )
    assert (taken, [each.number for each in following]) == ([True] * 4, [5, 6])
    assert Counter(row.status for row in rows(arena).values()) == {"done": 4, "leased": 3, "planned": 17}
    assert consistent(arena, cup) and rerate.rerate(arena).wrong == []


@pytest.mark.parametrize(
    ("share", "fits"),
    [
        (Share(250, {"t": 60.0}), 4),
        (Share(250, {"t": 70.0}), 4),
        (Share(250, {"t": 240.0}), 1),
        (Share(250, {"t": 10_000.0}), 1),
        (Share(-5, {"t": 60.0}), 1),
        (Share(250, {"other": 60.0}), 1),
        (Share(250, {"t": 0.0}), turns.MOST),
    ],
)
def test_as_many_fit_as_last_so_long_together_and_one_at_least(share: Share, fits: int) -> None:
    assert share.fits("t") == fits


def test_who_finds_all_that_waits_in_anothers_hands_rings_again(
    arena: Arena, cup: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    if arena.database.dialect.name == "sqlite":
        pytest.skip("a writer is alone")
    for _ in range(23):
        leases.claim_some(arena, "others", ONE)
    with arena.work() as work:
        work.db.execute(leases.NEXT, {"this": cup, "most": 1}).one()
        arena.queue.waiting.clear()  # type: ignore[attr-defined]
        assert leases.claim_some(arena, "w", Share(40, {cup: 10.0})) == []
    assert [job.name for job in arena.queue.waiting] == [PLAY]  # type: ignore[attr-defined]


def test_no_more_is_locked_than_is_taken(arena: Arena, cup: str) -> None:
    if arena.database.dialect.name == "sqlite":
        pytest.skip("a writer is alone")
    share = Share(1000, {cup: 10.0}, 3)
    with arena.work() as work:
        assert len(leases._claim(work, "w", leases._lease(arena), turns.waiting(work), share)) == 4
        assert len(leases.claim_some(arena, "v", share)) == 4


@pytest.mark.parametrize(
    ("workers", "first", "numbers"), [(1, 0, 12), (3, 0, 4), (24, 0, 1), (3, 18, 1), (1, 22, 1)]
)
def test_nobody_takes_more_than_half_its_part_of_what_is_left(
    arena: Arena, cup: str, workers: int, first: int, numbers: int
) -> None:
    for _ in range(first):
        assert singly.claim(arena, "others") is not None
    assert len(leases.claim_some(arena, "w", Share(1000, {cup: 10.0}, workers))) == numbers


def test_a_batch_ends_before_what_was_tried_before_which_is_played_by_itself(arena: Arena, cup: str) -> None:
    held = [singly.claim(arena, "w") for _ in range(4)]
    leases.give_back(arena, held[2], "Stopped: ", suspicion=0)  # type: ignore[arg-type]
    leases.give_back(arena, held[0], "Stopped: ", suspicion=0)  # type: ignore[arg-type]
    share = Share(40, {cup: 10.0})
    found = [[each.number for each in leases.claim_some(arena, "w", share)] for _ in range(3)]
    assert found == [[0], [2], [4, 5, 6, 7]]


def test_what_was_not_begun_is_planned_as_if_it_had_never_been_claimed(
    arena: Arena, cup: str, make: Make
) -> None:
    before = rows(arena)
    held = some(arena, cup, "w", 4)
    leases.give_in_all(arena, [make(held[0])], worker="w", unbegun=held[1:])
    now = rows(arena)
    same = ("status", "attempts", "suspicion", "trouble", "started_at", "lease_token", "lease_until")
    for number in (1, 2, 3):
        assert [getattr(now[number], name) for name in same] == [
            getattr(before[number], name) for name in same
        ]
    assert now[0].status == "done" and consistent(arena, cup)
    with arena.read() as db:
        assert sum(incidents.counts(db).values()) == 0
    assert [each.number for each in some(arena, cup, "another", 4)] == [1, 2, 3, 4]


def test_each_result_of_a_batch_is_judged_by_its_own_match(arena: Arena, cup: str, make: Make) -> None:
    held = some(arena, cup, "w", 4)
    leases.give_back(arena, held[1], "lost", suspicion=0)
    again = singly.claim(arena, "another")
    assert again is not None and again.number == held[1].number
    sheets = [make(each) for each in held]
    assert leases.give_in_all(arena, sheets, worker="w")[0] == [True, False, True, True]
    assert leases.give_in(arena, make(again), worker="another")[0]
    assert leases.give_in_all(arena, sheets, worker="w")[0] == [False] * 4
    with arena.read() as db:
        assert incidents.counts(db)[incidents.LATE] == 2, "one for each time it was too late"
    assert consistent(arena, cup) and rerate.rerate(arena).wrong == []


def test_all_that_is_held_is_renewed_and_what_is_lost_is_told(
    arena: Arena, cup: str, pass_time: Callable[[float], int]
) -> None:
    held = some(arena, cup, "host-ab-0-1", 3)
    for _ in range(6):
        assert pass_time(arena.settings.lease_seconds / 3) == 0
        assert leases.renew_all(arena, held) == [True] * 3
    leases.give_back(arena, held[1], "lost", suspicion=0)
    assert leases.renew_all(arena, held) == [True, False, True]


def test_short_matches_give_nobody_more_workers(arena: Arena, cup: str, clock: Any, make: Make) -> None:
    """A batch is one worker's: whose matches are long gets as many workers as whose are short."""
    other, _ = accounts.register(arena, name="Bob")
    theirs = [bots.submit(arena, other, name=f"b{n}", filename="b.py", content=CODE).id for n in range(2)]
    with arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    long_ones = tournaments.create(arena, other, spec(theirs, 10)).id
    share, served = Share(40, {cup: 10.0, long_ones: 5000.0}), []
    for number in range(6):
        clock.turn(0.1)
        held = leases.claim_some(arena, f"w-{number}", share)
        served.append((held[0].tournament_id, len(held)))
    assert Counter(served) == {(cup, 4): 3, (long_ones, 1): 3}


def test_a_cancelled_tournament_takes_no_result_of_a_batch_and_a_paused_one_takes_all(
    arena: Arena, author: Account, cup: str, make: Make
) -> None:
    first, second = some(arena, cup, "w", 2), some(arena, cup, "v", 2)
    tournaments.pause(arena, author, cup)
    share = Share(20, {cup: 10.0})
    assert leases.give_in_all(arena, [make(each) for each in first], worker="w", share=share) == (
        [True] * 2,
        [],
    )
    tournaments.cancel(arena, author, cup)
    assert leases.renew_all(arena, second) == [False, False]
    told = leases.give_in_all(arena, [make(second[0])], worker="v", share=share, unbegun=second[1:])
    assert told == ([False], [])
    with arena.read() as db:
        assert incidents.counts(db)[incidents.LATE] == 0, "that was the organiser"
    assert Counter(row.status for row in rows(arena).values()) == {"done": 2, "void": 22}
    assert consistent(arena, cup)


def test_what_comes_back_of_a_stopped_ladder_is_void(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]
) -> None:
    told = {**spec(ready_bots(4), 3), "format": "ladder"}
    cup = tournaments.create(arena, author, told).id
    held = some(arena, cup, "w", 6)
    tournaments.stop(arena, author, cup)
    share = Share(60, {cup: 10.0})
    assert leases.give_in_all(arena, [], worker="w", unbegun=held, share=share) == ([], [])
    assert {row.status for row in rows(arena).values()} == {"void"}
    assert tournaments.tournament(arena, cup).status == "finished" and consistent(arena, cup)


def test_a_match_is_told_to_have_lasted_as_long_as_it_did(
    arena: Arena, cup: str, make: Make, clock: Any
) -> None:
    held = some(arena, cup, "w", 4)
    clock.turn(2)
    leases.give_in_all(arena, [replace(make(each), took_ms=500) for each in held], worker="w")
    with arena.read() as db:
        assert costs._match_seconds(db, [cup]) == pytest.approx(0.5)
    older = make(some(arena, cup, "w", 2)[0])
    clock.turn(3)
    assert leases.give_in_all(arena, [older], worker="w")[0] == [True]
    row = rows(arena)[older.number]
    assert (row.finished_at - row.started_at).total_seconds() == 3


@pytest.mark.parametrize("seed", range(2))
def test_whatever_happens_to_batches_nothing_is_lost_or_counted_twice(
    arena: Arena, author: Account, cup: str, make: Make, pass_time: Callable[[float], int], seed: int
) -> None:
    """Claims of any size, results in any order and twice, processes that die, machines that vanish."""
    dice, at_work, sheets = random.Random(seed), {}, []  # type: ignore[var-annotated]
    for step in range(100):
        assert step % 10 or consistent(arena, cup)
        worker = f"host-{dice.randrange(2)}-{dice.randrange(2)}-{step}"
        act = dice.choice(["claim", "claim", "give in", "give in", "hand back", "die", "vanish", "late"])
        if act == "claim":
            share = Share(dice.choice([10.0, 40.0, 80.0]), {cup: 10.0}, dice.choice([1, 2, 5]))
            at_work[worker] = leases.claim_some(arena, worker, share)
        elif act == "late" and sheets:
            leases.give_in_all(arena, dice.sample(sheets, min(3, len(sheets))), worker="late")
        elif at_work:
            worker = dice.choice(sorted(at_work))
            held = at_work.pop(worker)
            played = dice.randrange(len(held) + 1)
            mine = [make(each) for each in held[:played]]
            if act == "give in":
                leases.give_in_all(arena, [make(each) for each in held], worker=worker)
            elif act == "hand back":
                leases.give_in_all(arena, mine, worker=worker, unbegun=held[played:])
            elif act == "die":
                at = held[played].match_id if played < len(held) else None
                inherit(arena, worker.rsplit("-", 1)[0], "heir", at)
            elif act == "vanish":
                at_work.clear()
                pass_time(2 * arena.settings.lease_seconds)
            sheets += mine
    assert consistent(arena, cup)
    reap.reap(arena)
    assert consistent(arena, cup)
    with arena.read() as db:
        seats = Counter(db.scalars(select(tables.seat.c.number)))
    done = {number for number, row in rows(arena).items() if row.status == "done"}
    assert seats == dict.fromkeys(done, 2) and rerate.rerate(arena).wrong == []
    assert all(row.attempts >= (row.status in ("done", "leased")) for row in rows(arena).values())
