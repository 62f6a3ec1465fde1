"""One round of Rage: whose turn it is, what is legal, what came of the moves so far.

A round is one mutable object of small ints (see `cards` for the numbers); how it goes on is told in `course`.
What happened is on its `tape` and in its `asides`. Moves are trusted: membership in `legal()` is the check,
and `refusal` says in words why a move is not in it.
"""

from collections.abc import Callable, Sequence
from operator import add
from typing import Any, Final

from engine.cards import BID, NO_COLOUR, OVER, TRUMP
from engine.course import course
from engine.deal import Deal
from engine.errors import IllegalMove
from engine.hand import ACTIONS, Hand, copied, dealt_hands, sorted_hand
from engine.law import Law
from engine.pile import Pile
from engine.reasons import REASONS
from engine.scoring import round_points
from engine.switches import Change
from engine.tape import TURNED, Aside, Event

Trick = tuple[int, list[int], int, int]
"""A finished trick: leader, cards in the order played, the trump that judged it, winner."""

_STATE: Final = (
    *("trumps", "kind", "leader", "seat", "lead", "trick", "wilds_allowed", "acted", "stake", "turn_due"),
    *("choices", "bids", "taken", "stakes", "penalties", "tricks", "tape", "asides"),
)
"""What changes in play, hands and pile apart."""


def _refused(_: int) -> list[int]:
    raise IllegalMove("the round is over")


