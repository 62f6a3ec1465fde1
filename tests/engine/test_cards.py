"""The alphabet of moves and its notation."""

import pytest

from engine import cards


def test_every_move_has_a_notation_of_its_own():
    assert len(set(cards.NOTATION)) == len(cards.NOTATION) == cards.ALPHABET


def test_moves_sorted_by_number_stand_in_the_order_of_choices():
    few = ["R0", "R10", "O1", "P15", "WILD:R", "WILD:P", "BONUS", "MAD", "CHANGE", "OUT"]
    assert sorted(few, key=cards.CODES.__getitem__) == few
    ranked = ["P15", "WILD:R0", "WILD:R16", "WILD:O0", "WILD:P16", "WILD", "BONUS"]
    assert sorted(ranked, key=cards.CODES.__getitem__) == ranked


def test_a_deck_has_no_other_cards_than_numbers_and_five_actions():
    assert len(cards.CARDS) == 96 + 5
    assert set(cards.CARDS) >= {"R0", "P15", "WILD", "BONUS", "MAD", "CHANGE", "OUT"}


@pytest.mark.parametrize(
    ("text", "colour", "rank", "card"),
    [
        ("R0", 0, 0, "R0"),
        ("P15", 5, 15, "P15"),
        ("WILD:G", 3, 16, "WILD"),
        ("WILD:B0", 4, 0, "WILD"),
        ("WILD:O16", 1, 16, "WILD"),
        ("WILD", cards.NO_COLOUR, 0, "WILD"),
        ("BONUS", cards.NO_COLOUR, 0, "BONUS"),
    ],
)
def test_a_move_knows_its_colour_its_rank_and_its_card(text, colour, rank, card):
    move = cards.CODES[text]
    assert (cards.COLOUR[move], cards.RANK[move], cards.CARD[move]) == (colour, rank, cards.CODES[card])


@pytest.mark.parametrize(
    ("kind", "value"),
    [(cards.BID, n) for n in (0, 7)]
    + [(cards.PLAY, t) for t in ("R0", "WILD:Y", "WILD:Y7", "WILD", "OUT")]
    + [(cards.TRUMP, "G"), (cards.CHALLENGE, False), (cards.CHALLENGE, True)],
)
def test_what_is_written_is_read_again_with_its_type(kind, value):
    move = cards.read(kind, value)
    assert move is not None
    again = cards.written(kind, move)
    assert (again, type(again)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "value"),
    [(cards.BID, v) for v in (True, 2.0, "2", None, [2])]
    + [
        (cards.PLAY, v)
        for v in ("r4", "R04", "R16", " R4", "WILD:", "WILD:R17", "false", 4, None, {}, ["R4"])
    ]
    + [(cards.CHALLENGE, v) for v in (0, 1, "true", None)],
)
def test_what_is_not_exactly_notation_is_no_move(kind, value):
    assert cards.read(kind, value) is None
