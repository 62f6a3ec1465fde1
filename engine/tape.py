"""The tape of a round: what happened, entry by entry, for those who tell it.

Entries are (kind, seat, move) for decisions, and beside them (TOOK, winner, trump), (TURNED, colour, face
or -1) and (FINED, seat, 0). Play itself keeps bids and tricks only, and notes of the rest, each with the
number of cards played before it; the tape is made of these when somebody asks, each entry once. Beside each
entry lies what seats are told of it (see `events`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from engine.cards import BID, NOTATION, PLAY, colour_text

if TYPE_CHECKING:
    from engine.round import Round

Entry = tuple[int, int, int]
Event = dict[str, Any]

TOOK: Final = 10
TURNED: Final = 11
FINED: Final = 12


class _Told(dict[Entry, "Event | None"]):
    """What seats are told of an entry, made once for all matches. None: that depends on what they knew."""

    def __missing__(self, entry: Entry) -> "Event | None":
        kind, who, what = entry
        told: Event | None = None
        if kind == PLAY:
            told = {"play": [who, NOTATION[what]]}
        elif kind == TOOK:
            told = {"took": [who, colour_text(what)]}
        elif kind == BID:
            told = {"bid": [who, what]}
        self[entry] = told
        return told


_TOLD: Final = _Told()


class Tape:
    """Follows one round. Up to date after `follow` are `entries`, `news` of each beside it, the places and
    entries of the `turns` of the trump, the place of the last `fine` (0: none), and that of the last note."""

    __slots__ = ("_bids", "_laid", "_notes", "_order", "_tricks", "entries", "fine", "news", "noted", "turns")

    def __init__(self, played: "Round") -> None:
        self.entries: list[Entry] = []
        self.news: list[Event | None] = []
        self.turns: list[tuple[int, Entry]] = []
        self.fine: int = 0
        self.noted: int = 0
        self._order: tuple[int, ...] = played.law.orders[played.law.left[played.dealer]]
        self._bids: int = 0
        self._tricks: int = 0
        self._laid: int = 0
        self._notes: int = 0
        self._note((TURNED, played.first_trump, played.first_face))

    def follow(self, played: "Round") -> None:
        """Take in what has happened in the round since the last time."""
        if self._bids < played.players:
            self._follow_bids(played)
        tricks = played.tricks
        while self._tricks < len(tricks):
            leader, cards, trump, winner = tricks[self._tricks]
            self._follow_trick(played, leader, cards)
            self._write((TOOK, winner, trump))
            self._tricks += 1
            self._laid = 0
        if self._notes < len(played.notes):
            self._follow_trick(played, played.leader, played.trick)
        elif self._laid < len(played.trick):
            self._lay(played, played.leader, played.trick)

    def _follow_bids(self, played: "Round") -> None:
        for seat in self._order[self._bids :]:
            if played.bids[seat] < 0:
                return
            self._write((BID, seat, played.bids[seat]))
            self._bids += 1

    def _follow_trick(self, played: "Round", leader: int, cards: Sequence[int]) -> None:
        """The cards of a trick, each with the notes made after it."""
        notes, before = played.notes, self._tricks * played.players
        while self._notes < len(notes) and notes[self._notes][0] <= before + len(cards):
            place, entry = notes[self._notes]
            self._lay(played, leader, cards[: place - before])
            self._note(entry)
            self._notes += 1
        self._lay(played, leader, cards)

    def _lay(self, played: "Round", leader: int, cards: Sequence[int]) -> None:
        """The cards that are not written yet."""
        order = played.law.orders[leader]
        for turn in range(self._laid, len(cards)):
            entry = (PLAY, order[turn], cards[turn])
            self.entries.append(entry)
            self.news.append(_TOLD[entry])
        self._laid = len(cards)

    def _note(self, entry: Entry) -> None:
        self.noted = len(self.entries)
        if entry[0] == TURNED:
            self.turns.append((len(self.entries), entry))
        elif entry[0] == FINED:
            self.fine = len(self.entries)
        self._write(entry)

    def _write(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.news.append(_TOLD[entry])