class Round:
    """A round in play. Read its attributes freely; change it only through `apply` or `turns`."""

    __slots__ = (
        *("law", "players", "dealer", "hands", "hand_size", "pile", "trumps", "kind"),
        *("leader", "seat", "lead", "trick", "wilds_allowed", "acted", "stake", "turn_due", "choices"),
        *("bids", "taken", "stakes", "penalties", "tricks", "tape", "asides", "_send"),
    )

    def __init__(self, law: Law, dealer: int, hands: list[Hand], pile: Pile, hand_size: int) -> None:
        players = law.players
        self.law: Law = law
        self.players: int = players
        self.dealer: int = dealer
        self.hands: list[Hand] = hands
        self.hand_size: int = hand_size
        self.pile: Pile = pile
        self.trumps: list[tuple[int, int]] = [(pile.colour, pile.face)]
        self.kind: int = BID
        self.leader: int = law.left[dealer]
        self.seat: int = self.leader
        self.lead: int = NO_COLOUR
        self.trick: list[int] = []
        self.wilds_allowed: bool = True
        self.acted: bool = False
        self.stake: int = 0
        self.turn_due: bool = False
        self.choices: list[int] = law.bids[hand_size]
        """What `legal` gave last; in a copy it may be out of date until `legal` is asked."""
        self.bids: list[int] = [-1] * players
        self.taken: list[int] = [0] * players
        self.stakes: list[int] = [0] * players
        self.penalties: list[int] = [0] * players
        self.tricks: list[Trick] = []
        self.tape: list[Event] = []
        self.asides: list[Aside] = []
        self._send: Callable[[int], list[int]] | None = None

    @classmethod
    def dealt(cls, law: Law, dealer: int, hands: Sequence[Sequence[int]], pile: Sequence[int]) -> "Round":
        """A round about to begin: `pile` top first, its trump card not turned yet."""
        opened = Pile.opened(pile, law.rules.turned)
        return cls(law, dealer, [sorted_hand(hand, law.actions) for hand in hands], opened, len(hands[0]))

    @classmethod
    def of(cls, law: Law, dealer: int, deal: Deal) -> "Round":
        """The same of a deal."""
        return cls(law, dealer, dealt_hands(deal, law.actions), Pile.of(deal, law.rules.turned), deal.size)

    def clone(self) -> "Round":
        """A copy that can be played on without touching this one."""
        return self.with_cards(list(map(copied, self.hands)), self.pile.clone())

    def with_cards(self, hands: list[Hand], pile: Pile) -> "Round":
        """A copy in which these hands and this pile, which become its own, take the place of those here."""
        twin = Round(self.law, self.dealer, hands, pile, self.hand_size)
        twin.trumps, twin.kind = self.trumps[:], self.kind
        twin.leader, twin.seat, twin.lead = self.leader, self.seat, self.lead
        twin.trick, twin.wilds_allowed, twin.acted = self.trick[:], self.wilds_allowed, self.acted
        twin.stake, twin.turn_due, twin.choices = self.stake, self.turn_due, self.choices
        twin.bids, twin.taken = self.bids[:], self.taken[:]
        twin.stakes, twin.penalties = self.stakes[:], self.penalties[:]
        twin.tricks, twin.tape, twin.asides = self.tricks[:], self.tape[:], self.asides[:]
        return twin

    def __copy__(self) -> "Round":
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Round":
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the course, which cannot be pickled and begins again where a round stands."""
        made_of = (self.law, self.dealer, self.hands, self.pile, self.hand_size)
        return _restored, (made_of, [getattr(self, name) for name in _STATE])

    def legal(self) -> list[int]:
        """The choices of `seat`, in their fixed order. Read-only, and good until the next move."""
        if self._send is None and self.kind != OVER:
            self.turns()
        return self.choices

    def apply(self, move: int) -> None:
        """Play one legal move of `seat`; raises `IllegalMove` when the round is over.

        Should another move raise, for no such card is held, the round stays as it was and can be played on.
        """
        send = self._send or self.turns()
        try:
            send(move)
        except BaseException:
            self._send = None  # a course that raised is at its end; the next begins here
            raise

    def turns(self) -> Callable[[int], list[int]]:
        """`apply` and `legal` in one: a function that plays a legal move and returns the choices after it.

        None are left when the round is over; asked to play on, the function then raises `IllegalMove`, and
        like any function that raised it is of no more use. The three may be mixed.
        """
        if self.kind == OVER:
            return _refused
        if self._send is None:
            steps = course(self)
            next(steps)
            self._send = steps.send
        return self._send

    def end(self) -> None:
        """What is over has no choices, no hands, and no course that would keep it alive."""
        self.kind, self.choices, self.hands, self._send = OVER, [], self.law.nothing, None

    def scores(self) -> list[int]:
        """What the round is worth to each seat once it is over: points and penalties."""
        points = self.points()
        return list(map(add, points, self.penalties)) if any(self.penalties) else points

    def points(self) -> list[int]:
        """The round's points by seat, penalties apart."""
        law, bids, taken = self.law, self.bids, self.taken
        return round_points(law.rules, law.worth, self.hand_size, bids=bids, taken=taken, stakes=self.stakes)

    @property
    def moves(self) -> bytes:
        """Every decision so far, in order."""
        order = self.law.orders[self.law.left[self.dealer]]
        moves = [self.bids[seat] for seat in order if self.bids[seat] >= 0]
        bids = len(moves)
        for _, cards, _, _ in self.tricks:
            moves += cards
        moves += self.trick
        for kind, cards_before, move in reversed(self.asides):
            if kind < OVER:
                moves.insert(bids + cards_before, move)
        return bytes(moves)

    @property
    def first_trump(self) -> int:
        """The trump when the round began; `trumps` has all, each with the card that lay face up."""
        return self.trumps[0][0]

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
        self.trumps.append((self.pile.colour, self.pile.face))
        self.aside(TURNED)

    def aside(self, kind: int, move: int = 0) -> None:
        """Note what is on no tape."""
        self.asides.append((kind, len(self.tricks) * self.players + len(self.trick), move))


def _restored(made_of: tuple[Any, ...], state: list[Any]) -> Round:
    """What `__reduce__` took apart; a function of its own, as compiled classes take no state from pickle."""
    twin = Round(*made_of)
    for name, value in zip(_STATE, state, strict=True):
        setattr(twin, name, value)
    return twin
