"""One round of Rage: whose turn it is, what is legal, what a move does.

This is the hot core and deliberately one mutable object of small ints (see `cards` for the numbers).
A hand is eight lists: number cards of the six colours, all number cards (at the colour "none"), and the
action cards. Of what happens only bids and tricks are kept, and a few `notes` of what does not
follow from these; `tape` makes a story of them. `apply` trusts its caller: membership in `legal()` is
the check, and `refusal` says in words why a move is not in it.
"""

from collections.abc import Sequence
from operator import add

from engine.actions import EFFECTS
from engine.cards import (
    BID,
    CARD,
    CHALLENGE,
    CHANGE,
    COLOUR,
    FIRST_COLOUR,
    FIRST_WILD,
    NO,
    NO_COLOUR,
    OVER,
    PLAY,
    TRUMP,
    WILD,
    YES,
)
from engine.law import Law
from engine.pile import Pile
from engine.reasons import REASONS
from engine.scoring import round_points
from engine.switches import Change
from engine.tape import FINED, TURNED, Entry, Tape
from engine.trick import STRENGTH

Hand = list[list[int]]
Trick = tuple[int, list[int], int, int]
"""A finished trick: leader, cards in the order played, the trump that judged it, winner."""

ACTIONS = 7
PENALTY = -10

_ANSWERS = [NO, YES]


def sorted_hand(cards: Sequence[int]) -> Hand:
    """A hand as eight lists, each in the order of `cards`."""
    numbers = sorted(cards)
    actions: list[int] = []
    while numbers and numbers[-1] >= FIRST_WILD:
        actions.insert(0, numbers.pop())
    hand: Hand = [[], [], [], [], [], [], numbers, actions]
    for card in numbers:
        hand[COLOUR[card]].append(card)
    return hand


