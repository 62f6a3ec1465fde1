"""The trump pile: which colour is trump, and what lies face up on the undealt cards."""

from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from engine.cards import COLOUR, FIRST_COLOUR, FIRST_WILD, NO_COLOUR, RANKS
from engine.deal import Deal
from engine.switches import Turned


class Stock(Protocol):
    """Undealt cards whose order is worked out when somebody looks."""

    @property
    def pile(self) -> Sequence[int]:
        """The cards, top first."""

    @property
    def numbers(self) -> bytes:
        """Their number cards, sorted, with those that a round has laid open. This needs no order."""


class Pile:
    """Undealt cards, top first; `face` lies open on top (-1: nothing does). `colour` is trump (6: none).

    Part of the hot core and therefore mutable; a round owns its pile. It is kept in three parts: cards laid
    on top, the pile as dealt from some place on, less what a search took out of it, and cards sent to the
    bottom. The dealt order is asked for only by who must know it.
    """

    __slots__ = ("_begins", "_bottom", "_missing", "_stock", "_top", "colour", "face")

    def __init__(
        self,
        top: list[int],
        bottom: list[int],
        face: int,
        colour: int,
        stock: Stock | None = None,
        begins: int = 0,
    ) -> None:
        self.face: int = face
        self.colour: int = colour
        self._top: list[int] = top
        self._bottom: list[int] = bottom
        self._stock: Stock | None = stock
        self._begins: int = begins
        self._missing: list[int] = []

    @classmethod
    def opened(cls, cards: Sequence[int], turned: Turned) -> "Pile":
        """The pile once a number card shows; action cards met on the way go where `turned` says."""
        for index, card in enumerate(cards):
            if card < FIRST_WILD:
                above, below = ASIDE[turned](list(cards[:index]))
                return cls([card, *above, *cards[index + 1 :]], below, card, card >> 4)
        above, below = ASIDE[turned](list(cards))
        return cls(above, below, -1, NO_COLOUR)

    @classmethod
    def of(cls, deal: Deal, turned: Turned) -> "Pile":
        """The same for a deal, as far as possible without asking for the order of its pile."""
        known = deal.order[deal.dealt :]
        for at, card in enumerate(known):
            if card < FIRST_WILD:
                above, below = (
                    ASIDE[turned]([deal.shuffler.cards[each] for each in known[:at]]) if at else ([], [])
                )
                return cls([card, *above], below, card, card >> 4, deal, at + 1)
        return cls.opened(deal.pile, turned)

    def clone(self) -> "Pile":
        """A copy that can be played on."""
        twin = Pile(self._top[:], self._bottom[:], self.face, self.colour, self._stock, self._begins)
        if self._missing:
            twin._missing = self._missing[:]
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        """With the order of its cards, which is asked for now."""
        return Pile, (self.cards[:], [], self.face, self.colour)

    @property
    def cards(self) -> list[int]:
        """All cards, top first."""
        self._join()
        return self._top

    @cards.setter
    def cards(self, cards: list[int]) -> None:
        self._top, self._bottom, self._stock = cards, [], None

    @property
    def shown(self) -> bool:
        """Whether the top card lies face up."""
        return self.face >= 0

    def choices(self) -> list[int]:
        """What a search may choose, as moves: the colours of the pile's number cards, but never the trump."""
        there = self._numbers().translate(_AS_CHOICES)
        return [move for move in COLOURS_BUT[self.colour] if move in there]

    def cancel(self) -> None:
        """No trump; the card that showed it goes to the bottom."""
        self._bury()
        self.colour = NO_COLOUR

    def search(self, colour: int) -> None:
        """Lay the highest card of a colour on top; what showed before stays beneath it."""
        numbers = self._numbers()
        best = numbers[bisect(numbers, RANKS * colour + RANKS - 1) - 1]
        if best in self._top:
            self._top.remove(best)
        elif best in self._bottom:
            self._bottom.remove(best)
        else:
            self._missing.append(best)
        self._top.insert(0, best)
        self.face, self.colour = best, colour

    def turn(self, avoid: int = NO_COLOUR) -> None:
        """Send what shows to the bottom and turn cards until a number card shows, not of colour `avoid`.

        With nothing but `avoid` in the pile nothing happens; without any number card there is no trump.
        """
        if avoid != NO_COLOUR and not any(COLOUR[card] not in (avoid, NO_COLOUR) for card in self.cards):
            return
        self.cancel()
        cards = self.cards
        for index, card in enumerate(cards):
            if COLOUR[card] not in (avoid, NO_COLOUR):
                self._top = cards[index:] + cards[:index]
                self.face, self.colour = card, COLOUR[card]
                return

    def _bury(self) -> None:
        if self.face >= 0:
            self._bottom.append(self._top.pop(0))
            self.face = -1

    def _numbers(self) -> bytes:
        """All number cards, sorted; they never leave the pile."""
        if self._stock is not None:
            return self._stock.numbers
        return bytes(sorted([card for card in self.cards if card < FIRST_WILD]))

    def _join(self) -> None:
        """All three parts in one."""
        if self._stock is not None:
            rest = self._stock.pile[self._begins :]
            self._top += [card for card in rest if card not in self._missing]
            self._stock, self._missing = None, []
        if self._bottom:
            self._top, self._bottom = self._top + self._bottom, []


COLOURS_BUT: Final = [
    [FIRST_COLOUR + colour for colour in range(NO_COLOUR) if colour != left] for left in range(NO_COLOUR + 1)
]
"""All colours but one, as answers to a Change."""

_AS_CHOICES: Final = bytes(FIRST_COLOUR + card // RANKS if card < FIRST_WILD else 0 for card in range(256))

ASIDE: Final[Mapping[Turned, Callable[[list[int]], tuple[list[int], list[int]]]]] = {
    Turned.STAYS: lambda passed: (passed, []),
    Turned.LEAVES: lambda passed: ([], []),
    Turned.BOTTOM: lambda passed: ([], passed),
}
"""What lies above and below the pile of the action cards that were turned before its first number card."""
