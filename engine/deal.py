"""The deal: a pure function of a seed and a round number that any language can repeat.

The bytes of SHAKE-256(seed + round as four bytes, big endian) are read one by one. With N cards in the
deck, a byte at or above the greatest multiple of N below 257 is dropped, any other names card `byte % N`
of the deck in its fixed order; a card named before is skipped. The order in which cards are first named
is the shuffled deck: every permutation is equally likely. Seat 0 gets the first `hand size` cards, seat 1
the next, and so on; what is left is the pile, top first. README.md beside this file has test vectors.

Most of a deal's cost is the long wait for the last cards to be named, so only as much of the stream is read
as the hands need. The rest of the pile's order is worked out when somebody looks (see `Deal`).
"""

from functools import lru_cache
from hashlib import shake_256
from typing import Final

from engine.cards import FIRST_WILD
from engine.rules import RuleSet
from engine.switches import Deck

SEED_BYTES: Final = 32
_WHOLE: Final = 1024  # bytes that name most decks; SHAKE's longer outputs begin with its shorter ones
_NUMBERS: Final = bytes(range(FIRST_WILD))
_PEEK: Final = 3  # cards of the pile worth knowing at once: one of them is nearly always a number card


class Shuffler:
    """Shuffles one deck, card by card, as far as it is asked to.

    A shuffle is a list of places in the deck's fixed order; `cards` tells which card has which place. Of a
    number card the place is its own number, and places sort like cards.
    """

    def __init__(self, deck: Deck) -> None:
        self.size: int = deck.size
        self.cards: tuple[int, ...] = deck.cards()
        self._remainder: bytes = bytes(byte % self.size for byte in range(256))
        self._dropped: bytes = bytes(range(256 // self.size * self.size, 256))
        self._lengths: list[int] = [self._length(count) for count in range(self.size + 1)]

    def first(self, seed: bytes, number: int, count: int) -> list[int]:
        """The first cards of the deck shuffled for round `number` (from 1): `count` of them or more."""
        source, length = seed + number.to_bytes(4, "big"), self._lengths[count]
        while True:
            stream = shake_256(source).digest(length)
            order = list(dict.fromkeys(stream.translate(self._remainder, self._dropped)))
            if len(order) >= count:
                return order
            length *= 2

    def deal(self, seed: bytes, number: int, size: int, players: int) -> "Deal":
        """Hands of `size` cards for round `number`, and what is left."""
        wanted = size * players + _PEEK
        order = self.first(seed, number, wanted if wanted < self.size else self.size)
        return Deal(self, order, size, players, (seed, number))

    def _length(self, count: int) -> int:
        """Bytes of the stream that probably name so many cards; a matter of speed only."""
        draws = sum(self.size / (self.size - named) for named in range(count))
        kept = 1 - len(self._dropped) / 256
        return min(_WHOLE, 6 + int(1.1 * draws / kept))


class Deal:
    """Who holds what when a round begins, nothing turned yet. The order of the pile is found when needed.

    `order` is as much of the shuffle as is known, in places of the `shuffler`, which knows the rest from seed
    and round (`source`); its first `dealt` cards are in hands of `size`.
    """

    __slots__ = ("_numbers", "_source", "dealt", "order", "shuffler", "size")

    def __init__(
        self,
        shuffler: Shuffler,
        order: list[int],
        size: int,
        players: int,
        source: tuple[bytes, int] | None = None,
    ) -> None:
        self.shuffler: Shuffler = shuffler
        self.order: list[int] = order
        self.size: int = size
        self.dealt: int = size * players
        self._source: tuple[bytes, int] | None = source
        self._numbers: bytes | None = None

    @property
    def held(self) -> list[int]:
        """All cards that are in hands, in the order in which they were dealt."""
        return [self.shuffler.cards[place] for place in self.order[: self.dealt]]

    @property
    def hands(self) -> list[list[int]]:
        """The cards of each seat, as dealt."""
        held = self.held
        return [held[at : at + self.size] for at in range(0, self.dealt, self.size)]

    @property
    def pile(self) -> list[int]:
        """The undealt cards, top first."""
        if self._source is not None:
            self.order = self.shuffler.first(*self._source, self.shuffler.size)
            self._source = None
        return [self.shuffler.cards[place] for place in self.order[self.dealt :]]

    @property
    def numbers(self) -> bytes:
        """The pile's number cards, sorted. This needs no order."""
        if self._numbers is None:
            self._numbers = numbers_but(self.order[: self.dealt])
        return self._numbers


def numbers_but(gone: list[int]) -> bytes:
    """The number cards that are not gone, sorted."""
    return _NUMBERS.translate(None, bytes(gone))


@lru_cache(maxsize=64)
def shuffler(deck: Deck) -> Shuffler:
    """The shuffler of a deck."""
    return Shuffler(deck)


def shuffle(seed: bytes, number: int, deck: Deck) -> bytes:
    """The whole deck, shuffled for round `number` (from 1)."""
    cards = shuffler(deck).cards
    return bytes(cards[each] for each in shuffler(deck).first(seed, number, deck.size))


def deal(seed: bytes, number: int, rules: RuleSet, players: int) -> Deal:
    """The deal of round `number` (from 1) of a match with this seed."""
    return shuffler(rules.deck).deal(seed, number, rules.hand_size(number, players), players)
