"""Where the known cards of a pile lie after all that a seat was told."""

import pytest

from engine.cards import BONUS, CHANGE, OUT
from engine.known_pile import UNKNOWN, KnownPile
from engine.law import law
from engine.rules import RuleSet

END, NOTHING = "end of a trick", -1
R3, R5, G2, B9, P1 = 3, 5, 66, 73, 81


@pytest.mark.parametrize(
    ("preset", "change", "told", "top", "bottom"),
    [
        ("fundex", "search", [R3, CHANGE, G2], [G2, R3], []),
        ("fundex", "search", [R3, OUT, NOTHING], [], [R3]),
        ("fundex", "search", [R3, OUT, CHANGE, R3], [R3], []),
        ("fundex", "search", [R3, CHANGE, OUT, CHANGE, G2], [G2, R3], [UNKNOWN]),
        ("fundex", "search", [R3, [R3, BONUS, G2], CHANGE, G2], [G2, R3, BONUS], []),
        ("fundex", "search", [NOTHING, CHANGE, NOTHING], [], []),
        ("fundex", "name", [R3, CHANGE, R3], [R3], []),
        ("fundex", "turn", [R3, CHANGE, G2, OUT, NOTHING, CHANGE, B9], [B9], [R3, G2]),
        ("fundex", "turn", [R3, CHANGE, CHANGE, G2], [G2], [R3, UNKNOWN]),
        ("fundex", "turn", [R3, CHANGE, G2, CHANGE, R3], [R3, G2, UNKNOWN], []),
        ("amigo", "search", [R3, CHANGE, G2, OUT, END, R3], [R3], [G2]),
        ("amigo", "search", [R3, OUT, CHANGE, END, G2], [G2], [R3]),
        ("amigo", "search", [R3, CHANGE, G2, OUT, END, CHANGE, B9], [B9, R3], [G2]),
        (
            "amigo",
            "search",
            [R3, [R3, BONUS, G2, P1], CHANGE, P1, OUT, END, OUT, END, G2],
            [G2, P1, R3, BONUS],
            [],
        ),
        ("amigo", "name", [R3, OUT, END, G2], [G2], [R3]),
        ("amigo", "name", [R3, OUT, CHANGE, END, NOTHING], [], [R3]),
        ("amigo", "turn", [R3, OUT, CHANGE, G2, END, G2], [G2], [R3]),
        (
            "amigo",
            "turn",
            [R3, OUT, END, R5, CHANGE, G2, CHANGE, R3, CHANGE, B9],
            [B9, G2, UNKNOWN],
            [R3, R5],
        ),
        ("amigo", "turn", [R3, CHANGE, G2, CHANGE, R3, OUT, END, R5], [R5, G2, UNKNOWN], [R3]),
    ],
)
def test_known_cards_lie_where_the_rules_sent_them(preset, change, told, top, bottom):
    pile = known(preset, change, told)
    assert (pile.top, pile.bottom) == (top, bottom)


@pytest.mark.parametrize(
    ("preset", "told", "went_round"),
    [
        ("challenge", [R3, CHANGE, G2, CHANGE, R3], True),
        ("challenge", [R3, CHANGE, G2, CHANGE, CHANGE, R3], False),
        ("challenge", [R3, CHANGE, G2, CHANGE, B9], False),
        ("amigo", [R3, CHANGE, G2, CHANGE, R3], False),
    ],
)
def test_when_all_that_was_turned_was_seen_a_card_turned_again_proves_that_no_other_is_left(
    preset, told, went_round
):
    assert known(preset, "turn", told).went_round is went_round


def known(preset, change, told):
    pile = KnownPile(law(RuleSet.parse({"preset": preset, "change": change}), 4))
    for one in told:
        if one == END:
            pile.end_trick()
        elif isinstance(one, list):
            pile.look(one)
        elif one in (OUT, CHANGE):
            pile.play(one)
        else:
            pile.show(one)
    return pile
