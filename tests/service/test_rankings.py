"""Rankings: snapshots of a pool, numbered as people may read them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from loadtests import singly
from service import bots, leases, lost, rankings, reap, refit, tournaments
from service.accounts import Account
from service.errors import NotFound
from service.leases import Assignment
from service.work import Arena

Ready = Callable[[int], list[str]]
Finish = Callable[..., tuple[bool, Assignment | None]]
PlayAll = Callable[[Arena], int]
QUICK = {"preset": "fundex", "hand_sizes": [1]}


@pytest.fixture
def cup(arena: Arena, author: Account, ready_bots: Ready) -> Callable[..., str]:
    """Makes a tournament of four bots that are quick to play."""
    entrants = ready_bots(4)

    def make(deals: int, **changes: Any) -> str:
        spec = {"name": "Cup", "entrants": entrants, "players": 4, "deals": deals, "rules": QUICK}
        return tournaments.create(arena, author, {**spec, **changes}).id

    return make


def pool(arena: Arena) -> str:
    (only,) = rankings.pools(arena)
    return only.rules


def test_an_empty_pool_has_no_lines(arena: Arena) -> None:
    assert rankings.rankings(arena, rules="no such pool").items == []


def test_only_whole_deal_groups_are_rated(arena: Arena, cup: Callable[..., str], finish: Finish) -> None:
    made = cup(2)
    for played in range(1, 8):
        held = singly.claim(arena, "w")
        assert held is not None
        finish(arena, held)
        refit.settle(arena, made)
        counted = rankings.rankings(arena, rules=pool(arena)).matches if played >= 4 else 0
        assert counted == played // 4 * 4


def test_stopping_a_tournament_does_not_choose_which_results_count(
    arena: Arena, author: Account, cup: Callable[..., str], finish: Finish
) -> None:
    made = cup(2)
    for _ in range(6):
        held = singly.claim(arena, "w")
        assert held is not None
        finish(arena, held)
    tournaments.cancel(arena, author, made)
    refit.settle(arena, made)
    assert rankings.rankings(arena, rules=pool(arena)).matches == 6


def test_what_was_played_of_a_deal_counts_while_paused_and_when_all_is_over(
    arena: Arena, author: Account, cup: Callable[..., str], finish: Finish
) -> None:
    made = cup(1)
    for _ in range(3):
        held = singly.claim(arena, "w")
        assert held is not None
        finish(arena, held)
    tournaments.pause(arena, author, made)
    refit.settle(arena, made)
    assert rankings.rankings(arena, rules=pool(arena)).matches == 3
    tournaments.resume(arena, author, made)
    refit.settle(arena, made)
    assert rankings.rankings(arena, rules=pool(arena)).items == []
    for _ in range(lost.ENOUGH // lost.ALONE):
        held = singly.claim(arena, "w")
        assert held is not None
        leases.give_back(arena, held, "fire")
    refit.settle(arena, made)
    assert rankings.rankings(arena, rules=pool(arena)).matches == 3


def test_a_fit_without_new_results_keeps_the_snapshot(
    arena: Arena, cup: Callable[..., str], play_all: PlayAll
) -> None:
    made = cup(1)
    play_all(arena)
    assert refit.settle(arena, made) is True
    first = rankings.rankings(arena, rules=pool(arena))
    assert refit.settle(arena, made) is False
    assert rankings.rankings(arena, rules=pool(arena)) == first


def test_an_earlier_snapshot_is_told_as_it_was_published(
    arena: Arena, cup: Callable[..., str], play_all: PlayAll, clock: Any
) -> None:
    rankings_at = []
    for _ in range(2):
        made = cup(3)
        play_all(arena)
        refit.settle(arena, made)
        rankings_at.append((clock.now, rankings.rankings(arena, rules=pool(arena))))
        clock.turn(60)
    for at, told in rankings_at:
        assert rankings.rankings(arena, rules=pool(arena), at=at) == told
    before = rankings_at[0][0] - timedelta(seconds=1)
    assert rankings.rankings(arena, rules=pool(arena), at=before).items == []


def test_only_settled_newest_versions_of_active_bots_are_numbered(
    arena: Arena, author: Account, cup: Callable[..., str], play_all: PlayAll, clock: Any
) -> None:
    provisional = cup(1)
    play_all(arena)
    refit.settle(arena, provisional)
    assert {line.place for line in rankings.rankings(arena, rules=pool(arena)).items} == {None}
    settled = cup(60)
    play_all(arena)
    refit.settle(arena, settled)
    lines = rankings.rankings(arena, rules=pool(arena)).items
    ratings = [line.rating for line in lines]
    assert ratings == sorted(ratings, reverse=True)
    assert [line.place for line in lines] == [1 + ratings.index(each) for each in ratings], "may be level"
    bots.retire(arena, author, lines[1].bot_id)
    assert [line.retired for line in rankings.rankings(arena, rules=pool(arena)).items][1]
    assert refit.settle_running(arena) == 0, "not yet: it was fitted this very moment"
    clock.turn(5)
    assert refit.settle_running(arena) == 1
    again = rankings.rankings(arena, rules=pool(arena)).items
    assert [line.place is None for line in again] == [False, True, False, False]
    assert max(line.place or 0 for line in again) <= 3


def test_pools_keep_rules_and_table_sizes_apart(
    arena: Arena, cup: Callable[..., str], play_all: PlayAll
) -> None:
    for changes in ({}, {"players": 2}, {"rules": {"preset": "amigo", "hand_sizes": [1]}}):
        made = cup(1, **changes)
        play_all(arena)
        refit.settle(arena, made)
    assert len({(each.rules, each.players) for each in rankings.pools(arena)}) == 3


def test_running_pools_are_fitted_every_few_seconds(
    arena: Arena, cup: Callable[..., str], finish: Finish, clock: Any
) -> None:
    cup(3)
    counts = []
    for _ in range(12):
        held = singly.claim(arena, "w")
        assert held is not None
        finish(arena, held)
        clock.turn(1)
        reap.reap(arena)
        counts.append(sum(each.matches for each in rankings.pools(arena)))
    assert counts == [0, 0, 0, 4, 4, 4, 4, 4, 8, 8, 8, 8]


def test_a_bots_history_holds_a_point_a_snapshot(
    arena: Arena, cup: Callable[..., str], play_all: PlayAll, clock: Any
) -> None:
    for _ in range(2):
        made = cup(1)
        play_all(arena)
        refit.settle(arena, made)
        clock.turn(60)
    line = rankings.rankings(arena, rules=pool(arena)).items[0]
    points = rankings.history(arena, line.bot_id)
    assert [point.matches for point in points] == [4, 8]
    assert points[-1].rating == line.rating
    with pytest.raises(NotFound):
        rankings.history(arena, "bot_unknown")
