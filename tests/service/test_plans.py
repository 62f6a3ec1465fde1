"""Dry runs on a real database: what is told comes true, and nothing is written."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from loadtests import singly
from service import accounts, forecast, matches, plans, presence, tables, tournaments
from service.accounts import Account
from service.errors import Invalid
from service.formats import FORMATS
from service.schedule import Pairing
from service.work import Arena

Clock = Any  # the one of conftest.py
Ready = Callable[[int], list[str]]
Finish = Callable[..., tuple[bool, Any]]
PlayAll = Callable[[Arena], int]
SMALL = {"preset": "fundex", "hand_sizes": [2, 1]}


def spec(entrants: list[str], **changes: Any) -> dict[str, Any]:
    return {"name": "Cup", "entrants": entrants, "deals": 2, "rules": SMALL, "seed": "x", **changes}


def rows(arena: Arena) -> dict[str, int]:
    with arena.read() as db:
        return {
            name: db.scalar(select(func.count()).select_from(table)) or 0
            for name, table in tables.metadata.tables.items()
        }


def test_nothing_is_written_and_what_was_told_comes_true(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    told = spec(ready_bots(6))
    before = rows(arena)
    plan = plans.plan(arena, author, told)
    assert rows(arena) == before
    made = tournaments.create(arena, author, told)
    played = matches.matches(arena, made.id, limit=200).items
    assert plan.matches == made.progress.total == len(played)
    assert plan.groups == len({each.group for each in played})
    meetings = forecast.Meetings(6, 4)
    meetings.read(
        Pairing(each.group, each.rotation, tuple(seat.entrant for seat in each.seats)) for each in played
    )
    assert (plan.schedule, plan.balance) == (meetings.digest, meetings.balance())


def test_a_seed_that_was_drawn_can_be_asked_for(arena: Arena, author: Account, ready_bots: Ready) -> None:
    told = spec(ready_bots(5), seed=None)
    first, second = plans.plan(arena, author, told), plans.plan(arena, author, told)
    assert first.schedule != second.schedule
    assert plans.plan(arena, author, {**told, "seed": first.seed}).schedule == first.schedule


def test_costs_are_the_limits_until_there_is_something_to_go_by(
    arena: Arena, author: Account, ready_bots: Ready, clock: Clock, finish: Finish
) -> None:
    ids = ready_bots(6)
    told = spec(ids[:4])
    plan = plans.plan(arena, author, told)
    most = 4 * (2_000 + 50 * 8)  # at most two bids, three cards, and a colour for each
    assert (plan.cpu_basis, plan.cpu_hours) == ("limits", pytest.approx(8 * most / 3_600_000))
    tournaments.create(arena, author, told)
    held = singly.claim(arena, "w")
    while held is not None:
        clock.turn(0.5)
        _, held = finish(arena, held, more=True)
    with arena.work() as work:
        seat = tables.seat
        work.db.execute(update(seat).values(cpu_ms=10 * (1 + seat.c.entrant)))
    plan = plans.plan(arena, author, told)
    assert plan.cpu_basis == "bots"
    assert plan.cpu_hours == pytest.approx(8 * 0.1 / 3600), "10 + 20 + 30 + 40 ms a match"
    assert plan.match_seconds == pytest.approx(0.5)
    other = plans.plan(arena, author, spec([*ids[3:], ids[0]]))
    assert other.cpu_basis == "pool"
    assert other.match_seconds == pytest.approx(0.5)
    assert plans.plan(arena, author, {**told, "rules": {"preset": "amigo"}}).cpu_basis == "limits"


def test_the_end_is_told_by_the_workers_there_are_and_by_what_waits(
    arena: Arena, author: Account, ready_bots: Ready, clock: Clock
) -> None:
    told = spec(ready_bots(4))
    assert (plans.plan(arena, author, told).seconds, plans.plan(arena, author, told).finish_at) == (
        None,
        None,
    )
    for name in ("one", "other"):
        presence.here(arena, name, "A", {})
    presence.here(arena, "broken", None, {})
    plan = plans.plan(arena, author, told)
    assert (plan.workers, plan.waiting) == (2, 0)
    assert plan.seconds == pytest.approx(8 * plan.match_seconds / 2)
    assert plan.finish_at == clock.now + timedelta(seconds=plan.seconds)
    other, _ = accounts.register(arena, name="Bob")
    tournaments.create(arena, other, {**told, "deals": 1})
    after = plans.plan(arena, author, told)
    assert (after.waiting, after.seconds) == (4, pytest.approx(12 * plan.match_seconds / 2))
    assert plans.plan(arena, author, {**told, "start_at": "manual"}).finish_at is None
    later = clock.now + timedelta(days=1)
    assert plans.plan(arena, author, {**told, "start_at": later}).finish_at == later + timedelta(
        seconds=after.seconds or 0
    )


def test_what_could_not_be_made_cannot_be_planned(arena: Arena, author: Account, ready_bots: Ready) -> None:
    with pytest.raises(Invalid) as refused:
        plans.plan(arena, author, spec(["bot_x"], players=12, rules={"preset": "x"}))
    assert {"entrants", "players", "rules.preset"} <= set(refused.value.errors)
    with pytest.raises(Invalid, match="matches"):
        plans.plan(arena, author, spec(ready_bots(9), players=2, deals=10_000))


def test_every_format_can_be_planned(arena: Arena, author: Account, ready_bots: Ready) -> None:
    ids = ready_bots(9)
    told = {
        "round_robin": {},
        "swiss": {"stages": 3},
        "knockout": {},
        "gauntlet": {"challenger": ids[4]},
        "ladder": {},
    }
    assert set(told) == set(FORMATS)
    for name, more in told.items():
        plan = plans.plan(arena, author, spec(ids, format=name, players=3, **more))
        assert plan.matches == 3 * plan.groups > 0, name
        assert (plan.schedule is None) == (not FORMATS[name].ahead) == (plan.balance is None)
        assert (plan.precision is None) == (name in ("knockout", "ladder")), name


def test_open_entry_and_teams_can_be_planned(arena: Arena, author: Account, ready_bots: Ready) -> None:
    opened = {"entry": {"open": True, "limit": 12}, "start_at": "manual"}
    plan = plans.plan(arena, author, {**spec([]), **opened})
    assert (plan.entrants, plan.schedule, plan.cpu_basis) == (12, None, "limits")
    assert plan.full_field
    assert plan.precision is not None
    pairs = {**SMALL, "teams": "2+2"}
    teams = plans.plan(arena, author, spec(ready_bots(6), rules=pairs, deals=1))
    assert (teams.matches, teams.groups, teams.full_field) == (30, 15, False)
    assert teams.balance is not None and teams.balance.pairs == forecast.Span(2, 2)
