"""The life of a tournament and of its matches, on a real database, played by bots in this process."""

import hashlib
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from engine.bots import NAMES
from engine.record import Record, verify
from engine.rules import RuleSet
from engine.table import Fault, FaultKind, LocalPlayer, play
from loadtests import singly
from service import (
    accounts,
    bots,
    faults,
    folds,
    inquiry,
    leases,
    matches,
    rankings,
    reap,
    refit,
    stages,
    tables,
    tournaments,
)
from service.accounts import Account
from service.errors import Conflict, Forbidden, Invalid, NotFound
from service.jobs import PLAY, InlineQueue
from service.leases import Assignment
from service.sheet import Spent
from service.work import Arena

Clock = Any  # the one of conftest.py
Ready = Callable[[int], list[str]]
Finish = Callable[..., tuple[bool, Assignment | None]]
PlayAll = Callable[[Arena], int]
SMALL = {"preset": "fundex", "hand_sizes": [2, 1]}
LATER = datetime(2030, 6, 1, tzinfo=UTC)


def spec(entrants: list[str], **changes: Any) -> dict[str, Any]:
    return {"name": "Cup", "entrants": entrants, "players": 4, "deals": 2, "rules": SMALL, **changes}


def test_a_tournament_without_start_time_runs_at_once_and_finishes_when_all_is_played(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4)))
    assert (made.status, made.progress.total, made.secret) == ("running", 8, None)
    assert play_all(arena) == 8
    over = tournaments.tournament(arena, made.id)
    assert (over.status, over.progress.played) == ("finished", 8)
    assert over.secret is not None


def test_the_published_hash_is_the_secrets(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4)))
    play_all(arena)
    secret = tournaments.tournament(arena, made.id).secret
    assert secret is not None
    assert hashlib.sha256(bytes.fromhex(secret)).hexdigest() == made.secret_hash


def test_standings_are_the_sums_of_the_records(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(5)))
    play_all(arena)
    points = dict.fromkeys(range(5), 0)
    for match in matches.matches(arena, made.id, limit=200).items:
        record = matches.record(arena, match.id)
        assert verify(record) is None
        for seat, score in zip(match.seats, record["scores"], strict=True):
            points[seat.entrant] += score
    rows = folds.standings_of(arena, made.id)
    assert {row.entrant: row.points for row in rows} == points
    assert [row.points for row in rows] == sorted(points.values(), reverse=True)


def test_duplicate_deals_repeat_the_deal_from_every_seat(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4), deals=1))
    play_all(arena)
    found = matches.matches(arena, made.id).items
    assert len({matches.record(arena, match.id)["seed"] for match in found}) == 1
    for seat in range(4):
        assert {match.seats[seat].entrant for match in found} == {0, 1, 2, 3}


def test_the_order_of_finishing_changes_neither_standings_nor_ratings(
    arena: Arena, author: Account, ready_bots: Ready, clock: Clock, finish: Finish
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(5)))
    held = [each for _ in range(made.progress.total) if (each := singly.claim(arena, "w")) is not None]
    random.Random(7).shuffle(held)
    for each in held:
        clock.turn(0.01)
        assert finish(arena, each)[0]
    refit.settle(arena, made.id)
    shuffled = folds.standings_of(arena, made.id)
    pool = RuleSet.parse(SMALL).key()
    first = rankings.rankings(arena, rules=pool)
    with arena.work() as work:  # the same results once more, as if they had come in order
        for each in (tables.rating, tables.estimate, tables.snapshot):
            work.db.execute(each.delete())
    refit.settle(arena, made.id)
    again = rankings.rankings(arena, rules=pool)
    assert first.items == again.items
    assert first.matches == len(held)
    assert folds.standings_of(arena, made.id) == shuffled


def test_a_late_result_of_a_lost_lease_is_refused(
    arena: Arena, author: Account, ready_bots: Ready, pass_time: Callable[[float], int], finish: Finish
) -> None:
    tournaments.create(arena, author, spec(ready_bots(4)))
    slow = singly.claim(arena, "slow")
    assert slow is not None
    assert pass_time(arena.settings.lease_seconds) == 1
    quick = singly.claim(arena, "quick")
    assert quick is not None
    assert (quick.number, quick.attempt) == (slow.number, 2)
    assert finish(arena, slow)[0] is False
    assert singly.renew(arena, slow) is False
    assert finish(arena, quick)[0] is True
    assert finish(arena, quick)[0] is False


