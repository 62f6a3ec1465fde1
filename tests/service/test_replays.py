"""Matches to look at, opponents, and places over time: all folds over what was played."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from sqlalchemy import update

from engine.cards import CODES
from loadtests import singly
from service import matches, opponents, places, rankings, refit, replays, tournaments
from service.accounts import Account
from service.contest import COMPARISON
from service.errors import Conflict, NotFound
from service.tables import rating, tournament
from service.work import Arena


@pytest.fixture
def cup(arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], finish: Any) -> str:
    """Two deals for four bots, played."""
    made = tournaments.create(
        arena, author, {"name": "Cup", "entrants": ready_bots(4), "players": 4, "deals": 2}
    )
    held = singly.claim(arena, "here")
    while held is not None:
        _, held = finish(arena, held, more=True)
    return made.id


def test_a_match_is_told_as_its_record_has_it(arena: Arena, cup: str) -> None:
    record, told = matches.record(arena, f"{cup}-3"), replays.told(arena, f"{cup}-3")
    assert (told.scores, told.places) == (record["scores"], record["places"])
    for round_, written in zip(told.rounds, record["rounds"], strict=True):
        last = round_["steps"][-1]
        assert round_["steps"][0]["hands"] == [sorted_as(hand) for hand in written["hands"]]
        assert last["did"] == "score"
        assert last["points"] == written["points"]


def sorted_as(hand: list[str]) -> list[str]:
    return sorted(hand, key=CODES.__getitem__)


def test_the_tables_of_a_deal_are_its_rotations(arena: Arena, cup: str) -> None:
    tables = replays.tables_of(arena, matches.of_deal(arena, f"{cup}-1"))
    assert [table.match.rotation for table in tables] == [0, 1, 2, 3]
    assert len({table.match.group for table in tables}) == 1
    for seat in range(4):
        assert len({table.match.seats[seat].entrant for table in tables}) == 4
    for table in tables:
        sums = [sum(hands[seat].points for hands in table.rounds) for seat in range(4)]
        assert sums == [seat.score for seat in table.match.seats]


def test_what_was_not_played_cannot_be_watched(arena: Arena, author: Account, ready_bots: Any) -> None:
    made = tournaments.create(
        arena, author, {"name": "Later", "entrants": ready_bots(4), "players": 4, "deals": 1}
    )
    with pytest.raises(Conflict):
        replays.told(arena, f"{made.id}-0")
    assert replays.tables_of(arena, matches.of_deal(arena, f"{made.id}-0")) == []
    with pytest.raises(NotFound):
        replays.told(arena, "t_nothing-0")


def test_the_record_against_each_other_is_what_the_matches_say(arena: Arena, cup: str) -> None:
    seen = matches.matches(arena, cup, limit=200).items
    bots = sorted({seat.bot_id for match in seen for seat in match.seats})
    for a, b in combinations(bots, 2):
        ours = next(each for each in opponents.opponents(arena, a) if each.bot_id == b)
        pairs = [
            (next(s for s in match.seats if s.bot_id == a), next(s for s in match.seats if s.bot_id == b))
            for match in seen
        ]
        assert ours.games == len(pairs) == 8
        assert ours.wins == sum((x.place or 0) < (y.place or 0) for x, y in pairs)
        assert ours.losses == sum((x.place or 0) > (y.place or 0) for x, y in pairs)
        assert ours.ties == 8 - ours.wins - ours.losses
        ahead = sum((x.counted or 0) - (y.counted or 0) for x, y in pairs)
        assert ours.difference == pytest.approx(ahead / 8)
    with pytest.raises(NotFound):
        opponents.opponents(arena, "bot_nothing")


def test_matches_of_a_comparison_are_no_part_of_it(arena: Arena, cup: str) -> None:
    (bot, *_) = {seat.bot_id for seat in matches.matches(arena, cup).items[0].seats}
    with arena.work() as work:
        work.db.execute(update(tournament).where(tournament.c.id == cup).values(format=COMPARISON))
    assert opponents.opponents(arena, bot) == []


def test_places_over_time_are_those_of_the_snapshots_after_each_tournament(arena: Arena, cup: str) -> None:
    refit.settle(arena, cup)
    found = rankings.rankings(arena)
    bots = [line.bot_id for line in found.items]
    assert len(bots) == 4
    with arena.work() as work:  # as if they had played enough
        for place, bot in enumerate(bots, start=1):
            work.db.execute(update(rating).where(rating.c.version_id == f"{bot}:1").values(place=place))
    told = places.courses(arena, rules=found.rules, players=found.players, bots=[*bots, "bot_nothing"])
    assert [each.bot_id for each in told] == bots
    assert [[place for _, place in each.points] for each in told] == [[1], [2], [3], [4]]
