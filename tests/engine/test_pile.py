"""The trump pile: what is turned, searched, buried."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import CODES, FIRST_COLOUR, NO_COLOUR, NOTATION, colour_text
from engine.deal import deal
from engine.pile import Pile
from engine.switches import Turned


def codes(text: str) -> list[int]:
    return [CODES[card] for card in text.split()]


def pile(text: str) -> Pile:
    return Pile.opened(codes(text), Turned.STAYS)


def state(pile: Pile) -> tuple[str, str | None]:
    """Cards top first, the face-up one in brackets; and trump."""
    cards = [NOTATION[card] for card in pile.cards]
    if pile.shown:
        cards[0] = f"[{cards[0]}]"
    return " ".join(cards), colour_text(pile.colour)


@pytest.mark.parametrize(
    ("turned", "cards", "after"),
    [
        ("stays", "R4 O5 P6", "[R4] O5 P6"),
        ("stays", "OUT MAD R4 O5", "[R4] OUT MAD O5"),
        ("leaves", "OUT MAD R4 OUT O5", "[R4] OUT O5"),
        ("bottom", "OUT MAD R4 O5", "[R4] O5 OUT MAD"),
    ],
)
def test_the_first_number_card_is_trump_and_actions_on_the_way_go_aside(turned, cards, after):
    assert state(Pile.opened(codes(cards), Turned(turned))) == (after, "R")


@pytest.mark.parametrize(("turned", "after"), [("stays", "OUT MAD"), ("leaves", ""), ("bottom", "OUT MAD")])
def test_without_a_number_card_there_is_no_trump(turned, after):
    assert state(Pile.opened(codes("OUT MAD"), Turned(turned))) == (after, None)


@pytest.mark.parametrize(
    ("before", "after", "trump"),
    [
        ("Y3 Y8 R1", "[Y8] R1 Y3", "Y"),
        ("Y3 OUT BONUS R1 G2", "[R1] G2 Y3 OUT BONUS", "R"),
        ("Y3", "[Y3]", "Y"),
        ("Y3 OUT", "[Y3] OUT", "Y"),
        ("OUT", "OUT", None),
    ],
)
def test_a_plain_turn_takes_the_next_number_card(before, after, trump):
    turned = pile(before)
    turned.turn()
    assert state(turned) == (after, trump)


@pytest.mark.parametrize(
    ("before", "after", "trump"),
    [("Y3 Y8 R1", "[R1] Y3 Y8", "R"), ("Y3 Y8 OUT", "[Y3] Y8 OUT", "Y"), ("Y3 R1", "[R1] Y3", "R")],
)
def test_a_passing_turn_leaves_the_old_colour_out_or_does_nothing(before, after, trump):
    turned = pile(before)
    turned.turn(turned.colour)
    assert state(turned) == (after, trump)


def test_a_cancelled_card_lies_at_the_bottom_and_is_turned_last():
    cancelled = pile("Y3 R1 G2")
    cancelled.cancel()
    assert state(cancelled) == ("R1 G2 Y3", None)
    cancelled.cancel()
    assert state(cancelled) == ("R1 G2 Y3", None)
    cancelled.turn()
    assert state(cancelled) == ("[R1] G2 Y3", "R")


def test_a_search_lays_the_highest_of_a_colour_on_what_lay_open():
    searched = pile("Y3 G2 R1 G9 OUT")
    assert searched.choices() == codes("R G")
    searched.search(3)
    assert state(searched) == ("[G9] Y3 G2 R1 OUT", "G")
    searched.cancel()
    assert state(searched) == ("Y3 G2 R1 OUT G9", None)
    assert searched.choices() == codes("R Y G")


def test_a_named_colour_leaves_the_face_up_card_where_it_is():
    named = pile("Y3 R1")
    named.colour = 5
    assert state(named) == ("[Y3] R1", "P")
    named.cancel()
    assert state(named) == ("R1 Y3", None)


def test_a_copy_is_played_on_alone():
    first = pile("Y3 R1")
    second = first.clone()
    second.turn()
    assert state(first) == ("[Y3] R1", "Y")
    assert second.colour != NO_COLOUR


@given(data=st.data())
def test_a_dealt_pile_goes_as_one_laid_out_card_by_card(data, rule_sets):
    rules, players = data.draw(rule_sets)
    dealt = deal(data.draw(st.binary(min_size=32, max_size=32)), 1, rules, players)
    lazy = Pile.of(dealt, rules.turned)
    plain = Pile.opened(list(dealt.pile), rules.turned)
    for step in data.draw(
        st.lists(st.sampled_from(["cancel", "turn", "pass over", "search", "look"]), max_size=8)
    ):
        assert (lazy.face, lazy.colour, lazy.choices()) == (plain.face, plain.colour, plain.choices())
        if step == "look":
            assert lazy.clone().cards == plain.cards
        for each in (lazy, plain):
            if step == "cancel":
                each.cancel()
            elif step == "search" and each.choices():
                each.search(each.choices()[-1] - FIRST_COLOUR)
            elif step in ("turn", "pass over"):
                each.turn(each.colour if step == "pass over" else NO_COLOUR)
    assert lazy.cards == plain.cards