def test_a_renewed_lease_is_kept(
    arena: Arena, author: Account, ready_bots: Ready, clock: Clock, finish: Finish
) -> None:
    tournaments.create(arena, author, spec(ready_bots(4)))
    held = singly.claim(arena, "w")
    assert held is not None
    for _ in range(5):
        clock.turn(arena.settings.lease_seconds - 1)
        assert singly.renew(arena, held)
        assert reap.reap(arena).returned == 0
    assert finish(arena, held)[0]


def test_a_match_that_fails_three_times_is_set_aside_and_its_group_does_not_count(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4), deals=2))
    for attempt in range(1, 4):
        held = singly.claim(arena, "w")
        assert held is not None
        assert (held.number, held.attempt) == (0, attempt)
        leases.give_back(arena, held, "the machine caught fire")
    assert play_all(arena) == 7
    over = tournaments.tournament(arena, made.id)
    assert (over.status, over.progress.played, over.progress.failed) == ("finished", 7, 1)
    assert {row.matches for row in folds.standings_of(arena, made.id)} == {4}


def test_lost_jobs_are_sent_again(arena: Arena, author: Account, ready_bots: Ready) -> None:
    tournaments.create(arena, author, spec(ready_bots(4)))
    assert isinstance(arena.queue, InlineQueue)
    arena.queue.waiting.clear()
    reap.reap(arena)
    assert arena.queue.depth(PLAY) > 0


def test_a_start_time_is_honoured_by_the_reaper(
    arena: Arena, author: Account, ready_bots: Ready, clock: Clock
) -> None:
    ids = ready_bots(4)
    made = tournaments.create(arena, author, spec(ids, start_at=clock.now + timedelta(minutes=10)))
    assert (made.status, singly.claim(arena, "w")) == ("scheduled", None)
    clock.turn(599)
    assert reap.reap(arena).started == 0
    clock.turn(2)
    assert reap.reap(arena).started == 1
    assert tournaments.tournament(arena, made.id).status == "running"


def test_an_entrant_without_version_plays_its_newest_at_the_start(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    ids = ready_bots(4)
    made = tournaments.create(arena, author, spec([*ids[:3], f"{ids[3]}:1"], start_at="manual"))
    for each in (ids[0], ids[3]):
        bots.add_version(arena, author, each, filename="b.py", content=b"def bid(view): return 0\n")
    with arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    tournaments.start(arena, author, made.id)
    versions = {each.bot_id: each.version for each in tournaments.tournament(arena, made.id).entrants}
    assert versions == {ids[0]: 2, ids[1]: 1, ids[2]: 1, ids[3]: 1}


def test_a_start_that_lost_too_many_entrants_is_cancelled_with_the_reason(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    ids = ready_bots(5)
    made = tournaments.create(arena, author, spec(ids[:4], start_at="manual"))
    bots.retire(arena, author, ids[0])
    over = tournaments.start(arena, author, made.id)
    reason = "only 3 entrants were left at the start, and no house bot was ready to fill a seat"
    assert (over.status, over.reason) == ("cancelled", reason)
    again = tournaments.create(arena, author, spec(ids[3:], players=2, start_at="manual"))
    bots.retire(arena, author, ids[4])
    assert tournaments.start(arena, author, again.id).reason == "only 1 entrant was left at the start"


def test_a_paused_tournament_gives_out_no_matches_until_it_goes_on(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4)))
    assert tournaments.pause(arena, author, made.id).status == "paused"
    assert tournaments.pause(arena, author, made.id).status == "paused"
    assert singly.claim(arena, "w") is None
    assert tournaments.resume(arena, author, made.id).status == "running"
    assert singly.claim(arena, "w") is not None


