"""Rulings where the published rules are silent: a short round each, and the tricks it must give.

The dealer is the last seat, everybody bids 0, and a trick is written `cards > trump winner`.
"""

from typing import Any

import pytest

from engine.referee import settle

RULINGS: list[tuple[str, dict[str, Any], str, str, str, list[str]]] = [
    (
        "amigo: a Change after an Out in one trick cancels the turn at its end",
        {"preset": "amigo"},
        "OUT R0 / CHANGE R5 / B9 G3",
        "Y3 G2 R1",
        "OUT CHANGE B9 G3 R0 R5",
        ["OUT CHANGE B9 > G 2", "G3 R0 R5 > G 2"],
    ),
    (
        "amigo: after an Out in the same trick a Change passes over no colour",
        {"preset": "amigo"},
        "OUT / CHANGE / B9",
        "Y3 Y8 R1",
        "OUT CHANGE B9",
        ["OUT CHANGE B9 > Y 2"],
    ),
    (
        "amigo: an Out after a Change is turned over at the end of the trick",
        {"preset": "amigo"},
        "CHANGE R0 / OUT B1 / B9 G3",
        "Y3 G2 R1",
        "CHANGE OUT B9 G3 R0 B1",
        ["CHANGE OUT B9 > - 2", "G3 R0 B1 > R 0"],
    ),
    (
        "amigo: Out, Change, Out: the last one rules and its turn comes at the end",
        {"preset": "amigo"},
        "OUT R0 / CHANGE B1 / OUT G3",
        "Y3 G2 R1",
        "OUT CHANGE OUT R0 B1 G3",
        ["OUT CHANGE OUT > - 0", "R0 B1 G3 > R 0"],
    ),
    (
        "amigo with name: the colour cancels the turn, and the buried card is not turned again",
        {"preset": "amigo", "change": "name"},
        "OUT R0 / CHANGE B1 / P9 G3",
        "Y3 G2 R1",
        "OUT CHANGE B P9 G3 R0 B1",
        ["OUT CHANGE P9 > B 2", "G3 R0 B1 > B 1"],
    ),
    (
        "amigo with name: the face-up card stays, and a later Out sends it to the bottom",
        {"preset": "amigo", "change": "name"},
        "CHANGE OUT R0 / B1 B2 B3 / B4 B5 Y1",
        "Y3 G2",
        "CHANGE P B1 B4 B5 OUT B2 Y1 R0 B3",
        ["CHANGE B1 B4 > P 2", "B5 OUT B2 > - 2", "Y1 R0 B3 > G 2"],
    ),
    (
        "amigo with search: the colour cancels the turn at the end of the trick",
        {"preset": "amigo", "change": "search"},
        "OUT R0 / CHANGE B1 / P9 G3",
        "Y3 G2 R1",
        "OUT CHANGE G P9 G3 R0 B1",
        ["OUT CHANGE P9 > G 2", "G3 R0 B1 > G 2"],
    ),
    (
        "the card an Out cancels goes to the bottom, so a later turn takes another",
        {"preset": "fundex", "change": "turn"},
        "OUT CHANGE / R5 Y1",
        "Y3 R1",
        "OUT R5 Y1 CHANGE",
        ["OUT R5 > - 1", "Y1 CHANGE > R 1"],
    ),
    (
        "a plain turn after an Out may bring back the colour that was cancelled",
        {"preset": "challenge"},
        "OUT / CHANGE",
        "Y3",
        "OUT CHANGE",
        ["OUT CHANGE > Y 0"],
    ),
    (
        "korean: an all-action trick goes to its first card, however often that kind was played",
        {"preset": "korean"},
        "BONUS / MAD / BONUS",
        "Y3",
        "BONUS MAD BONUS",
        ["BONUS MAD BONUS > Y 0"],
    ),
    (
        "korean: the last Wild of the trump beats, whatever Wilds of other colours do",
        {"preset": "korean", "deck": {"wild": 4}},
        "WILD / WILD / WILD / WILD",
        "Y3",
        "WILD:Y WILD:Y WILD:B WILD:B",
        ["WILD:Y WILD:Y WILD:B WILD:B > Y 1"],
    ),
    (
        "challenge with action any time: nobody is asked about a second, colourless Wild",
        {"preset": "challenge", "action_any_time": True},
        "WILD / WILD / G3",
        "Y0",
        "WILD:G2 WILD G3",
        ["WILD:G2 WILD G3 > Y 2"],
    ),
    (
        "challenge: a Wild called another colour than the lead is asked about",
        {"preset": "challenge"},
        "G5 R1 / WILD G0",
        "R0",
        "G5 WILD:B9 true R1 G0 false",
        ["G5 WILD:B9 > R 0", "R1 G0 > R 0"],
    ),
    (
        "challenge: an Out played off suit counts at once, even while it is asked about",
        {"preset": "challenge"},
        "G5 / OUT",
        "G9",
        "G5 OUT false",
        ["G5 OUT > - 0"],
    ),
    (
        "wikipedia with search: cards that left the round cannot be found",
        {"preset": "wikipedia", "change": "search"},
        "CHANGE / R5",
        "OUT MAD Y3",
        "CHANGE R5",
        ["CHANGE R5 > Y 1"],
    ),
]


