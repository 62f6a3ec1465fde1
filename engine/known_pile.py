"""What one seat knows of the order of the pile: top and bottom. Between them lies what nobody showed it.

It is told every card that is played, and the face where it looks. A card that lay open while it did not look
keeps its place as `UNKNOWN`, so that those it knows are sent where the rules send them.
"""

from typing import Final

from engine.cards import CHANGE, FIRST_WILD, OUT, RANKS
from engine.law import Law
from engine.switches import Change

UNKNOWN: Final = -1


class KnownPile:
    """The known cards of one round's pile, from its beginning."""

    def __init__(self, law: Law) -> None:
        self._law: Final = law
        self._change: Final = law.rules.change
        self.top: list[int] = [UNKNOWN]
        self.bottom: list[int] = []
        self.whole = False
        """Whether nothing lies between."""
        self.went_round = False
        """Whether it was turned from number card to number card until the first came again."""
        self._open = True
        self._turn_due = False
        self._missed = False
        """Whether a card lay open that this seat never saw."""
        self._passed_over = range(0)
        """Cards that the last turn went by though they are numbers."""

    def play(self, card: int) -> None:
        """A card was played, and its effect is over."""
        if card == OUT:
            self._bury()
            self._turn_due = self._law.out_ends
        elif card == CHANGE:
            self._turn_due = False
            if self._change is Change.TURN:
                self._turn(passing_over=self._law.rules.turn_passes_over)
            elif self._change is Change.SEARCH:
                self.top.insert(0, UNKNOWN)
                self._open = True

    def end_trick(self) -> None:
        """A trick is full."""
        if self._turn_due:
            self._turn_due = False
            self._turn()

    def look(self, cards: list[int]) -> None:
        """The seat looks through the whole pile."""
        self.top, self.bottom, self.whole = cards[:], [], True

    def show(self, face: int) -> None:
        """What lies open now, or -1: nothing does."""
        if face < 0:
            if self._open:  # there was no number card to turn or to search for
                del self.top[0]
            self._open = False
        elif self.top[:1] != [face]:
            if self._change is Change.SEARCH:
                self._lay(face)
            else:
                self._go_round(face)
            self._open = True

    def _bury(self) -> None:
        if self._open:
            self._missed = self._missed or self.top[0] == UNKNOWN
            self.bottom.append(self.top.pop(0))
            self._open = False

    def _turn(self, *, passing_over: bool = False) -> None:
        self._passed_over = _like(self.top[0]) if passing_over and self._open else range(0)
        self._bury()
        if self.whole:
            cards = self.top + self.bottom
            at = next(at for at, card in enumerate(cards) if card < FIRST_WILD)
            self.top, self.bottom = cards[at:] + cards[:at], []
        self.top = self.top or [UNKNOWN]
        self._open = True

    def _lay(self, face: int) -> None:
        """A card was searched out, wherever it lay, or one was turned up."""
        if self.top[:1] == [UNKNOWN]:
            del self.top[0]
        for cards in (self.top, self.bottom):
            if face in cards:
                cards.remove(face)
        self.top.insert(0, face)

    def _go_round(self, face: int) -> None:
        """The pile was turned, card by card, until this one showed."""
        if face in self.bottom:
            self.went_round = not (self._missed or self._law.rules.turn_passes_over)
            at = self.bottom.index(face)
            self.top, self.bottom = self.bottom[at:] + self.top, self.bottom[:at]
        elif face in self.top:
            at = self.top.index(face)
            self.top, self.bottom = self.top[at:], self.bottom + self.top[:at]
        else:
            while self.top and self.top[0] in self._passed_over:
                self.bottom.append(self.top.pop(0))
            self.top[:1] = [face, *(card for card in self.top[:1] if card != UNKNOWN)]


def _like(card: int) -> range:
    """All number cards of its colour; none of a card that is not known."""
    return range(card - card % RANKS, card - card % RANKS + RANKS) if card != UNKNOWN else range(0)
