"""The engine against the rules written down a second time: outcomes, and a question on the way to each."""

import copy
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cards import NOTATION
from engine.referee import settle
from tests.engine.plain_rules import BOOK, COLOURS, KINDS, NUMBERS, PlainRound, deck

ANYTHING: list[Any] = [*range(12), *NOTATION, *COLOURS, True, False, "WILD"]


def any_script(dice: Random) -> dict[str, Any]:
    """A round about to begin under any rules, rich in action cards."""
    preset = dice.choice(sorted(BOOK))
    rules: dict[str, Any] = {"preset": preset}
    offered: dict[str, Any] = {
        "action_any_time": dice.random() < 0.5,
        "secret_bids": True,
        "sweep_double": True,
        "scoring": dice.choice(["standard", "strict"]),
        "change": dice.choice(["search", "name", "turn"]),
        "deck": {kind: dice.randint(0, 8) for kind in dice.sample(KINDS, 2)},
        "teams": dice.choice(["2+2", "2+2+2", "3+3"]),
    }
    rules |= {key: value for key, value in offered.items() if dice.random() < 0.3}
    players = dice.randint(*BOOK[preset]["players"])
    if "teams" in rules:
        players = 4 if rules["teams"] == "2+2" else 6
    cards = deck(rules)
    numbers = dice.sample(NUMBERS, dice.randint(6, 96))  # few colours and ranks make ties and empty piles
    actions = cards[96:]
    cards = numbers + actions * (dice.random() < 0.9)
    dice.shuffle(cards)
    size = max(1, min(dice.randint(1, 5), len(cards) // players))
    dealt = [cards.pop() if cards else "" for _ in range(size * players)]
    if "" in dealt:
        return any_script(dice)
    hands = [dealt[seat * size : (seat + 1) * size] for seat in range(players)]
    pile = cards[: dice.choice([0, 1, 2, 3, 6, 20, 110])]
    return {
        "rules": rules,
        "players": players,
        "dealer": dice.randrange(players),
        "hands": hands,
        "pile": pile,
    }


def agree(dice: Random) -> str:
    """Play a round at random by the second opinion and ask the referee about it; what was played."""
    script = any_script(dice)
    plain = PlainRound(**copy.deepcopy(script))
    steps, moves, early = plain.play(), [], dice.randrange(30)
    asked = next(steps, None)
    while asked is not None:
        if len(moves) == early:
            status, said = settle({**script, "moves": moves})
            assert (status, said) == (0, plain.told(asked)), {**script, "moves": moves}
            wrong = dice.choice([each for each in ANYTHING if not allowed(each, asked[2])])
            status, said = settle({**script, "moves": [*moves, wrong]})
            assert (status, said["error"]["move"]) == (1, early), {**script, "moves": [*moves, wrong]}
        moves.append(dice.choice(keen(asked, dice)))
        try:
            asked = steps.send(moves[-1])
        except StopIteration:
            asked = None
    status, said = settle({**script, "moves": moves})
    assert (status, said) == (0, plain.told(None)), {**script, "moves": moves}
    return str(script["rules"]["preset"])


def keen(asked: tuple[int, str, list[Any]], dice: Random) -> list[Any]:
    """The choices, or those of them with an action card."""
    acts = [each for each in asked[2] if asked[1] == "play" and each not in NUMBERS]
    return acts if acts and dice.random() < 0.6 else asked[2]


def allowed(choice: Any, legal: list[Any]) -> bool:
    """Whether it is among them; `True` is no 1."""
    return any(type(each) is type(choice) and each == choice for each in legal)


@settings(max_examples=150)
@given(st.integers(0, 2**40))
def test_both_say_the_same_of_any_round(number):
    agree(Random(number))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_both_say_the_same_of_very_many_rounds(part):
    played = {agree(Random(part * 10_000 + number)) for number in range(2_000)}
    assert played == set(BOOK)
