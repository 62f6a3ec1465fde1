"""The tape of a round: all that happened, in order, each entry with what seats are told of it (see `events`).

A round appends to its tape and never looks back; who tells of it reads on from where they were. Entries are
shared by all rounds, so that to write one is to append an object that is there already.
"""

from functools import cache
from typing import Any, Final

from engine.cards import BID, NOTATION, PLAY, colour_text

Event = dict[str, Any]

TOOK: Final = 10
TURNED: Final = 11
FINED: Final = 12


class Entry:
    """What happened: a decision (its kind, the seat, the move), or beside them (TOOK, winner, trump),
    (TURNED, trump, face or -1) and (FINED, seat, 0). `told` is None where it depends on what is known.

    Made by `entry` alone, so that the same is one object; a class for the quickest of reads.
    """

    __slots__ = ("kind", "told", "what", "who")

    def __init__(self, kind: int, who: int, what: int, told: Event | None) -> None:
        self.kind: Final[int] = kind
        self.who: Final[int] = who
        self.what: Final[int] = what
        self.told: Final[Event | None] = told

    def __reduce__(self) -> tuple[Any, ...]:
        return entry, (self.kind, self.who, self.what)


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
def entries(kind: int, who: int, count: int) -> list[Entry]:
    """The entries of a kind and a seat by what was done, from 0 on."""
    return [entry(kind, who, what) for what in range(count)]
