"""The tape of a round: all that happened, in order, each entry with what seats are told of it (see `events`).

A round appends to its tape and never looks back; who tells of it reads on from where they were. Entries are
shared by all rounds, so that to write one is to append an object that is there already.
"""

from functools import cache
from typing import Any, Final, NamedTuple

from engine.cards import BID, FIRST_COLOUR, NOTATION, PLAY, colour_text

Event = dict[str, Any]

TOOK: Final = 10
TURNED: Final = 11
FINED: Final = 12


class Entry(NamedTuple):
    """What happened: a decision (its kind, the seat, the move), or beside them (TOOK, winner, trump),
    (TURNED, trump, face or -1) and (FINED, seat, 0). `told` is None where it depends on what is known."""

    kind: int
    who: int
    what: int
    told: Event | None


@cache
def entry(kind: int, who: int, what: int) -> Entry:
    """The one entry that says this."""
    told: Event | None = None
    if kind == PLAY:
        told = {"play": [who, NOTATION[what]]}
    elif kind == TOOK:
        told = {"took": [who, colour_text(what)]}
    elif kind == BID:
        told = {"bid": [who, what]}
    return Entry(kind, who, what, told)


@cache
def plays(seat: int) -> list[Entry]:
    """By card as called, the entry of a seat's playing it."""
    return [entry(PLAY, seat, move) for move in range(FIRST_COLOUR)]
