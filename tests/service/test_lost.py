"""What an end without a result says of each match that was held."""

from collections.abc import Callable

import pytest

from loadtests import singly
from service import incidents, leases, tournaments
from service.accounts import Account
from service.leases import Assignment
from service.lost import ALONE, TOGETHER, inherit
from service.sheet import Sheet
from service.turns import Share
from service.work import Arena
from tests.service.batched import consistent, rows, some

SMALL = {"preset": "fundex", "hand_sizes": [1]}
Make = Callable[[Assignment], Sheet]


@pytest.fixture
def cup(arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]) -> str:
    """24 matches in twelve deals."""
    told = {"name": "Cup", "entrants": ready_bots(4), "players": 2, "deals": 2, "rules": SMALL}
    return tournaments.create(arena, author, told).id


@pytest.mark.parametrize(("place", "suspicion"), [(1, [0, ALONE, 0]), (None, [0, 0, 0])])
def test_of_a_process_that_died_only_the_match_it_was_at_is_suspected(
    arena: Arena, cup: str, place: int | None, suspicion: list[int]
) -> None:
    held = some(arena, cup, "host-ab-0-100", 3)
    at = "" if place is None else held[place].match_id
    assert inherit(arena, "host-ab-0", "host-ab-0-200", at) == 3
    found = rows(arena)
    assert [found[n].suspicion for n in range(3)] == suspicion
    assert {found[n].status for n in range(3)} == {"planned"}
    alone = [leases.claim_some(arena, "w", Share(1000, {cup: 10.0})) for _ in range(3)]
    assert [len(each) for each in alone] == [1, 1, 1], "the next time it is known which it was"
    assert consistent(arena, cup)
    with arena.read() as db:
        (told,) = incidents.newest(db, incidents.SILENT, 5)
    assert told.text == "host-ab-0-100 died; matches: 3"


def test_of_a_process_that_died_at_nothing_the_one_match_it_held_is_not_suspected(
    arena: Arena, cup: str
) -> None:
    some(arena, cup, "host-ab-0-100", 1)
    assert inherit(arena, "host-ab-0", "host-ab-0-200", "") == 1
    assert rows(arena)[0].suspicion == 0


def test_what_is_left_of_a_batch_is_not_taken_for_a_match_by_itself(
    arena: Arena, cup: str, make: Make, pass_time: Callable[[float], int]
) -> None:
    """Its results were found on a disk and given in by another; the last one was never begun."""
    held = some(arena, cup, "host-ab-0-1", 3)
    assert leases.give_in_all(arena, [make(each) for each in held[:2]], worker="heir")[0] == [True] * 2
    assert pass_time(arena.settings.lease_seconds) == 1
    assert (rows(arena)[2].status, rows(arena)[2].suspicion) == ("planned", 0)


def test_of_a_silent_batch_none_is_suspected_and_a_match_alone_is_as_ever(
    arena: Arena, cup: str, pass_time: Callable[[float], int]
) -> None:
    some(arena, cup, "host-ab-0-1", 3)
    singly.claim(arena, "host-ab-1-2")
    singly.claim(arena, "host-cd-0-3")
    some(arena, cup, "host-ef-0-4", 2)
    assert pass_time(arena.settings.lease_seconds) == 7
    found = rows(arena)
    assert [found[n].suspicion for n in range(7)] == [0, 0, 0, TOGETHER, ALONE, 0, 0]


def test_a_match_that_kills_its_worker_is_found_whatever_it_was_held_with(
    arena: Arena, cup: str, pass_time: Callable[[float], int], make: Make
) -> None:
    deaths = 0
    while rows(arena)[2].status != "failed":
        held = leases.claim_some(arena, f"host{deaths}-ab-0-1", Share(60, {cup: 10.0}))
        before = [each for each in held if each.number < 2]
        if any(each.number == 2 for each in held):
            deaths += 1
            pass_time(arena.settings.lease_seconds + 2)
        else:
            assert all(leases.give_in_all(arena, [make(each) for each in held], worker="w")[0])
        assert before or held
    assert deaths == 4, "three times alone, after the one when nobody could know"
    assert {row.suspicion for number, row in rows(arena).items() if number != 2} == {0}