def read_moves(text: str) -> list[object]:
    answers: dict[str, object] = {"true": True, "false": False}
    return [answers.get(word, word) for word in text.split()]


def shown(trick: dict[str, Any]) -> str:
    return f"{' '.join(trick['cards'])} > {trick['trump'] or '-'} {trick['winner']}"


@pytest.mark.parametrize(
    ("rules", "hands", "pile", "moves", "tricks"),
    [ruling[1:] for ruling in RULINGS],
    ids=[ruling[0] for ruling in RULINGS],
)
def test_ruling(rules, hands, pile, moves, tricks):
    dealt = [hand.split() for hand in hands.split("/")]
    script = {"rules": rules, "players": len(dealt), "dealer": len(dealt) - 1, "hands": dealt}
    script |= {"pile": pile.split(), "moves": [0] * len(dealt) + read_moves(moves)}
    status, result = settle(script)
    assert status == 0, result
    assert "next" not in result, result["next"]
    assert [shown(trick) for trick in result["tricks"]] == tricks


def choices(rules: dict[str, Any], hands: list[list[str]], pile: list[str], moves: list[object]) -> Any:
    """Who is asked what after these moves, with the last seat as dealer and bids of 0."""
    script = {"rules": rules, "players": len(hands), "dealer": len(hands) - 1, "hands": hands, "pile": pile}
    return settle({**script, "moves": [0] * len(hands) + moves})[1]["next"]


def test_a_second_wild_is_not_among_the_choices_under_challenge():
    hands = [["WILD", "R1"], ["WILD", "G2"]]
    asked = choices({"preset": "challenge"}, hands, ["Y3"], ["WILD:P3"])
    assert asked == {"seat": 1, "kind": "play", "legal": ["G2"]}
    elsewhere = choices({"preset": "fundex"}, hands, ["Y3"], ["WILD:P"])
    assert elsewhere["legal"] == ["G2", *(f"WILD:{colour}" for colour in "ROYGBP")]


def test_a_first_wild_is_called_a_colour_and_a_rank_under_challenge():
    asked = choices({"preset": "challenge"}, [["WILD"], ["R1"]], ["Y3"], [])
    assert asked["legal"] == [f"WILD:{colour}{rank}" for colour in "ROYGBP" for rank in range(17)]


def test_the_colour_of_a_change_is_asked_even_if_only_one_can_be_chosen():
    asked = choices({"preset": "fundex"}, [["CHANGE"], ["R1"]], ["Y3", "P1"], ["CHANGE"])
    assert asked == {"seat": 0, "kind": "trump", "legal": ["P"]}


def test_everybody_else_is_asked_to_challenge_partners_too():
    rules = {"preset": "challenge", "teams": "2+2"}
    hands = [["G5"], ["R2"], ["G3"], ["G1"]]
    for asked, seat in (([], 2), ([False], 3), ([False, False], 0)):
        question = choices(rules, hands, ["Y0"], ["G5", "R2", *asked])
        assert question == {"seat": seat, "kind": "challenge", "legal": [False, True]}
    assert choices(rules, hands, ["Y0"], ["G5", "R2", False, False, False])["seat"] == 2
