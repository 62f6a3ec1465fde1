"""Leases under a watch that trusts no clock, and what an end without a result says about a match."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from loadtests import singly
from service import folds, incidents, leases, matches, presence, reap, tables, tournaments, trials
from service.accounts import Account
from service.leases import Assignment
from service.lost import ALONE, inherit
from service.sheet import Sheet
from service.work import Arena

Clock = Any  # the one of conftest.py
HOUR = 3600.0
SPEC = {"name": "Cup", "players": 4, "deals": 2, "rules": {"preset": "fundex", "hand_sizes": [2, 1]}}


@pytest.fixture
def cup(arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]) -> str:
    """A running tournament of eight matches in two deal groups."""
    return tournaments.create(arena, author, {**SPEC, "entrants": ready_bots(4)}).id


def claimed(arena: Arena, worker: str = "w") -> Assignment:
    held = singly.claim(arena, worker)
    assert held is not None
    return held


def row(arena: Arena, held: Assignment) -> Any:
    key = (tables.match.c.tournament_id == held.tournament_id, tables.match.c.number == held.number)
    with arena.read() as db:
        return db.execute(select(tables.match).where(*key)).one()


def counted(arena: Arena) -> dict[str, int]:
    with arena.read() as db:
        return incidents.counts(db)


def test_a_late_result_is_refused_noted_and_changes_nothing(
    arena: Arena, cup: str, pass_time: Callable[[float], int], finish: Callable[..., Any]
) -> None:
    slow = claimed(arena, "slow")
    assert pass_time(arena.settings.lease_seconds) == 1
    before = row(arena, slow)
    assert finish(arena, slow) == (False, None)
    assert row(arena, slow) == before
    assert counted(arena)[incidents.LATE] == 1
    with arena.read() as db:
        assert db.execute(select(tables.seat)).all() == []
        (kept,) = incidents.newest(db, incidents.LATE, 5)
    assert (kept.about, kept.worker) == (slow.match_id, "w")
    assert tournaments.tournament(arena, cup).progress.played == 0


@pytest.mark.parametrize("jump", [HOUR, -HOUR, 24 * HOUR, 10.0, -10.0])
def test_a_clock_that_jumps_takes_no_lease_away_and_keeps_no_dead_one(
    arena: Arena, cup: str, clock: Clock, pass_time: Callable[[float], int], jump: float
) -> None:
    living, dead = claimed(arena, "a-1-0-1"), claimed(arena, "b-1-0-1")
    pass_time(arena.settings.lease_seconds / 3)
    clock.turn(jump)
    assert reap.reap(arena).returned == 0
    for _ in range(6):
        assert singly.renew(arena, living)
        pass_time(arena.settings.lease_seconds / 3)
    assert [row(arena, each).status for each in (living, dead)] == ["leased", "planned"]


def test_a_holder_whose_clock_is_wrong_keeps_its_lease_and_loses_it_like_any_other(
    arena: Arena, cup: str, clock: Clock, pass_time: Callable[[float], int]
) -> None:
    wrong = [replace(arena, clock=lambda shift=shift: clock() + shift * (clock() - tables.EPOCH) / 100)
             for shift in (1, -1)]  # fmt: skip
    held = [claimed(each) for each in wrong]
    for _ in range(6):
        assert pass_time(arena.settings.lease_seconds / 3) == 0
        assert [singly.renew(there, each) for there, each in zip(wrong, held, strict=True)] == [True, True]
    assert pass_time(arena.settings.lease_seconds + 2) == 2


def test_nobody_is_dead_for_the_time_in_which_nobody_watched(
    arena: Arena, cup: str, clock: Clock, finish: Callable[..., Any], pass_time: Callable[[float], int]
) -> None:
    held = claimed(arena)
    pass_time(4)
    clock.turn(60)  # the database is away, and so is everything else
    assert reap.reap(arena).returned == 0
    assert finish(arena, held)[0], "a result is given in after a minute of absence"


def test_the_watch_counts_what_it_saw_however_slow_its_passes_are(
    arena: Arena, cup: str, clock: Clock
) -> None:
    claimed(arena)
    passes = 0
    while reap.reap(arena).returned == 0:
        clock.turn(HOUR)
        passes += 1
    assert passes == 4


def test_a_new_process_in_the_place_of_a_dead_one_has_its_match_played_again_at_once(
    arena: Arena, cup: str, finish: Callable[..., Any]
) -> None:
    lost, other = claimed(arena, "host-ab-0-100"), claimed(arena, "host-ab-1-101")
    mine = claimed(arena, "host-ab-0-200")
    assert inherit(arena, "host-ab-0", "host-ab-0-200") == 1
    assert [row(arena, each).status for each in (lost, other, mine)] == ["planned", "leased", "leased"]
    assert row(arena, lost).suspicion == ALONE
    assert claimed(arena).number == lost.number
    assert finish(arena, lost)[0] is False


def test_what_went_down_with_others_is_hardly_suspected(
    arena: Arena, cup: str, pass_time: Callable[[float], int]
) -> None:
    together = [claimed(arena, f"host-ab-{slot}-{slot}") for slot in range(2)]
    alone = claimed(arena, "host-cd-0-1")
    assert pass_time(arena.settings.lease_seconds) == 3
    assert [row(arena, each).suspicion for each in (*together, alone)] == [1, 1, 3]


def test_what_a_stopping_worker_hands_back_is_never_set_aside(arena: Arena, cup: str) -> None:
    for attempt in range(1, 21):
        held = claimed(arena)
        assert (held.number, held.attempt) == (0, attempt)
        leases.give_back(arena, held, "Stopped: ", suspicion=0)
    assert row(arena, held).status == "planned"


def test_a_match_that_kills_its_worker_three_times_is_set_aside_and_everybody_told(
    arena: Arena, cup: str, play_all: Callable[[Arena], int]
) -> None:
    for pid in range(3):
        held = claimed(arena, f"host-ab-0-{pid}")
        assert inherit(arena, "host-ab-0", f"host-ab-0-{pid + 1}") == 1
    assert play_all(arena) == 7
    over = tournaments.tournament(arena, cup)
    assert (over.status, over.progress.failed) == ("finished", 1)
    told = matches.match(arena, held.match_id)
    assert (told.status, told.trouble) == ("failed", "its worker died while it was played")
    assert counted(arena)[incidents.FAILED] == 1
    assert {line.matches for line in folds.standings_of(arena, cup)} == {4}, "its whole group is left out"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("host-ab-0-1 died", "its worker died while it was played"),
        ("MachineBusy: seat 1: the machine ran out of memory", "the machines had too little time or memory"),
        ("OSError: no file /srv/secret", "it could not be played: a failure of ours"),
        (None, "it could not be played: a failure of ours"),
    ],
)
def test_everybody_is_told_why_a_match_was_given_up_and_no_name_of_a_machine(
    said: str | None, told: str
) -> None:
    assert tournaments.trouble(said).startswith(told)
    assert "host" not in tournaments.trouble(said) and "srv" not in tournaments.trouble(said)


def test_a_sheet_is_the_same_after_a_disk(arena: Arena, cup: str, finish: Callable[..., Any]) -> None:
    kept: list[Sheet] = []
    held = claimed(arena)

    def on_disk(_: Arena, sheet: Sheet, **__: Any) -> tuple[bool, None]:
        kept.append(sheet)
        return True, None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leases, "give_in", on_disk)
        finish(arena, held)
    (sheet,) = kept
    assert Sheet.loads(sheet.dumps()) == sheet
    assert leases.give_in(arena, Sheet.loads(sheet.dumps()), worker="another") == (True, None)
    assert leases.give_in(arena, sheet, worker="w") == (False, None), "the second time it is late"
    assert row(arena, held).record == sheet.match["record"]


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b'{"match": 1}', b"\xff", b'{"tournament_id": "t"}'])
def test_what_is_no_sheet_is_said_to_be_none(text: bytes) -> None:
    with pytest.raises(ValueError):
        Sheet.loads(text)


def test_a_check_that_kills_its_worker_three_times_is_set_aside_without_blame_and_can_be_had_again(
    arena: Arena, author: Account, submitted: Any, clock: Clock
) -> None:
    made = submitted()
    for pid in range(3):
        clock.turn(60)
        assert trials.claim(arena, f"{made}:1", f"host-ab-0-{pid}") is not None
        assert trials.inherit(arena, "host-ab-0", f"host-ab-0-{pid + 1}") == 1
    assert trials.claim(arena, f"{made}:1") is None
    report = submitted.version(made).report
    assert report["stage"] == "check"
    assert "no verdict on your bot" in report["error"]["advice"]
    assert counted(arena)[incidents.UNCHECKED] == 1
    assert trials.again(arena, f"{made}:1")
    assert not trials.again(arena, f"{made}:1")
    assert trials.claim(arena, f"{made}:1") is not None


def test_a_renewed_check_is_kept_and_a_silent_one_free_again(
    arena: Arena, submitted: Any, clock: Clock, pass_time: Callable[[float], int]
) -> None:
    made = submitted()
    trial = trials.claim(arena, f"{made}:1", "w")
    assert trial is not None
    for _ in range(9):
        pass_time(arena.settings.lease_seconds / 3)
        assert trials.renew(arena, trial)
    pass_time(arena.settings.lease_seconds + 2)
    assert not trials.renew(arena, trial)
    clock.turn(trials.AGAIN.total_seconds())
    assert trials.claim(arena, f"{made}:1") is not None


def test_checks_on_their_way_are_not_sent_over_and_over(arena: Arena, submitted: Any, clock: Clock) -> None:
    submitted()
    clock.turn(60)
    assert [reap.reap(arena).checks for _ in range(3)] == [0, 0, 0]
    arena.queue.waiting.clear()  # type: ignore[attr-defined]
    assert [reap.reap(arena).checks for _ in range(3)] == [1, 0, 0]


def test_signs_of_life_from_the_future_are_forgotten_when_the_clock_went_back(
    arena: Arena, cup: str, clock: Clock
) -> None:
    presence.here(arena, "dead", "A", {})
    reap.reap(arena)
    clock.turn(-HOUR)
    reap.reap(arena)
    clock.turn(presence.SILENT.total_seconds() + 1)
    with arena.read() as db:
        assert presence.workers(db, clock()) == []


def test_results_in_any_order_with_refusals_between_give_the_same_standings(
    arena: Arena, cup: str, finish: Callable[..., Any], pass_time: Callable[[float], int]
) -> None:
    lost = [claimed(arena, f"w-{n}-0-0") for n in range(8)]
    pass_time(arena.settings.lease_seconds + 2)
    again = [claimed(arena) for _ in range(8)]
    both = [*((each, False) for each in lost), *((each, True) for each in again)]
    random.Random(3).shuffle(both)
    assert [finish(arena, each)[0] for each, _ in both] == [good for _, good in both]
    assert tournaments.tournament(arena, cup).progress.played == 8
    assert counted(arena)[incidents.LATE] == 8
