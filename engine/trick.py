"""One trick: the lead colour, what a hand may play, who wins. Pure functions and the tables behind them."""

from collections.abc import Sequence
from typing import Final

from engine.cards import (
    ALPHABET,
    BONUS,
    COLOUR,
    FIRST_RANKED_WILD,
    FIRST_WILD,
    NO_COLOUR,
    RANK,
    WILD,
    WILD_RANK,
)
from engine.switches import WildRank

_PLAIN, _TRUMPED = 1, 2 + WILD_RANK


def _strength(trump: int, lead: int) -> bytes:
    def power(move: int) -> int:
        if move >= ALPHABET or COLOUR[move] == NO_COLOUR:
            return 0
        if COLOUR[move] == trump:
            return _TRUMPED + RANK[move]
        return _PLAIN + RANK[move] if COLOUR[move] == lead else 0

    return bytes(power(move) for move in range(256))


STRENGTH: Final = [[_strength(trump, lead) for lead in range(7)] for trump in range(7)]
"""STRENGTH[trump][lead][move]: the greater takes the trick; 0 cannot win. Made for `translate`."""

POWER: Final = [[list(row) for row in rows] for rows in STRENGTH]
"""The same, made to look up one move."""


def lead_colour(cards: Sequence[int]) -> int:
    """The colour of the first card that has one; 6 while there is none."""
    return next((COLOUR[card] for card in cards if COLOUR[card] != NO_COLOUR), NO_COLOUR)


def best_card(cards: Sequence[int], trump: int, lead: int, *, last_wild: bool = False) -> int:
    """The index of the card that takes the trick.

    Of equal cards the first is higher, and only colourless cards are all equal to each other; with
    `last_wild` the last of equal Wilds is higher.
    """
    power, best, turn = POWER[trump][lead], 0, 0
    for at, card in enumerate(cards):
        if power[card] > best or (last_wild and power[card] == best > 0):
            best, turn = power[card], at
    return turn


def wild_calls(rank: WildRank) -> tuple[int, ...]:
    """Every way to call a Wild."""
    if rank is WildRank.NAMED:
        return tuple(range(FIRST_RANKED_WILD, WILD))
    return tuple(range(FIRST_WILD, FIRST_RANKED_WILD))


class ActionMoves(dict[tuple[int, ...], list[int]]):
    """The moves that a hand's action cards allow, computed once for each set of cards; never changed."""

    def __init__(self, calls: Sequence[int]) -> None:
        super().__init__()
        self.calls = list(calls)

    def __missing__(self, cards: tuple[int, ...]) -> list[int]:
        calls = self.calls if WILD in cards else []
        moves = calls + [card for card in range(BONUS, BONUS + 4) if card in cards]
        self[cards] = moves
        return moves
