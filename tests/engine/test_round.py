"""Laws of any round under any rules, and the rulings that need a table to show."""

import copy
import pickle
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import ALPHABET, BID, BONUS, CARD, COLOUR, FIRST_WILD, NO_COLOUR, OUT, OVER, PLAY
from engine.errors import IllegalMove
from engine.match import Match
from engine.round import Round
from engine.rules import PRESETS


def cards_of(played: Round) -> Counter[int]:
    """Every card of the round, wherever it is."""
    there = Counter(played.pile.cards)
    there.update(card for seat in range(played.players) for card in played.held(seat))
    there.update(CARD[move] for move in played.trick)
    there.update(CARD[move] for trick in played.tricks for move in trick[1])
    return there


def state(played: Round) -> tuple[object, ...]:
    return (
        *(
            played.kind,
            played.seat,
            played.leader,
            played.lead,
            played.trick[:],
            played.bids[:],
            played.taken[:],
        ),
        *(played.penalties[:], played.stakes[:], played.tricks[:], played.tape[:]),
        *(played.asides[:], played.trumps[:], played.pile.cards[:]),
        *(played.pile.colour, played.pile.shown, [played.held(seat) for seat in range(played.players)]),
        played.legal()[:],
    )


@given(data=st.data())
def test_no_card_is_lost_or_won_in_play(data, games, random_move):
    match, dice = data.draw(games)
    while not match.over:
        played = match.round
        before = cards_of(played)
        match.advance(random_move(match, dice))
        assert cards_of(played) == before


@given(data=st.data())
def test_tricks_taken_sum_to_the_hand_size_and_points_stay_in_bounds(data, games, play_out):
    match, dice = data.draw(games)
    deck = match.rules.deck
    for played in play_out(match, dice).finished:
        assert sum(played.taken) == len(played.tricks) == played.hand_size
        members = max(len(group) for group in played.law.groups)
        most = 2 * played.hand_size + 10 + 5 * deck.bonus
        for seat, points in enumerate(played.points()):
            assert -5 - 5 * deck.mad <= points <= most
            asked = members * played.hand_size * played.players
            assert -10 * asked <= played.penalties[seat] <= 0


@given(data=st.data())
def test_every_choice_is_distinct_in_order_and_plays_and_nothing_else_does(data, games, random_move):
    match, dice = data.draw(games)
    while not match.over:
        played = match.round
        legal = played.legal()[:]
        assert legal == sorted(set(legal)) != []
        bids = played.hand_size + 3 if played.kind == BID else ALPHABET
        for move in range(-1, bids):
            assert (played.refusal(move) is None) == (move in legal)
        trial = played.clone()
        trial.apply(dice.choice(legal))
        match.advance(random_move(match, dice))


@given(data=st.data())
def test_a_copy_is_equal_and_playing_it_leaves_the_first_alone(data, games, random_move):
    match, dice = data.draw(games)
    for _ in range(dice.randrange(60)):
        if not match.over:
            match.advance(random_move(match, dice))
    if match.over:
        return
    played, twin = match.round, match.round.clone()
    before = state(played)
    assert state(twin) == before
    while twin.kind != OVER:
        twin.apply(dice.choice(twin.legal()))
    assert state(played) == before


@given(data=st.data())
def test_who_can_follow_follows_unless_the_rules_let_him_off(data, games, random_move):
    match, dice = data.draw(games)
    while not match.over:
        played = match.round
        leading = played.lead == NO_COLOUR
        if (
            played.kind == PLAY
            and played.law.forced
            and not leading
            and played.hands[played.seat][played.lead]
        ):
            for move in played.legal():
                allowed = match.rules.action_any_time and move >= FIRST_WILD
                assert allowed or COLOUR[move] == played.lead
        match.advance(random_move(match, dice))


@given(data=st.data())
def test_bids_come_first_and_in_turn_from_the_dealers_left(data, games, random_move):
    match, dice = data.draw(games)
    asked = {number: [] for number in range(len(match.rounds))}
    while not match.over:
        asked[match.number - 1].append((match.round.kind, match.round.seat))
        match.advance(random_move(match, dice))
    for first, decisions in asked.items():
        in_turn = [(BID, (first + turn) % match.players) for turn in range(match.players)]
        assert decisions[: match.players] == in_turn
        assert all(kind != BID for kind, _ in decisions[match.players :])


@given(data=st.data())
def test_a_round_knows_every_move_in_order(data, games, random_move):
    match, dice = data.draw(games)
    sent: list[list[int]] = []
    while not match.over:
        if len(sent) < match.number:
            sent.append([])
        sent[-1].append(random_move(match, dice))
        played = match.round
        match.advance(sent[-1][-1])
        assert list(played.moves) == sent[-1]


def test_points_and_penalties_make_the_total():
    dice = Random(5)
    match = Match(PRESETS["challenge"], 5, bytes(32))
    while not match.over:
        match.advance(dice.choice(match.legal()))
    totals = [
        sum(played.points()[seat] + played.penalties[seat] for played in match.finished) for seat in range(5)
    ]
    assert list(match.scores()) == totals
    assert any(sum(played.penalties) for played in match.finished)


@given(data=st.data())
def test_a_match_in_play_can_be_copied_in_every_way(data, games, random_move):
    match, dice = data.draw(games)
    for _ in range(dice.randrange(60)):
        if not match.over:
            match.advance(random_move(match, dice))
    before = state(match.round), match.moves
    for copied in (copy.copy, copy.deepcopy, Match.clone, lambda match: pickle.loads(pickle.dumps(match))):
        match.legal()
        twin, same = copied(match), match.clone()
        assert twin.law is match.law and twin.round.law is match.law
        assert (state(twin.round), twin.moves) == before
        while not twin.over:
            move = dice.choice(twin.legal())
            twin.apply(move)
            same.apply(move)
        assert (twin.moves, twin.scores()) == (same.moves, same.scores())
        assert (state(match.round), match.moves) == before


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda played: pickle.loads(pickle.dumps(played))]
)
def test_a_round_in_play_can_be_copied_in_every_way(copied):
    played = Match(PRESETS["challenge"], 4, bytes(32)).round
    for _ in range(8):
        played.apply(played.legal()[-1])
    before, twin = state(played), copied(played)
    assert state(twin) == before
    moves = twin.legal()
    while moves:
        moves = twin.turns()(moves[0])
    assert state(played) == before
    while played.kind != OVER:
        played.apply(played.legal()[0])
    assert state(twin) == state(played)


@given(data=st.data())
def test_a_card_that_is_not_held_leaves_the_round_as_it_was(data, games, random_move):
    match, dice = data.draw(games)
    while not match.over:
        played, before = match.round, state(match.round)
        if played.kind in (BID, PLAY):
            held = played.held(played.seat)
            wrong = [999] if played.kind == BID else [card for card in range(96) if card not in held][:1]
            wrong += [card for card in range(BONUS, OUT + 1) if played.kind == PLAY and card not in held]
            for move in wrong:
                with pytest.raises((ValueError, IndexError)):
                    played.apply(move)
                assert state(played) == before
        match.advance(random_move(match, dice))


def test_a_round_that_is_over_is_not_played_on():
    played = Match(PRESETS["fundex"], 3, bytes(32)).round
    moves, send = played.legal(), played.turns()
    while moves:
        moves = send(moves[0])
    assert played.legal() == [] and played._send is None
    for play_on in (send, played.turns(), played.apply):
        with pytest.raises(IllegalMove, match="the round is over"):
            play_on(0)
    assert played._send is None
