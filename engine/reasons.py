"""Why a move is not legal, in words: what was due, or which rule is in the way."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from engine.cards import (
    BID,
    CARD,
    CHALLENGE,
    COLOUR_NAMES,
    FIRST_COLOUR,
    FIRST_WILD,
    NO_COLOUR,
    PLAY,
    TRUMP,
    WILD,
)

if TYPE_CHECKING:
    from engine.round import Round

MOVES: Final = range(len(CARD))


def _wrong_bid(game: "Round", move: int | None) -> str:
    return f"a bid is due: a whole number from 0 to {game.hand_size}"


def _wrong_play(game: "Round", move: int | None) -> str:
    if move is None or move not in MOVES or CARD[move] not in game.held(game.seat):
        return "a card of the hand is due"
    suited = game.lead != NO_COLOUR and game.law.forced and game.hands[game.seat][game.lead]
    if suited and (CARD[move] < FIRST_WILD or not game.law.any_time):
        return f"must follow {COLOUR_NAMES[game.lead]}"
    if CARD[move] == WILD and not game.wilds_allowed:
        return "this trick holds a Wild already"
    return "a Wild must be called as one of the legal choices"


def _wrong_colour(game: "Round", move: int | None) -> str:
    names = [COLOUR_NAMES[choice - FIRST_COLOUR] for choice in game.choices]
    return "a colour is due: " + ", ".join(names)


def _wrong_answer(game: "Round", move: int | None) -> str:
    return "an answer is due: true to challenge, or false"


REASONS: Final[Mapping[int, Callable[["Round", int | None], str]]] = {
    BID: _wrong_bid,
    PLAY: _wrong_play,
    TRUMP: _wrong_colour,
    CHALLENGE: _wrong_answer,
}