def test_a_cancelled_tournament_takes_no_more_results(
    arena: Arena, author: Account, ready_bots: Ready, finish: Finish
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4)))
    held = singly.claim(arena, "w")
    assert held is not None
    over = tournaments.cancel(arena, author, made.id)
    assert over.status == "cancelled"
    assert finish(arena, held) == (False, None)
    fell = {(match.status, match.trouble) for match in matches.matches(arena, made.id).items}
    assert fell == {("void", "its tournament was cancelled by Ada")}
    with arena.work() as work:
        work.db.execute(update(tables.tournament).values(reason="only 1 entrant was left at the start"))
    why = matches.match(arena, f"{made.id}-0").trouble
    assert why == "its tournament was cancelled: only 1 entrant was left at the start"
    with pytest.raises(Conflict, match="cancelled cannot be started"):
        tournaments.start(arena, author, made.id)


def test_owners_are_served_in_turn_however_many_tournaments_one_has(
    arena: Arena, author: Account, ready_bots: Ready, clock: Clock, finish: Finish
) -> None:
    ids = ready_bots(4)
    for _ in range(3):
        tournaments.create(arena, author, spec(ids, deals=100))
    other, _ = accounts.register(arena, name="Bob")
    small = tournaments.create(arena, other, spec(ids))
    served = []
    held = singly.claim(arena, "w")
    while held is not None and len(served) < 12:
        served.append(held.tournament_id)
        clock.turn(1)
        _, held = finish(arena, held, more=True)
    assert served.count(small.id) == 6
    assert len(set(served)) == 4, "an owner's own tournaments take turns too"


def test_who_has_less_in_play_is_served_first(
    arena: Arena, author: Account, ready_bots: Ready, clock: Clock
) -> None:
    ids = ready_bots(4)
    tournaments.create(arena, author, spec(ids, deals=100))
    held = [singly.claim(arena, "w") for _ in range(3)]
    assert all(held)
    clock.turn(1)
    other, _ = accounts.register(arena, name="Bob")
    small = tournaments.create(arena, other, spec(ids))
    following = [singly.claim(arena, "w") for _ in range(3)]
    assert {each.tournament_id for each in following if each} == {small.id}


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"entrants": []}, {"entrants"}),
        ({"entrants": ["bot_unknown"] * 4}, {f"entrants.{n}" for n in range(4)}),
        ({"players": 9}, {"players"}),
        ({"players": True}, {"players"}),
        ({"deals": 0}, {"deals"}),
        ({"deals": 10_000, "meetings": 4, "players": 2}, {"deals"}),
        ({"deals": 10_000, "format": "swiss", "stages": 11}, {"deals"}),
        ({"meetings": 101}, {"meetings"}),
        ({"format": "swiss", "meetings": 2}, {"meetings"}),
        ({"stages": 3}, {"stages"}),
        ({"format": "swiss", "stages": 0}, {"stages"}),
        ({"format": "gauntlet"}, {"challenger"}),
        ({"format": "gauntlet", "challenger": "bot_unknown"}, {"challenger"}),
        ({"format": "swiss", "challenger": "bot_unknown"}, {"challenger"}),
        ({"same_owner": "apart"}, {"same_owner"}),
        ({"same_owner": "together"}, {"same_owner"}),
        ({"repeat": "at noon"}, {"repeat"}),
        ({"repeat": "0 0 30 2 *"}, {"repeat"}),
        ({"repeat": "* * * * *"}, {"repeat"}),
        ({"repeat": "0 18 * * 1", "start_at": "manual"}, {"start_at"}),
        ({"start_at": datetime(2030, 5, 1)}, {"start_at"}),
        ({"entry": {"open": True}}, {"start_at"}),
        ({"entry": {"open": True, "limit": 3}, "start_at": "manual"}, {"entry.limit"}),
        ({"entry": {"open": True, "limit": 2000}, "start_at": "manual"}, {"entry.limit"}),
        (
            {"entry": {"open": True, "deadline": datetime(2030, 5, 1)}, "start_at": "manual"},
            {"entry.deadline"},
        ),
        (
            {"entry": {"open": True, "deadline": LATER + timedelta(days=1)}, "start_at": LATER},
            {"entry.deadline"},
        ),
        ({"rules": {"preset": "poker"}}, {"rules.preset"}),
        ({"rules": {"preset": "fundex", "hand_sizes": [0]}}, {"rules.hand_sizes"}),
        ({"rules": {"preset": "fundex", "teams": "3+3"}}, {"rules.teams"}),
        (
            {"rules": {"preset": "x", "a": 1, "secret_bids": 2}},
            {"rules.preset", "rules.a", "rules.secret_bids"},
        ),
        ({"rules": {"preset": "amigo", "a": 1}, "players": 9}, {"players", "rules.a"}),
        ({"limits": {"decision_ms": 1, "cheat": 2}}, {"limits.decision_ms", "limits.cheat"}),
        ({"format": "dance"}, {"format"}),
        ({"name": "a\nb"}, {"name"}),
        ({"name": "", "deals": 0, "format": "x"}, {"name", "deals", "format"}),
    ],
)
def test_bad_input_names_every_field_and_writes_nothing(
    arena: Arena, author: Account, ready_bots: Ready, changes: dict[str, Any], fields: set[str]
) -> None:
    ids = ready_bots(4)
    with pytest.raises(Invalid) as refused:
        tournaments.create(arena, author, {**spec(ids), **changes})
    assert set(refused.value.errors) == fields
    assert tournaments.tournaments(arena).items == []


