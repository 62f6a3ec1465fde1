"""Sampled worlds agree with all a seat knows, and no world that agrees is favoured."""

from collections import Counter
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import sampling
from engine.cards import BID, CARD, COLOUR, FIRST_WILD, NO_COLOUR, OVER, TRUMP, WILD
from engine.knowledge import NUMBERS, Knowledge
from engine.match import Match
from engine.round import Round
from engine.rules import PRESETS, RuleSet
from engine.sampling import Sampler, rollout, sample
from engine.switches import Change, Turned
from engine.table import LocalPlayer, play
from engine.view import pile, view

OPEN = (
    *("kind", "seat", "leader", "lead", "trick", "taken", "stakes", "stake", "penalties", "turn_due"),
    *("acted", "tricks", "hand_size", "dealer"),
)


def asked(match: Match) -> dict[str, Any]:
    """What the function of the seat to decide is handed."""
    shown = view(match, match.round.seat) | {"legal": match.choices()}
    looked = pile(match)
    return shown if looked is None else shown | {"pile": looked}


def every_card(played: Round) -> Counter[int]:
    cards = Counter(played.pile.cards)
    cards.update(card for seat in range(played.players) for card in played.held(seat))
    cards.update(CARD[move] for _, trick, _, _ in played.tricks for move in trick)
    cards.update(CARD[move] for move in played.trick)
    return cards


def refuted(world: Round, truth: Round) -> str | None:
    """Which fact of the true round, open to the seat that decides, the world contradicts."""
    for name in OPEN:
        if getattr(world, name) != getattr(truth, name):
            return name
    if world.held(truth.seat) != truth.held(truth.seat) or world.legal() != truth.legal():
        return "hand"
    if (world.pile.colour, world.pile.face) != (truth.pile.colour, truth.pile.face):
        return "trump"
    seats = range(world.players)
    if [len(world.held(seat)) for seat in seats] != [len(truth.held(seat)) for seat in seats]:
        return "sizes"
    if truth.sees_pile and world.pile.cards != truth.pile.cards:
        return "pile"
    return void(world)


def void(world: Round) -> str | None:
    """A seat that holds a card which it would have had to play."""
    law = world.law
    for leader, cards, _, _ in [*world.tricks, (world.leader, world.trick, 0, 0)]:
        lead = NO_COLOUR
        for turn, move in enumerate(cards):
            seat = (leader + turn) % world.players
            bound = law.forced and lead != NO_COLOUR and not (move >= FIRST_WILD and law.any_time)
            if bound and (move >= FIRST_WILD or COLOUR[move] != lead) and world.hands[seat][lead]:
                return f"seat {seat} has no {lead}"
            if move == WILD and set(world.held(seat)) - {WILD}:
                return f"seat {seat} has only wilds"
            lead = COLOUR[move] if lead == NO_COLOUR else lead
    return None


@given(data=st.data())
@settings(max_examples=25)
def test_no_sample_contradicts_what_the_seat_knows_and_each_plays_to_its_end(data, games, random_move):
    match, dice = data.draw(games)
    told: dict[int, Knowledge] = {}
    while not match.over:
        truth, shown = match.round, asked(match)
        known = told.setdefault(truth.seat, Knowledge(match.rules, shown))
        known.see(shown)
        for world in (sample(shown, match.rules, dice), Sampler(known).sample(dice)):
            assert refuted(world, truth) is None
            if match.rules.turned is not Turned.LEAVES:
                assert every_card(world) == every_card(truth)
            if match.rules.secret_bids:
                assert [bid < 0 for bid in world.bids] == [bid < 0 for bid in truth.bids]
            else:
                assert world.bids == truth.bids
        rollout(world, dice)
        assert world.kind == OVER and sum(world.taken) == world.hand_size
        match.advance(random_move(match, dice))


