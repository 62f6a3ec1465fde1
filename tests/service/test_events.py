"""Everybody who follows a tournament is told every result once, and all in one order."""

from collections.abc import Callable
from typing import Any

import pytest

from loadtests import singly
from service import events, ingest, leases, paging, tournaments
from service.accounts import Account
from service.errors import Unavailable
from service.leases import Assignment
from service.sheet import Sheet
from service.work import Arena
from tests.service.batched import some
from tests.service.conftest import Clock

Make = Callable[[Assignment], Sheet]


@pytest.fixture
def cup(arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]) -> str:
    """24 matches in 12 deals."""
    rules = {"preset": "fundex", "hand_sizes": [1]}
    told = {"name": "Cup", "entrants": ready_bots(4), "players": 2, "rules": rules, "deals": 2}
    return tournaments.create(arena, author, told).id


class Listener:
    """Somebody who follows a tournament, and comes again with the last id they were told."""

    def __init__(self, arena: Arena, cup: str, last: str | None = None) -> None:
        self.arena, self.cup, self.last = arena, cup, last
        self.heard: list[int] = []
        self.ids: list[str] = []

    def look(self) -> list[int]:
        told = events.since(self.arena, self.cup, self.last)
        results = [each for each in told if each.type == "result"]
        self.last = told[-1].id
        self.ids += [each.id for each in results]
        self.heard += [each.data["number"] for each in results]
        return [each.data["number"] for each in results]

    def to_the_end(self) -> list[int]:
        while self.look():
            pass
        return self.heard


def all_of_them(arena: Arena) -> list[Assignment]:
    return [held for held in (singly.claim(arena, "w") for _ in range(24)) if held is not None]


def test_each_result_comes_once_and_it_goes_on_where_it_was(
    arena: Arena, cup: str, clock: Clock, finish: Callable[..., Any]
) -> None:
    listener, held = Listener(arena, cup), singly.claim(arena, "w")
    while held is not None:
        clock.turn(0.5)
        number, (_, held) = held.number, finish(arena, held, more=True)
        assert listener.look() == [number]
    assert listener.heard == list(range(24))
    assert events.over(events.since(arena, cup, listener.last))


@pytest.mark.parametrize("kind", ["postgres"])
def test_what_is_committed_late_is_told_all_the_same(
    arena: Arena, cup: str, clock: Clock, make: Make
) -> None:
    """A result bears the time its transaction began at, and others may begin later and be done first."""
    late, soon, last = (make(held) for held in some(arena, cup, "w", 3))
    early, held_up = Listener(arena, cup), Listener(arena, cup)
    clock.turn(1)
    with arena.work() as slow:
        assert ingest.write(slow, [late], "slow") == [True]
        clock.turn(1)
        assert leases.give_in(arena, soon, worker="quick")[0]
        assert early.look() == [soon.number], "the other is not there yet"
    clock.turn(-1.5)  # on a machine whose clock is behind
    assert leases.give_in(arena, last, worker="behind")[0]
    listeners = [early, held_up, Listener(arena, cup, early.ids[0])]
    assert sorted(early.to_the_end()) == [late.number, soon.number, last.number]
    assert held_up.to_the_end() == early.heard
    assert listeners[2].to_the_end() == early.heard[1:]


@pytest.mark.parametrize("kind", ["postgres"])
def test_one_at_a_time_gives_numbers(arena: Arena, cup: str, make: Make) -> None:
    first, second = (make(held) for held in some(arena, cup, "w", 2))
    leases.give_in(arena, first, worker="w")
    hasty = Arena.open(arena.settings, arena.queue, arena.clock, patience=0.02)
    with arena.work() as numbering:
        events.alone(numbering, cup)
        leases.give_in(arena, second, worker="w")
        assert Listener(hasty, cup).look() == [], "who is at it is not waited for"
        leases.give_in_all(arena, [make(held) for held in all_of_them(arena)], worker="w")
        with pytest.raises(Unavailable):
            Listener(hasty, cup).look()
    hasty.close()
    assert Listener(arena, cup).look()[:2] == [first.number, second.number]


def test_all_hear_the_same_whenever_they_come_and_wherever_they_go_on(
    arena: Arena, cup: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "AT_ONCE", 3)
    sheets = [make(held) for held in all_of_them(arena)]
    early = Listener(arena, cup)
    for some_of_them in (sheets[20:], sheets[5:6], sheets[6:20], sheets[:5]):
        assert all(leases.give_in_all(arena, some_of_them, worker="w")[0])
        early.look()
    assert sorted(early.to_the_end()) == list(range(24))
    events.number(arena, cup)  # again does no harm
    assert Listener(arena, cup).to_the_end() == early.heard
    for n, each in enumerate(early.ids, 1):
        assert Listener(arena, cup, each).to_the_end() == early.heard[n:]
    assert not events.over(events.since(arena, cup)), "there is more than is told at once"


def test_it_is_not_over_before_the_last_result_is_told(
    arena: Arena, cup: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "AT_ONCE", 24)
    leases.give_in_all(arena, [make(held) for held in all_of_them(arena)], worker="w")
    told = events.since(arena, cup)
    assert told[-1].data["status"] == "finished" and not events.over(told)
    assert events.over(events.since(arena, cup, told[-1].id))


@pytest.mark.parametrize("asked", [[1_893_499_200_000_000, 1], [2, 0], [0, 0], [9, 23], [1, 99]])
def test_who_comes_with_an_id_that_means_nothing_here_is_told_all(
    arena: Arena, cup: str, make: Make, asked: list[int | str]
) -> None:
    """An older program's, which had times in it, or from before a backup was restored."""
    sheets = [make(held) for held in some(arena, cup, "w", 3)]
    leases.give_in_all(arena, sheets, worker="w")
    Listener(arena, cup).look()
    assert Listener(arena, cup, paging.written(asked)).to_the_end() == [0, 1, 2]


def test_nothing_is_numbered_that_nobody_follows(
    arena: Arena, cup: str, make: Make, queries: list[str]
) -> None:
    leases.give_in_all(arena, [make(held) for held in some(arena, cup, "w", 3)], worker="w")
    assert not any("told" in each for each in queries)
    listener = Listener(arena, cup)
    listener.look()
    queries.clear()
    assert listener.look() == []
    assert not any(each.startswith(("UPDATE", "BEGIN IMMEDIATE")) for each in queries), (
        "there was nothing new"
    )