def test_what_was_cancelled_is_never_called_finished(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4)))
    tournaments.cancel(arena, author, made.id)
    with arena.work() as work:
        stages.end(work, made.id, "finished")
    over = tournaments.tournament(arena, made.id)
    assert (over.status, over.reason) == ("cancelled", "cancelled by Ada")


def test_an_entrant_named_twice_is_refused(arena: Arena, author: Account, ready_bots: Ready) -> None:
    ids = ready_bots(4)
    with pytest.raises(Invalid) as refused:
        tournaments.create(arena, author, spec([*ids, f"{ids[0]}:1"]))
    assert set(refused.value.errors) == {"entrants.4"}


def test_only_its_owner_changes_a_tournament(arena: Arena, author: Account, ready_bots: Ready) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4)))
    stranger, _ = accounts.register(arena, name="Mallory")
    with pytest.raises(Forbidden):
        tournaments.cancel(arena, stranger, made.id)
    with pytest.raises(NotFound):
        tournaments.cancel(arena, author, "t_nothing")


def test_a_fault_whose_text_holds_a_nul_is_kept_by_every_database(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    ids = ready_bots(4)
    tournaments.create(arena, author, spec(ids))
    held = singly.claim(arena, "w")
    assert held is not None
    players = [LocalPlayer(bid=lambda view: 0, play=lambda view: view["legal"][0]) for _ in range(4)]
    outcome = play(RuleSet.parse(SMALL, 4), players, seed=held.seed)
    fault = Fault(0, FaultKind.CRASH, 1, 0, 1, "bid", "a\0b", True, {"log_tail": "c\0d"})
    spent = [Spent(1, 2, 3)] * 4
    broken = replace(outcome, faults=(fault,))
    assert singly.finish_and_claim(arena, held, broken, spent, mode="A", worker="w", more=False)[0]
    whose = ids[held.entrants[0]]
    (kept,) = faults.of_version(arena, author, whose, 1).items
    assert (kept.text, kept.evidence["log_tail"]) == ("a\ufffdb", "c\0d")


def test_a_stored_record_is_small_and_plays_again(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    tournaments.create(arena, author, spec(ready_bots(4), rules={"preset": "fundex"}, deals=1))
    play_all(arena)
    with arena.read() as db:
        stored = db.scalars(select(tables.match.c.record)).all()
    assert all(len(each) <= 400 for each in stored)
    assert all(Record.unpack(each).replay().over for each in stored)
    assert len(NAMES) >= 3


def test_points_are_shared_between_cards_and_play_once_a_deal_was_played_from_every_seat(
    arena: Arena, author: Account, ready_bots: Ready, finish: Finish, play_all: PlayAll
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4), deals=1))
    for _ in range(3):
        held = singly.claim(arena, "w")
        assert held is not None
        finish(arena, held)
    assert {seat.luck for seat in matches.match(arena, f"{made.id}-0").seats} == {None}
    assert {row.dealt for row in folds.standings_of(arena, made.id)} == {None}
    play_all(arena)
    luck, earned = dict.fromkeys(range(4), 0.0), dict.fromkeys(range(4), 0.0)
    for number in range(4):
        seats = matches.match(arena, f"{made.id}-{number}").seats
        mean = sum(seat.counted or 0 for seat in seats) / 4
        for seat in seats:
            assert seat.luck is not None and seat.earned is not None and seat.counted is not None
            assert seat.luck + seat.earned == pytest.approx(seat.counted - mean)
            luck[seat.entrant] += seat.luck
            earned[seat.entrant] += seat.earned
    assert list(luck.values()) == pytest.approx([0, 0, 0, 0])
    for row in folds.standings_of(arena, made.id):
        assert row.dealt is not None and row.earned is not None
        assert 4 * row.earned == pytest.approx(earned[row.entrant])
        assert row.dealt + row.earned == pytest.approx(row.average)


