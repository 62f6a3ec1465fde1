"""The deal: a pure function of a seed and a round number that any language can repeat.

The bytes of SHAKE-256(seed + round as four bytes, big endian) are read one by one. With N cards in the
deck, a byte at or above the greatest multiple of N below 257 is dropped, any other names card `byte % N`
of the deck in its fixed order; a card named before is skipped. The order in which cards are first named
is the shuffled deck: every permutation is equally likely. Seat 0 gets the first `hand size` cards, seat 1
the next, and so on; what is left is the pile, top first. README.md beside this file has test vectors.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.rules import RuleSet
from engine.switches import Deck

SEED_BYTES: Final = 32
_READ_AT_ONCE: Final = 1024  # enough for most deals; SHAKE's longer outputs begin with its shorter ones


@dataclass(frozen=True, slots=True)
class Deal:
    """Who holds what when a round begins; `pile` top first, nothing turned yet."""

    hands: tuple[bytes, ...]
    pile: bytes


@dataclass(frozen=True, slots=True)
class _Reader:
    size: int
    cards: bytes
    remainder: bytes
    dropped: bytes


@lru_cache(maxsize=64)
def _reader(deck: Deck) -> _Reader:
    size = deck.size
    return _Reader(
        size=size,
        cards=bytes(deck.cards()).ljust(256, b"\0"),
        remainder=bytes(byte % size for byte in range(256)),
        dropped=bytes(range(256 // size * size, 256)),
    )


def shuffle(seed: bytes, number: int, deck: Deck) -> bytes:
    """The whole deck, shuffled for round `number` (from 1)."""
    reader, source, length = _reader(deck), seed + number.to_bytes(4, "big"), _READ_AT_ONCE
    while True:
        stream = hashlib.shake_256(source).digest(length)
        order = dict.fromkeys(stream.translate(reader.remainder, reader.dropped))
        if len(order) == reader.size:
            return bytes(order).translate(reader.cards)
        length *= 2


def deal(seed: bytes, number: int, rules: RuleSet, players: int) -> Deal:
    """The deal of round `number` (from 1) of a match with this seed."""
    size = rules.hand_size(number, players)
    deck = shuffle(seed, number, rules.deck)
    hands = tuple(deck[seat * size : (seat + 1) * size] for seat in range(players))
    return Deal(hands, deck[players * size :])
