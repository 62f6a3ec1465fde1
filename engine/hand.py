"""A hand as play needs it: nine lists of small ints.

Number cards of the six colours; all number cards, at the colour "none", so that what may follow is
`hand[lead] or hand[NO_COLOUR]`; the action cards; and all ways to call them. The last two are replaced, never
changed.
"""

from collections.abc import Sequence
from typing import Final

from engine.cards import FIRST_WILD
from engine.deal import Deal
from engine.trick import ActionMoves

Hand = list[list[int]]

ACTIONS: Final = 7
CALLS: Final = 8

_NONE: Final[list[int]] = []


def sorted_hand(cards: Sequence[int], calls: ActionMoves) -> Hand:
    """A hand of these cards, in order."""
    numbers, actions = sorted(cards), _NONE
    if numbers and numbers[-1] >= FIRST_WILD:
        actions = [card for card in numbers if card >= FIRST_WILD]
        del numbers[-len(actions) :]
    return _hand(numbers, actions, calls)


def dealt_hands(deal: Deal, calls: ActionMoves) -> list[Hand]:
    """The hands of a deal, seat by seat."""
    order, size, cards = deal.order, deal.size, deal.shuffler.cards
    hands = []
    for at in range(0, deal.dealt, size):
        numbers = order[at : at + size]
        numbers.sort()
        actions = _NONE
        if numbers[-1] >= FIRST_WILD:
            actions = [cards[numbers.pop()]]
            while numbers and numbers[-1] >= FIRST_WILD:
                actions.insert(0, cards[numbers.pop()])
        hands.append(_hand(numbers, actions, calls))
    return hands


def _hand(numbers: list[int], actions: list[int], calls: ActionMoves) -> Hand:
    hand: Hand = [[], [], [], [], [], [], numbers, actions, calls[tuple(actions)] if actions else _NONE]
    for card in numbers:
        hand[card >> 4].append(card)
    return hand


def copied(hand: Hand) -> Hand:
    """A copy to play on with."""
    red, orange, yellow, green, blue, purple, numbers, actions, calls = hand
    return [red[:], orange[:], yellow[:], green[:], blue[:], purple[:], numbers[:], actions, calls]