@given(data=st.data())
@settings(max_examples=25)
def test_the_true_world_is_one_of_the_possible(data, games, random_move):
    match, dice = data.draw(games)
    told: dict[int, Knowledge] = {}
    while not match.over:
        truth, shown = match.round, asked(match)
        known = told.setdefault(truth.seat, Knowledge(match.rules, shown))
        known.see(shown)
        for each in (known, Knowledge(match.rules, shown)):
            hands = [[] if seat == truth.seat else truth.held(seat) for seat in range(match.players)]
            rest = Counter(truth.pile.cards) - Counter(each.looked or each.faces)
            assert each.possible(hands, list(rest.elements()))
        match.advance(random_move(match, dice))


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_ten_thousand_samples_contradict_nothing(preset):
    dice, drawn = Random(preset), 0
    match = Match(PRESETS[preset], 5, dice.randbytes(32))
    while drawn < 2000:
        if match.over:
            match = Match(PRESETS[preset], 5, dice.randbytes(32))
        sampler = Sampler(Knowledge(match.rules, asked(match)))
        for _ in range(8):
            assert refuted(sampler.sample(dice), match.round) is None
        drawn += 8
        match.advance(dice.choice(match.legal()))


def small_case() -> Knowledge:
    """Nine hidden cards: seat 1 has two and no red, seat 2 three and no orange, seat 3 two."""
    match = Match(PRESETS["fundex"], 4, bytes(32))
    known = Knowledge(match.rules, view(match, 0))
    known.bidding, known.faces = False, []
    known.hidden, known.sizes = [0, 1, 16, 17, 32, 33, 48, 205, 205], [0, 2, 3, 2]
    known.void = [set(), {0}, {1}, set()]
    return known


def legal_deals(known: Knowledge) -> Counter[tuple[tuple[int, ...], ...]]:
    """Every legal deal of the small case, and how often it comes if equal cards are told apart."""
    found: Counter[tuple[tuple[int, ...], ...]] = Counter()
    places = set(range(len(known.hidden)))
    for one in combinations(sorted(places), 2):
        for two in combinations(sorted(places - set(one)), 3):
            for three in combinations(sorted(places - set(one) - set(two)), 2):
                hands = [(), *(tuple(known.hidden[place] for place in hand) for hand in (one, two, three))]
                if known.possible(hands, []):
                    found[tuple(hands)] += 1
    return found


@pytest.mark.parametrize("way", ["deal", "_exchanged"])
def test_every_legal_deal_of_a_small_case_is_equally_likely(way):
    known = small_case()
    expected = legal_deals(known)
    deal, dice, draws = getattr(Sampler(known), way), Random(5), 20_000
    drawn = Counter(tuple(tuple(sorted(hand)) for hand in deal(dice)[0]) for _ in range(draws))
    assert set(drawn) == set(expected)
    share = draws / sum(expected.values())
    chi = sum((drawn[deal] - share * count) ** 2 / (share * count) for deal, count in expected.items())
    degrees = len(expected) - 1
    assert chi < degrees + 4 * (2 * degrees) ** 0.5


def test_a_pile_with_fewer_numbers_makes_the_first_trump_card_likelier():
    match = Match(PRESETS["fundex"], 3, bytes(32))
    known = Knowledge(match.rules, view(match, match.round.seat))
    known.hidden = [0, 205, 206]
    known.sizes = [0, 1, 1]
    assert known.bidding and len(known.faces) == 1
    dice, sampler, draws = Random(1), Sampler(known), 6000
    dealt = sum([0] in sampler.deal(dice)[0] for _ in range(draws))
    assert abs(dealt / draws - 4 / (4 + 2 / 2)) < 0.02  # 4 of 6 deals leave one number card, 2 leave two


def test_a_look_through_the_pile_is_remembered_for_the_round():
    dice = Random(3)
    match = Match(RuleSet.parse({"preset": "fundex", "deck": {"change": 8}}), 4, dice.randbytes(32))
    told: dict[int, Knowledge] = {}
    looked: dict[int, list[int]] = {}
    remembered = 0
    while len(match.finished) < 3:
        seat, shown = match.round.seat, asked(match)
        told.setdefault(seat, Knowledge(match.rules, shown)).see(shown)
        if match.round.kind == BID:
            looked.pop(seat, None)
        if match.round.kind == TRUMP:
            looked[seat] = match.round.pile.cards[:]
        if seat in looked:
            remembered += 1
            assert sorted(Sampler(told[seat]).sample(dice).pile.cards) == sorted(looked[seat])
        match.advance(dice.choice(match.legal()))
    assert remembered > 10


