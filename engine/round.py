"""One round of Rage: whose turn it is, what is legal, what a move does.

This is the hot core and deliberately one mutable object of small ints (see `cards` for the numbers).
A hand is eight lists: number cards of the six colours, one that stays empty (the colour "none yet"),
and the action cards. `apply` trusts its caller: membership in `legal()` is the check, and `refusal` says
in words why a move is not in it.
"""

from collections.abc import Sequence

from engine.actions import CHOSEN, EFFECTS
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
from engine.trick import STRENGTH

Hand = list[list[int]]
Trick = tuple[int, tuple[int, ...], int, int]
"""A finished trick: leader, cards in the order played, the trump that judged it, winner."""

ACTIONS = 7
PENALTY = -10

TOOK, TURNED, FINED = 10, 11, 12
"""On a tape beside the decisions: (TOOK, winner, trump), (TURNED, colour, face or -1), (FINED, seat, 0)."""


def sorted_hand(cards: Sequence[int]) -> Hand:
    """A hand as eight lists, each in the order of `cards`."""
    hand: Hand = [[], [], [], [], [], [], [], []]
    for card in sorted(cards):
        hand[COLOUR[card] if card < FIRST_WILD else ACTIONS].append(card)
    return hand


class Round:
    """A round in play. Read its attributes freely; change it only through `apply`."""

    def __init__(self, law: Law, dealer: int, hands: list[Hand], pile: Pile) -> None:
        self.law: Law = law
        self.players: int = law.players
        self.dealer: int = dealer
        self.hands: list[Hand] = hands
        self.hand_size: int = sum(map(len, hands[0]))
        self.pile: Pile = pile
        self.first_trump: int = pile.colour
        self.kind: int = BID
        self.leader: int = (dealer + 1) % law.players
        self.seat: int = self.leader
        self.lead: int = NO_COLOUR
        self.trick: list[int] = []
        self.actions = law.actions
        self.stake: int = 0
        self.turn_due: bool = False
        self.choices: list[int] = []
        self.bids: list[int] = [-1] * law.players
        self.taken: list[int] = [0] * law.players
        self.stakes: list[int] = [0] * law.players
        self.penalties: list[int] = [0] * law.players
        self.tricks: list[Trick] = []
        self.tape: list[tuple[int, int, int]] = []

    @classmethod
    def dealt(cls, law: Law, dealer: int, hands: Sequence[Sequence[int]], pile: Sequence[int]) -> "Round":
        """A round about to begin: `pile` top first, its trump card not turned yet."""
        played = cls(law, dealer, [sorted_hand(hand) for hand in hands], Pile.opened(pile, law.rules.turned))
        played.trump_turned()
        return played

    def clone(self) -> "Round":
        """A copy that can be played on without touching this one."""
        twin = Round(
            self.law, self.dealer, [[cards[:] for cards in hand] for hand in self.hands], self.pile.clone()
        )
        twin.hand_size, twin.first_trump, twin.kind = self.hand_size, self.first_trump, self.kind
        twin.leader, twin.seat, twin.lead, twin.trick = self.leader, self.seat, self.lead, self.trick[:]
        twin.actions, twin.stake, twin.turn_due, twin.choices = (
            self.actions,
            self.stake,
            self.turn_due,
            self.choices,
        )
        twin.bids, twin.taken = self.bids[:], self.taken[:]
        twin.stakes, twin.penalties = self.stakes[:], self.penalties[:]
        twin.tricks, twin.tape = self.tricks[:], self.tape[:]
        return twin

    def legal(self) -> list[int]:
        """The choices of `seat`, in their fixed order. Read-only, and good until the next `apply`."""
        if self.kind != PLAY:
            return self._other_choices()
        hand = self.hands[self.seat]
        cards = hand[self.lead]
        if not (cards and self.law.forced):
            cards = hand[0] + hand[1] + hand[2] + hand[3] + hand[4] + hand[5]
        elif not self.law.any_time:
            return cards
        if hand[ACTIONS]:
            cards = cards + self.actions[tuple(hand[ACTIONS])]
        return cards or [WILD]

    def apply(self, move: int) -> None:
        """Play one legal move of `seat`."""
        self.tape.append((self.kind, self.seat, move))
        if self.kind == PLAY:
            self._play(move)
        elif self.kind == BID:
            self._bid(move)
        elif self.kind == TRUMP:
            self._choose(move)
        else:
            self._answer(move)

    def scores(self) -> list[int]:
        """What the round is worth to each seat once it is over: points and penalties."""
        return [points + fine for points, fine in zip(self.points(), self.penalties, strict=True)]

    def points(self) -> list[int]:
        """The round's points by seat, penalties apart."""
        rules = self.law.rules
        return round_points(rules, self.hand_size, bids=self.bids, taken=self.taken, stakes=self.stakes)

    @property
    def moves(self) -> bytes:
        """Every decision so far, in order."""
        return bytes(move for kind, _, move in self.tape if kind < OVER)

    def held(self, seat: int) -> list[int]:
        """The cards a seat holds, in order."""
        return [card for cards in self.hands[seat] for card in cards]

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
        """Ask the player of a Change for one of these colours; nothing is asked if there is none."""
        if colours:
            self.kind, self.choices = TRUMP, [FIRST_COLOUR + colour for colour in colours]

    def trump_turned(self) -> None:
        """Note on the tape what is trump now, and the card that lies face up."""
        face = self.pile.face
        self.tape.append((TURNED, self.pile.colour, -1 if face is None else face))

    def _other_choices(self) -> list[int]:
        if self.kind == BID:
            return list(range(self.hand_size + 1))
        if self.kind == TRUMP:
            return self.choices
        return [NO, YES] if self.kind == CHALLENGE else []

    def _bid(self, bid: int) -> None:
        self.bids[self.seat] = bid
        if self.seat == self.dealer:
            self.kind = PLAY
        self.seat = (self.seat + 1) % self.players

    def _play(self, move: int) -> None:
        hand = self.hands[self.seat]
        if move < FIRST_WILD:
            hand[move >> 4].remove(move)
            self.trick.append(move)
            if self.lead == NO_COLOUR:
                self.lead = move >> 4
        else:
            hand[ACTIONS].remove(CARD[move])
            self.trick.append(move)
            if self.lead == NO_COLOUR:
                self.lead = COLOUR[move]
            EFFECTS[CARD[move]](self)
            if self.kind == TRUMP:
                return
        if self.law.forced:
            self._pass_on()
        else:
            self._watch(move)

    def _choose(self, move: int) -> None:
        CHOSEN[self.law.rules.change](self, move - FIRST_COLOUR)
        self.kind, self.turn_due = PLAY, False
        self.trump_turned()
        if self.law.forced:
            self._pass_on()
        else:
            self._watch(CHANGE)

    def _watch(self, move: int) -> None:
        """Under renege: ask the others about a card that does not follow an existing lead."""
        asked = self.lead not in (NO_COLOUR, COLOUR[move])
        if asked and not (move >= FIRST_WILD and self.law.any_time):
            self.kind, self.seat = CHALLENGE, (self.seat + 1) % self.players
        else:
            self._pass_on()

    def _answer(self, move: int) -> None:
        player = (self.leader + len(self.trick) - 1) % self.players
        if move == YES:
            self._fine(player if self.hands[player][self.lead] else self.seat)
        elif (self.seat + 1) % self.players != player:
            self.seat = (self.seat + 1) % self.players
            return
        self.kind = PLAY
        self._pass_on()

    def _fine(self, seat: int) -> None:
        for mate in self.law.mates[seat]:
            self.penalties[mate] += PENALTY
        self.tape.append((FINED, seat, 0))

    def _pass_on(self) -> None:
        """The turn after a card that is settled."""
        if len(self.trick) == self.players:
            self._take()
        else:
            self.seat = (self.leader + len(self.trick)) % self.players

    def _take(self) -> None:
        """The trick is full: who takes it leads the next."""
        trick, trump = self.trick, self.pile.colour
        power = STRENGTH[trump][self.lead]
        best = max(trick, key=power.__getitem__)
        index = trick.index(best)
        if self.law.last_wild and power[best]:
            index = self.players - 1 - trick[::-1].index(best)
        winner = (self.leader + index) % self.players
        self.taken[winner] += 1
        self.stakes[winner] += self.stake
        self.tricks.append((self.leader, tuple(trick), trump, winner))
        self.tape.append((TOOK, winner, trump))
        self._next_trick(winner)

    def _next_trick(self, leader: int) -> None:
        self.leader = self.seat = leader
        self.lead, self.trick, self.stake = NO_COLOUR, [], 0
        self.actions = self.law.actions
        if self.turn_due:
            self.turn_due = False
            self.pile.turn()
            self.trump_turned()
        if len(self.tricks) == self.hand_size:
            self.kind = OVER
