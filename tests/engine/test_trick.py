"""Who takes a trick."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import CODES, NO_COLOUR, WILD
from engine.switches import WildPair, WildRank
from engine.trick import best_card, lead_colour, wild_calls

COLOUR = {None: NO_COLOUR} | {letter: index for index, letter in enumerate("ROYGBP")}

TAKEN = [  # cards in the order played, trump, what becomes of equal Wilds, the card that takes the trick
    ("R4 R9 R2", None, "first", 1),
    ("R4 O15 P15", None, "first", 0),
    ("R4 B0 R15", "B", "first", 1),
    ("R4 B0 B3", "B", "first", 2),
    ("B4 B0 B3", "B", "first", 0),
    ("R15 WILD:R R14", None, "first", 1),
    ("B15 WILD:B R1", "B", "first", 1),
    ("R4 WILD:O R1", None, "first", 0),
    ("R4 WILD:O R1", "O", "first", 1),
    ("WILD:G G15 WILD:G", None, "first", 0),
    ("WILD:G G15 WILD:G", None, "last", 2),
    ("WILD:B WILD:B WILD:B WILD:R", "B", "last", 2),
    ("WILD:G WILD:B WILD:G", "B", "last", 1),
    ("WILD:Y7 Y8 Y6", None, "refused", 1),
    ("WILD:Y7 Y7", None, "refused", 0),
    ("Y7 WILD:Y7", None, "refused", 0),
    ("WILD:Y0 Y0", "R", "refused", 0),
    ("WILD:G2 WILD G3", None, "refused", 2),
    ("BONUS MAD OUT", "R", "first", 0),
    ("BONUS MAD BONUS", "R", "last", 0),
    ("OUT CHANGE OUT", None, "last", 0),
    ("BONUS R0 MAD", None, "first", 1),
    ("BONUS R0 O3", None, "first", 1),
    ("BONUS R0 O3", "O", "first", 2),
    ("CHANGE WILD:P P15", None, "first", 1),
]


@pytest.mark.parametrize(("cards", "trump", "pair", "index"), TAKEN)
def test_the_card_that_takes_a_trick(cards, trump, pair, index):
    trick = [CODES[card] for card in cards.split()]
    assert best_card(trick, COLOUR[trump], lead_colour(trick), last_wild=pair == "last") == index


@pytest.mark.parametrize(
    ("cards", "lead"),
    [
        ("", None),
        ("BONUS OUT", None),
        ("WILD", None),
        ("R4 O5", "R"),
        ("MAD WILD:G R4", "G"),
        ("OUT WILD:B0 R4", "B"),
    ],
)
def test_the_lead_colour_is_that_of_the_first_card_that_has_one(cards, lead):
    assert lead_colour([CODES[card] for card in cards.split()]) == COLOUR[lead]


def test_a_wild_is_called_a_colour_or_a_colour_and_a_rank():
    assert len(wild_calls(WildRank.HIGHEST)) == 6
    assert len(wild_calls(WildRank.NAMED)) == 6 * 17


@given(data=st.data())
def test_rounds_judge_tricks_as_the_pure_function_does(data, games, play_out):
    match, dice = data.draw(games)
    for played in play_out(match, dice).finished:
        for leader, cards, trump, taker in played.tricks:
            last_wild = match.rules.wild_pair is WildPair.LAST
            index = best_card(cards, trump, lead_colour(cards), last_wild=last_wild)
            assert taker == (leader + index) % match.players
            assert cards[index] != WILD
