"""The trump pile: which colour is trump, and what lies face up on the undealt cards."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from engine.cards import COLOUR, FIRST_WILD, NO_COLOUR
from engine.switches import Turned


class Pile:
    """Undealt cards, top first; the top one lies face up if `shown`. `colour` is trump (6: none).

    Part of the hot core and therefore mutable; a round owns its pile.
    """

    def __init__(self, cards: list[int], shown: bool, colour: int) -> None:
        self.cards: list[int] = cards
        self.shown: bool = shown
        self.colour: int = colour

    @classmethod
    def opened(cls, cards: Sequence[int], turned: Turned) -> "Pile":
        """The pile once a number card shows; action cards met on the way go where `turned` says."""
        for index, card in enumerate(cards):
            if card < FIRST_WILD:
                rest = _ASIDE[turned](list(cards[:index]), list(cards[index + 1 :]))
                return cls([card, *rest], True, COLOUR[card])
        return cls(_ASIDE[turned](list(cards), []), False, NO_COLOUR)

    def clone(self) -> "Pile":
        """A copy that can be played on."""
        return Pile(self.cards[:], self.shown, self.colour)

    @property
    def face(self) -> int | None:
        """The card that lies face up, if any."""
        return self.cards[0] if self.shown else None

    def colours(self) -> list[int]:
        """What a search may choose: the colours of the pile's number cards, but never the trump."""
        return sorted({COLOUR[card] for card in self.cards} - {NO_COLOUR, self.colour})

    def cancel(self) -> None:
        """No trump; the card that showed it goes to the bottom."""
        self._bury()
        self.colour = NO_COLOUR

    def search(self, colour: int) -> None:
        """Lay the highest card of a colour on top; what showed before stays beneath it."""
        best = max(card for card in self.cards if COLOUR[card] == colour)
        self.cards.remove(best)
        self.cards.insert(0, best)
        self.shown, self.colour = True, colour

    def turn(self, avoid: int = NO_COLOUR) -> None:
        """Send what shows to the bottom and turn cards until a number card shows, not of colour `avoid`.

        With nothing but `avoid` in the pile nothing happens; without any number card there is no trump.
        """
        if avoid != NO_COLOUR and not any(COLOUR[card] not in (avoid, NO_COLOUR) for card in self.cards):
            return
        self._bury()
        self.colour = NO_COLOUR
        for index, card in enumerate(self.cards):
            if COLOUR[card] not in (avoid, NO_COLOUR):
                self.cards = self.cards[index:] + self.cards[:index]
                self.shown, self.colour = True, COLOUR[card]
                return

    def _bury(self) -> None:
        if self.shown:
            self.cards.append(self.cards.pop(0))
            self.shown = False


_ASIDE: Final[Mapping[Turned, Callable[[list[int], list[int]], list[int]]]] = {
    Turned.STAYS: lambda passed, rest: passed + rest,
    Turned.LEAVES: lambda passed, rest: rest,
    Turned.BOTTOM: lambda passed, rest: rest + passed,
}