class Round:
    """A round in play. Read its attributes freely; change it only through `apply`."""

    __slots__ = (
        *("law", "players", "left", "unwatched", "dealer", "hands", "hand_size", "pile", "first_trump"),
        *("first_face", "kind", "leader", "seat", "lead", "due", "trick", "actions", "acted", "stake"),
        *("turn_due", "choices", "bids", "taken", "stakes", "penalties", "tricks", "notes", "_tape"),
    )

    def __init__(self, law: Law, dealer: int, hands: list[Hand], pile: Pile, hand_size: int) -> None:
        players = law.players
        self.law: Law = law
        self.players: int = players
        self.left: list[int] = law.left
        self.unwatched: int = law.unwatched
        self.dealer: int = dealer
        self.hands: list[Hand] = hands
        self.hand_size: int = hand_size
        self.pile: Pile = pile
        self.first_trump: int = pile.colour
        self.first_face: int = pile.face
        self.kind: int = BID
        self.leader: int = law.left[dealer]
        self.seat: int = self.leader
        self.lead: int = NO_COLOUR
        self.due: int = NO_COLOUR
        self.trick: list[int] = []
        self.actions = law.actions
        self.acted: bool = False
        self.stake: int = 0
        self.turn_due: bool = False
        self.choices: list[int] = law.bids[hand_size]
        self.bids: list[int] = [-1] * players
        self.taken: list[int] = [0] * players
        self.stakes: list[int] = [0] * players
        self.penalties: list[int] = [0] * players
        self.tricks: list[Trick] = []
        self.notes: list[tuple[int, Entry]] = []
        self._tape: Tape | None = None

    @classmethod
    def dealt(cls, law: Law, dealer: int, hands: Sequence[Sequence[int]], pile: Sequence[int]) -> "Round":
        """A round about to begin: `pile` top first, its trump card not turned yet."""
        opened = Pile.opened(pile, law.rules.turned)
        return cls(law, dealer, [sorted_hand(hand) for hand in hands], opened, len(hands[0]))

    def clone(self) -> "Round":
        """A copy that can be played on without touching this one."""
        hands = [[cards[:] for cards in hand] for hand in self.hands]
        twin = Round(self.law, self.dealer, hands, self.pile.clone(), self.hand_size)
        twin.first_trump, twin.first_face, twin.kind = self.first_trump, self.first_face, self.kind
        twin.leader, twin.seat, twin.lead, twin.due = self.leader, self.seat, self.lead, self.due
        twin.trick, twin.actions, twin.acted = self.trick[:], self.actions, self.acted
        twin.stake, twin.turn_due, twin.choices = self.stake, self.turn_due, self.choices
        twin.bids, twin.taken = self.bids[:], self.taken[:]
        twin.stakes, twin.penalties = self.stakes[:], self.penalties[:]
        twin.tricks, twin.notes = self.tricks[:], self.notes[:]
        return twin

    def legal(self) -> list[int]:
        """The choices of `seat`, in their fixed order. Read-only, and good until the next `apply`."""
        if self.kind != PLAY:
            return self.choices
        hand = self.hands[self.seat]
        cards = hand[self.due] or hand[NO_COLOUR]
        actions = hand[ACTIONS]
        if not actions or (hand[self.due] and self.due != NO_COLOUR and not self.law.any_time):
            return cards
        return cards + self.actions[tuple(actions)] or [WILD]

    def apply(self, move: int) -> None:
        """Play one legal move of `seat`."""
        seat = self.seat
        if self.kind != PLAY:
            if self.kind == BID:
                self._bid(move)
            else:
                self._reply(move)
        elif move < FIRST_WILD:
            colour = COLOUR[move]
            hand = self.hands[seat]
            trick = self.trick
            hand[colour].remove(move)
            hand[NO_COLOUR].remove(move)
            trick.append(move)
            if self.lead == NO_COLOUR:
                self.lead = colour
                self.due = self.law.due[colour]
            if len(trick) < self.unwatched:
                self.seat = self.left[seat]
            elif self.unwatched:
                self._take()
            else:
                self._watch(move)
        else:
            self._act(move)

    def scores(self) -> list[int]:
        """What the round is worth to each seat once it is over: points and penalties."""
        return list(map(add, self.points(), self.penalties))

    def points(self) -> list[int]:
        """The round's points by seat, penalties apart."""
        law, bids, taken = self.law, self.bids, self.taken
        return round_points(law.rules, law.worth, self.hand_size, bids=bids, taken=taken, stakes=self.stakes)

    @property
    def moves(self) -> bytes:
        """Every decision so far, in order."""
        first, at = self.law.left[self.dealer], 0
        cards = [card for _, trick, _, _ in self.tricks for card in trick] + self.trick
        moves = [bid for bid in self.bids[first:] + self.bids[:first] if bid >= 0]
        for place, (kind, _, move) in self.notes:
            if kind < OVER:
                moves += cards[at:place]
                moves.append(move)
                at = place
        return bytes(moves + cards[at:])

    @property
    def tape(self) -> list[Entry]:
        """What happened so far, entry by entry (see `tape`)."""
        return self.followed.entries

    @property
    def followed(self) -> Tape:
        """The tape, up to date."""
        tape = self._tape
        if tape is None:
            tape = self._tape = Tape(self)
        tape.follow(self)
        return tape

    @property
    def happened(self) -> int:
        """How many entries the tape has by now; does not write it."""
        bids = self.players if self.kind != BID else self.players - self.bids.count(-1)
        return 1 + bids + len(self.tricks) * (self.players + 1) + len(self.trick) + len(self.notes)

    def held(self, seat: int) -> list[int]:
        """The cards a seat holds, in order."""
        return self.hands[seat][NO_COLOUR] + self.hands[seat][ACTIONS]

    @property
    def sees_pile(self) -> bool:
        """Whether the seat to decide looks through the pile: only while it searches for a Change."""
        return self.kind == TRUMP and self.law.rules.change is Change.SEARCH

    def refusal(self, move: int | None) -> str | None:
        """Why a move is not legal now, in words; None if it is."""
        if self.kind == OVER:
            return "the round is over"
        if move is None or move not in self.legal():
            return REASONS[self.kind](self, move)
        return None

    def await_colour(self, colours: list[int]) -> None:
        """Ask the player of a Change for one of these; nothing is asked if there is none."""
        if colours:
            self.kind, self.choices = TRUMP, colours

    def trump_turned(self) -> None:
        """Note what is trump now, and the card that lies face up."""
        self._note((TURNED, self.pile.colour, self.pile.face))

    def _note(self, entry: Entry) -> None:
        self.notes.append((len(self.tricks) * self.players + len(self.trick), entry))

    def _bid(self, bid: int) -> None:
        seat = self.seat
        self.bids[seat] = bid
        self.seat = self.left[seat]
        if seat == self.dealer:
            self.kind = PLAY

    def _reply(self, move: int) -> None:
        """The colour of a Change, or whether to challenge."""
        self._note((self.kind, self.seat, move))
        if self.kind == TRUMP:
            self._choose(move)
        else:
            self._answer(move)

    def _act(self, move: int) -> None:
        """Play an action card."""
        card = CARD[move]
        self.hands[self.seat][ACTIONS].remove(card)
        self.trick.append(move)
        self.acted = True
        colour = COLOUR[move]
        if self.lead == NO_COLOUR != colour:
            self.lead = colour
            self.due = self.law.due[colour]
        EFFECTS[card](self)
        if self.kind == PLAY:
            self._watch(move)

    def _choose(self, move: int) -> None:
        self.law.chosen(self, move - FIRST_COLOUR)
        self.kind, self.turn_due = PLAY, False
        self.trump_turned()
        self._watch(CHANGE)

    def _watch(self, move: int) -> None:
        """Under renege: ask the others about a card that does not follow an existing lead."""
        asked = not self.law.forced and self.lead not in (NO_COLOUR, COLOUR[move])
        if asked and not (move >= FIRST_WILD and self.law.any_time):
            self.kind, self.choices = CHALLENGE, _ANSWERS
            self.seat = self.left[self.seat]
        elif len(self.trick) == self.players:
            self._take()
        else:
            self.seat = (self.leader + len(self.trick)) % self.players

    def _answer(self, move: int) -> None:
        player = (self.leader + len(self.trick) - 1) % self.players
        if move == YES:
            self._fine(player if self.hands[player][self.lead] else self.seat)
        elif self.left[self.seat] != player:
            self.seat = self.left[self.seat]
            return
        self.kind = PLAY
        if len(self.trick) == self.players:
            self._take()
        else:
            self.seat = self.left[player]

    def _fine(self, seat: int) -> None:
        for mate in self.law.mates[seat]:
            self.penalties[mate] += PENALTY
        self._note((FINED, seat, 0))

    def _take(self) -> None:
        """The trick is full: who takes it leads the next."""
        trick = self.trick
        trump = self.pile.colour
        powers = bytes(trick).translate(STRENGTH[trump][self.lead])
        best = max(powers)
        turn = powers.rindex(best) if best and self.law.last_wild else powers.index(best)
        winner = (self.leader + turn) % self.players
        self.taken[winner] += 1
        self.tricks.append((self.leader, trick, trump, winner))
        self.leader = self.seat = winner
        self.lead = self.due = NO_COLOUR
        self.trick = []
        if self.acted:
            self._clear(winner)
        if len(self.tricks) == self.hand_size:
            self.kind, self.choices, self.hands = OVER, [], self.law.nothing

    def _clear(self, winner: int) -> None:
        """What action cards leave behind when their trick is over."""
        self.acted = False
        self.stakes[winner] += self.stake
        self.stake, self.actions = 0, self.law.actions
        if self.turn_due:
            self.turn_due = False
            self.pile.turn()
            self.trump_turned()
