"""The tape of a round: the events of which all seats are told, in order (see `events`).

A round appends to its tape and never looks back; who tells of it reads on from where they were. Events are
shared by all rounds, so that to write one is to append an object that is there already. What else happens, an
`Aside`, is rare and told in other words.
"""

from functools import cache
from typing import Any, Final

from engine.cards import FIRST_COLOUR, NO_COLOUR, NOTATION, colour_text

Event = dict[str, Any]

Aside = tuple[int, int, int]
"""TRUMP and CHALLENGE (decisions), TURNED or FINED; how many cards had been played; the move, else 0."""

TURNED: Final = 11
FINED: Final = 12


@cache
def bids(seat: int, count: int) -> list[Event]:
    """A seat's bids, from 0 on."""
    return [{"bid": [seat, bid]} for bid in range(count)]


@cache
def plays(seat: int) -> list[Event]:
    """What a seat may play, by the move."""
    return [{"play": [seat, NOTATION[move]]} for move in range(FIRST_COLOUR)]


@cache
def takes(seat: int) -> list[Event]:
    """A seat takes a trick, by the trump that judged it."""
    return [{"took": [seat, colour_text(colour)]} for colour in range(1 + NO_COLOUR)]
