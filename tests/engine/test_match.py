"""Rounds in a row."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import match as match_module
from engine.cards import OVER
from engine.errors import IllegalMove, RulesError
from engine.match import Match
from engine.rules import PRESETS, RuleSet


@pytest.mark.parametrize("seed", [b"", bytes(31), bytes(33), "0" * 32, None])
def test_a_seed_is_32_bytes(seed):
    with pytest.raises(RulesError) as refused:
        Match(PRESETS["fundex"], 4, seed)
    assert refused.value.field == "seed"


def test_too_many_players_are_refused_before_a_deal():
    with pytest.raises(RulesError, match="players"):
        Match(PRESETS["fundex"], 9, bytes(32))


@given(data=st.data())
def test_the_deal_passes_to_the_left_and_hands_are_as_long_as_the_schedule_says(data, games, play_out):
    match, dice = data.draw(games)
    play_out(match, dice)
    assert [played.hand_size for played in match.finished] == list(match.rounds)
    dealers = [played.dealer for played in match.finished]
    assert dealers == [(number - 1) % match.players for number in range(len(match.rounds))]
    assert match.legal() == []


def test_an_illegal_move_changes_nothing():
    match = Match(PRESETS["fundex"], 3, bytes(32))
    moves = b""
    for bid in (None, 3, 3, 3):  # first before any bid, last when a card is due
        if bid is not None:
            match.apply(bid)
            moves += bytes([bid])
        for wrong in (11, -1, 216, 250, 10**9):
            with pytest.raises(IllegalMove):
                match.apply(wrong)
        assert (match.moves, match.round.seat) == (moves, len(moves) % 3)


def test_both_ways_to_play_in_the_readme_work(capsys):
    readme = Path(match_module.__file__).with_name("README.md").read_text(encoding="utf-8")
    playing = readme.partition("## Playing")[2].partition("##")[0]
    exec("\n".join(re.findall(r"```python\n(.*?)```", playing, re.DOTALL)), {})
    assert len(capsys.readouterr().out.splitlines()) == 2


@given(data=st.data())
def test_moves_sent_or_applied_or_both_make_the_same_round(data, games, random_move):
    match, dice = data.draw(games)
    while not match.over:
        applied, sent, mixed = match.round, match.round.clone(), match.round.clone()
        send = sent.turns()
        while applied.kind != OVER:
            move = random_move(match, dice)
            if dice.random() < 0.1:
                mixed = mixed.clone()
            mixed.turns()(move) if dice.random() < 0.5 else mixed.apply(move)
            applied.apply(move)
            assert send(move) == applied.legal() == mixed.legal() == sent.legal()
        assert applied.tape == sent.tape == mixed.tape
        assert applied.asides == sent.asides == mixed.asides
        assert applied.tricks == sent.tricks == mixed.tricks
        match.settle()


def test_nothing_can_be_played_when_the_match_is_over():
    match = Match(RuleSet.parse({"preset": "fundex", "hand_sizes": [1]}), 2, bytes(32))
    while not match.over:
        match.apply(match.legal()[0])
    with pytest.raises(IllegalMove, match="over"):
        match.apply(0)


@given(data=st.data())
def test_a_copy_plays_on_to_the_same_end_alone(data, games, random_move, play_out):
    match, dice = data.draw(games)
    for _ in range(dice.randrange(100)):
        if not match.over:
            match.advance(random_move(match, dice))
    before = (match.moves, match.scores(), match.number, match.legal()[:])
    twin = match.clone()
    assert (twin.moves, twin.scores(), twin.number, twin.legal()[:]) == before
    play_out(twin, dice)
    assert (match.moves, match.scores(), match.number, match.legal()[:]) == before
    for move in twin.moves[len(match.moves) :]:
        match.apply(move)
    assert (match.moves, match.scores(), match.places()) == (twin.moves, twin.scores(), twin.places())


@given(data=st.data())
def test_members_of_a_team_share_score_and_place(data, games, play_out):
    match, dice = data.draw(games)
    play_out(match, dice)
    for group in match.law.groups:
        assert len({match.scores()[seat] for seat in group}) == 1
        assert len({match.places()[seat] for seat in group}) == 1
        assert len({match.exact[seat] for seat in group}) == 1
