"""One table: what an action card does at the moment it is played."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from engine.cards import BONUS, CHANGE, MAD, NO_COLOUR, OUT, WILD
from engine.pile import COLOURS_BUT
from engine.switches import Change

if TYPE_CHECKING:
    from engine.round import Round

CARD_POINTS: Final = 5


def _bonus(game: "Round") -> None:
    game.stake += CARD_POINTS


def _mad(game: "Round") -> None:
    game.stake -= CARD_POINTS


def _out(game: "Round") -> None:
    game.pile.cancel()
    game.turn_due = game.law.out_ends
    game.trump_turned()


def _search(game: "Round") -> None:
    game.await_colour(game.pile.choices())


def _name(game: "Round") -> None:
    game.await_colour(COLOURS_BUT[game.pile.colour])


def _turn(game: "Round") -> None:
    game.pile.turn(game.pile.colour if game.law.rules.turn_passes_over else NO_COLOUR)
    game.turn_due = False
    game.trump_turned()


def _wild(game: "Round") -> None:
    game.wilds_allowed = game.law.wilds_together


CHANGES: Final[Mapping[Change, Callable[["Round"], None]]] = {
    Change.SEARCH: _search,
    Change.NAME: _name,
    Change.TURN: _turn,
}


def effects(change: Change) -> dict[int, Callable[["Round"], None]]:
    """What each card does where a Change finds the trump in this way."""
    return {WILD: _wild, BONUS: _bonus, MAD: _mad, CHANGE: CHANGES[change], OUT: _out}


def _searched(game: "Round", colour: int) -> None:
    game.pile.search(colour)


def _named(game: "Round", colour: int) -> None:
    game.pile.colour = colour


CHOSEN: Final[Mapping[Change, Callable[["Round", int], None]]] = {
    Change.SEARCH: _searched,
    Change.NAME: _named,
}
"""What the colour does that a Change asked for."""