def test_standings_count_places_and_the_share_of_bids_made(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4), duplicate=False, deals=6))
    play_all(arena)
    for row in folds.standings_of(arena, made.id):
        assert (sum(row.places), row.places[0]) == (row.matches, row.wins)
        assert row.bid_accuracy == row.exact_bids / (2 * row.matches)
        assert (row.dealt, row.earned, row.swing) == (None, None, None)


def test_the_fairness_report_comes_when_it_is_over_and_counts_whole_groups(
    arena: Arena, author: Account, ready_bots: Ready, finish: Finish, play_all: PlayAll
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4), deals=13))
    with pytest.raises(Conflict, match="it is over"):
        inquiry.fairness_of(arena, made.id)
    for attempt in range(3):
        held = singly.claim(arena, f"machine-{attempt}")
        assert held is not None and held.number == 0
        leases.give_back(arena, held, "the machine caught fire")
    other = singly.claim(arena, "another-machine")
    assert other is not None
    finish(arena, other)
    play_all(arena)
    told = inquiry.fairness_of(arena, made.id)
    assert (told.matches, told.groups) == (48, 12)
    assert [check.name for check in told.checks] == [
        "seat", "dealer", "worker faults", "worker scores", "company",
    ]  # fmt: skip
    checks = {check.name: check for check in told.checks}
    assert checks["seat"].p is not None and checks["seat"].levelled
    dealt = [each["points"] for each in checks["dealer"].detail]
    assert sum(dealt) == pytest.approx(0, abs=1e-9)
    assert checks["worker faults"].p is None, "the other machine's match is of the group that is not whole"
    assert inquiry.fairness_of(arena, made.id) == told


def test_points_by_place_after_the_dealer_are_those_of_the_record(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4), deals=1))
    play_all(arena)
    told = matches.record(arena, f"{made.id}-2")
    total = [0.0] * 4
    for played in told["rounds"]:
        points = played["points"]
        for place in range(4):
            total[place] += (points[(played["dealer"] + place) % 4] - sum(points) / 4) / len(told["rounds"])
    assert inquiry.by_dealer(Record.from_json(told)) == pytest.approx(tuple(total))


def test_workers_have_names_for_an_administrator_only(
    arena: Arena, author: Account, ready_bots: Ready, clock: Clock, finish: Finish
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4), deals=3))
    for number in range(12):
        held = singly.claim(arena, f"machine-{number % 2}")
        assert held is not None
        finish(arena, held)
    for named, expected in ((True, "machine-0"), (False, "worker 1")):
        checks = {check.name: check for check in inquiry.fairness_of(arena, made.id, named=named).checks}
        scores = checks["worker scores"]
        assert scores.detail[0]["worker"] == expected
        assert sum(each["matches"] for each in scores.detail) == 12
        assert expected[:-1] in scores.text


def test_a_match_tells_its_sandbox_and_how_busy_its_machine_was(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    tournaments.create(arena, author, spec(ready_bots(4)))
    held = singly.claim(arena, "w")
    assert held is not None
    players = [LocalPlayer(bid=lambda view: 0, play=lambda view: view["legal"][0]) for _ in range(4)]
    outcome = play(RuleSet.parse(SMALL, 4), players, seed=held.seed)
    spent = [Spent(1, 2, 3, waited_ms=40 + seat) for seat in range(4)]
    singly.finish_and_claim(arena, held, outcome, spent, mode="B", replays=2, worker="w", more=False)
    told = matches.match(arena, held.match_id)
    assert (told.mode, told.replays) == ("B", 2)
    assert [seat.waited_ms for seat in told.seats] == [40, 41, 42, 43]