def test_a_face_that_an_out_cancelled_lies_at_the_bottom():
    dice, found = Random(5), 0
    match = Match(RuleSet.parse({"preset": "amigo", "change": "name", "deck": {"out": 8}}), 4, bytes(32))
    told: dict[int, Knowledge] = {}
    while not match.over:
        seat, shown = match.round.seat, asked(match)
        known = told.setdefault(seat, Knowledge(match.rules, shown))
        known.see(shown)
        older = [card for card in known.faces if card != known.face]
        if older:
            found += 1
            assert Sampler(known).sample(dice).pile.cards[-len(older) :] == older
        match.advance(dice.choice(match.legal()))
    assert found > 10


@pytest.mark.parametrize("change", sorted(Change))
@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_cards_that_lay_open_or_were_looked_at_keep_their_order_in_the_pile(preset, change, random_move):
    deck = {"change": 8, "out": 8}
    rules = RuleSet.parse({"preset": preset, "change": change, "deck": deck, "hand_sizes": [8, 36, 37, 38]})
    dice, compared = Random(preset), 0
    for players in (3, rules.max_players):
        match = Match(rules, players, dice.randbytes(32))
        known, trumps = Knowledge(rules, view(match, 0)), 1
        while not match.over:
            truth = match.round
            if truth.seat == 0 or truth.kind != TRUMP:
                known.see(asked(match) if truth.seat == 0 else view(match, 0))
                if trumps != len(truth.trumps):
                    piles = truth.pile.cards, Sampler(known).sample(dice).pile.cards
                    seen = NUMBERS if known.pile.went_round else known.faces
                    there, trumps, compared = known.looked or seen, len(truth.trumps), compared + 1
                    told, drawn = ([card for card in pile if card in there] for pile in piles)
                    assert drawn == told
            match.advance(random_move(match, dice))
    assert compared > 20


@pytest.mark.parametrize(
    "tricks", [[], [{"leader": 0, "cards": ["OUT", "R1", "CHANGE"], "trump": "R", "winner": 1}]]
)
def test_a_card_that_lies_open_again_after_an_out_was_searched_out_as_the_highest(tricks):
    match = Match(PRESETS["korean"], 3, bytes(32))
    known = Knowledge(match.rules, view(match, 0) | {"trump": "R", "trump_card": "R9"})
    known.see(known.view | {"tricks": tricks})
    assert known.nowhere == (set(range(10, 16)) if tricks else set())


def test_after_a_look_only_action_cards_can_have_left_the_pile():
    rules = RuleSet.parse({"preset": "wikipedia", "change": "search", "deck": {"change": 8, "wild": 8}})
    dice, left = Random(4), 0
    for _ in range(40):
        match = Match(rules, 4, dice.randbytes(32))
        while not match.finished:
            if match.round.kind == TRUMP:
                world = Sampler(Knowledge(rules, asked(match))).sample(dice)
                gone = Counter(rules.deck.cards()) - every_card(world)
                assert all(card >= FIRST_WILD for card in gone)
                left += gone.total()
            match.advance(dice.choice(match.legal()))
    assert left > 5


def test_the_bot_in_the_readme_plays():
    readme = Path(sampling.__file__).with_name("README.md").read_text(encoding="utf-8")
    code = next(part for part in readme.split("```") if part.startswith("python") and "rollout(" in part)
    bot: dict[str, Any] = {}
    exec(code.removeprefix("python"), bot)
    rules = RuleSet.parse({"preset": "challenge", "hand_sizes": [3]})
    players = [LocalPlayer(start=bot["start"], bid=lambda view: 1, play=bot["play"]) for _ in range(3)]
    assert play(rules, players, seed=bytes(32)).faults == ()
