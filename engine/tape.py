"""The tape of a round: what happened, entry by entry, for those who tell it.

Entries are (kind, seat, move) for decisions, and beside them (TOOK, winner, trump), (TURNED, colour, face
or -1) and (FINED, seat, 0). Play itself keeps bids and tricks only, and notes of the rest, each with the
number of cards played before it; the tape is made of these when somebody asks, each entry once.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from engine.cards import BID, PLAY

if TYPE_CHECKING:
    from engine.round import Round

Entry = tuple[int, int, int]

TOOK: Final = 10
TURNED: Final = 11
FINED: Final = 12


class Tape:
    """Follows one round. `entries` is up to date after `follow`."""

    def __init__(self, played: "Round") -> None:
        self.entries: list[Entry] = [(TURNED, played.first_trump, played.first_face)]
        self._first: int = (played.dealer + 1) % played.players
        self._bids: int = 0
        self._plays: int = 0
        self._tricks: int = 0
        self._notes: int = 0

    def follow(self, played: "Round") -> None:
        """Take in what has happened in the round since the last time."""
        if self._bids < played.players:
            self._follow_bids(played)
        while self._tricks < len(played.tricks):
            leader, cards, trump, winner = played.tricks[self._tricks]
            self._follow_trick(played, leader, cards)
            self.entries.append((TOOK, winner, trump))
            self._tricks += 1
        if played.trick or self._notes < len(played.notes):
            self._follow_trick(played, played.leader, played.trick)

    def _follow_bids(self, played: "Round") -> None:
        while self._bids < played.players:
            seat = (self._first + self._bids) % played.players
            if played.bids[seat] < 0:
                return
            self.entries.append((BID, seat, played.bids[seat]))
            self._bids += 1

    def _follow_trick(self, played: "Round", leader: int, cards: Sequence[int]) -> None:
        """The cards of a trick, each with the notes made after it."""
        before = self._tricks * played.players
        self._follow_notes(played)
        while self._plays < before + len(cards):
            turn = self._plays - before
            self.entries.append((PLAY, (leader + turn) % played.players, cards[turn]))
            self._plays += 1
            self._follow_notes(played)

    def _follow_notes(self, played: "Round") -> None:
        notes = played.notes
        while self._notes < len(notes) and notes[self._notes][0] <= self._plays:
            self.entries.append(notes[self._notes][1])
            self._notes += 1
