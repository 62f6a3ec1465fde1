"""Every way a small round can go, counted: golden numbers, and the same from every seat."""

import hashlib
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import OVER
from engine.match import Match
from engine.round import Round
from engine.rules import RuleSet

ACTIONS = {"wild": 8, "bonus": 8, "mad": 8, "change": 8, "out": 8}


def outcomes(played: Round) -> tuple[int, int]:
    """How many ways lead to the end, and a sum over all of them of what each comes to."""
    if played.kind == OVER:
        told = repr((played.points(), played.penalties, played.taken, [trick[2:] for trick in played.tricks]))
        return 1, int.from_bytes(hashlib.sha256(told.encode()).digest()[:4], "big")
    ways, total = 0, 0
    for move in played.legal():
        after = played.clone()
        after.apply(move)
        more, sums = outcomes(after)
        ways, total = ways + more, (total + sums) % 2**32
    return ways, total


def small_round(preset: str, seed: int, switches: dict[str, Any]) -> Round:
    rules = RuleSet.parse({"preset": preset, "hand_sizes": [2], **switches})
    return Match(rules, 3, Random(seed).randbytes(32)).round


GOLDEN = [
    ("fundex", 1, {}, 216, 1807054896),
    ("fundex", 6, {"deck": ACTIONS}, 5346, 4055587221),
    ("wikipedia", 55, {}, 216, 1642469748),
    ("wikipedia", 108, {"deck": ACTIONS}, 7128, 1892276940),
    ("challenge", 1, {}, 5832, 1697173548),
    ("challenge", 5, {"deck": ACTIONS}, 2592, 1968349340),
    ("korean", 103, {}, 162, 1828142802),
    ("korean", 390, {"deck": ACTIONS}, 30294, 4112640106),
    ("amigo", 1, {}, 216, 561686676),
    ("amigo", 6, {"deck": ACTIONS}, 972, 3641155305),
]


@pytest.mark.parametrize(("preset", "seed", "switches", "ways", "total"), GOLDEN)
def test_the_ways_of_a_small_round_are_as_many_as_ever(preset, seed, switches, ways, total):
    assert outcomes(small_round(preset, seed, switches)) == (ways, total)


@given(data=st.data())
def test_a_round_turned_by_a_seat_goes_the_same_a_seat_on(data, games, play_out):
    match, dice = data.draw(games)
    for number, first in enumerate(play_out(match, dice).finished, start=1):
        players, turn = match.players, dice.randrange(1, match.players)
        dealt = match.law.shuffler.deal(match.seed, number, first.hand_size, players)
        hands = [dealt.hands[(seat - turn) % players] for seat in range(players)]
        second = Round.dealt(match.law, (first.dealer + turn) % players, hands, dealt.pile)
        for move in first.moves:
            assert move in second.legal()
            second.apply(move)
        assert second.kind == OVER
        for name in ("bids", "taken", "penalties", "stakes"):
            was, now = getattr(first, name), getattr(second, name)
            assert [now[(seat + turn) % players] for seat in range(players)] == was
        assert [second.points()[(seat + turn) % players] for seat in range(players)] == first.points()
