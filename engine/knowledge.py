"""What one seat knows in a round, read from its views: what is where, and what can be nowhere else.

Facts are: the hand, the cards in tricks, the cards that lay face up on the pile, a look through the pile, who
could not follow a colour, who had nothing left but Wilds, and that a search takes the highest card of its
colour. Under renege rules not following proves nothing; fines are not interpreted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from engine.cards import CARD, CARDS, CODES, COLOUR, FIRST_COLOUR, FIRST_WILD, NO_COLOUR, OUT, RANKS, WILD
from engine.known_pile import KnownPile
from engine.law import law
from engine.round import Trick
from engine.rules import RuleSet
from engine.switches import Change

View = Mapping[str, Any]
NUMBERS: Final = frozenset(range(FIRST_WILD))


class Knowledge:
    """One seat's knowledge. Give `see` every view of a round to keep what no single view tells."""

    def __init__(self, rules: RuleSet, view: View) -> None:
        self.rules: Final = rules
        self.law: Final = law(rules, view["players"])
        self.seat: Final[int] = view["seat"]
        self._round = 0
        self.see(view)

    def see(self, view: View) -> None:
        """Take in a view; the first of another round starts afresh."""
        if view["round"] != self._round:
            self._begin(view)
        self.view: View = view
        self.face: int = CARDS.get(view["trump_card"], -1)
        self.trick: list[int] = [CODES[card] for card in view["trick"]]
        self.tricks: list[Trick] = [_trick(told) for told in view["tricks"]]
        self.hand: list[int] = [CARDS[card] for card in view["hand"]]
        if "pile" in view:
            self.looked: list[int] = [CARDS[card] for card in view["pile"]]
            self.nowhere |= NUMBERS  # beside it lie only action cards that left when the trump was turned
        self._see_pile()
        self._see_face()
        self._see_plays()
        self._count()

    def _begin(self, view: View) -> None:
        self._round = view["round"]
        self.bidding: bool = view["bids"][self.seat] is None
        """Whether this seat saw the round begin, so that the first trump card is known."""
        self.faces: list[int] = []
        self.looked = []
        self.pile = KnownPile(self.law)
        self._replayed = 0
        self.nowhere: set[int] = set()
        """Cards that are not in the pile."""
        if self.bidding and view["trump_card"] is None:
            self.nowhere |= NUMBERS

    def _see_pile(self) -> None:
        """What the cards played since the last view have done to the pile, and what lies open now."""
        played = [card for _, cards, _, _ in self.tricks for card in cards] + self.trick
        if "pile" in self.view:
            played.pop()  # a Change that is not over
        for number, card in enumerate(played[self._replayed :], self._replayed + 1):
            self.pile.play(card)
            if number % self.law.players == 0:
                self.pile.end_trick()
        self._replayed = len(played)
        if "pile" in self.view:
            self.pile.look(self.looked)
        else:
            self.pile.show(self.face)
        if self.pile.went_round:
            self.nowhere |= NUMBERS

    def _see_face(self) -> None:
        """A new face, and under it nothing better of its colour if it was searched out."""
        if self.face < 0:
            return
        trump = COLOUR[self.face]
        turned_over = (
            any(card != self.face for card in self.faces)
            or any(before != trump or OUT in cards for _, cards, before, _ in self.tricks)
            or OUT in self.trick
        )
        if turned_over and self.rules.change is Change.SEARCH and not self.law.out_ends:
            self.nowhere |= set(range(self.face + 1, RANKS * trump + RANKS))
        if self.face not in self.faces:
            self.faces.append(self.face)

    def _see_plays(self) -> None:
        players = self.law.players
        self.void: list[set[int]] = [set() for _ in range(players)]
        """By seat, the colours of which it holds no number card."""
        self.wilds_only: set[int] = set()
        now = (self.view["leader"], self.trick, NO_COLOUR, -1)
        for leader, cards, _, _ in [*self.tricks, now]:
            lead = NO_COLOUR
            for turn, move in enumerate(cards):
                seat = (leader + turn) % players
                if lead != NO_COLOUR and self._denies(move, lead):
                    self.void[seat].add(lead)
                if move == WILD:
                    self.wilds_only.add(seat)
                if lead == NO_COLOUR:
                    lead = COLOUR[move]

    def _denies(self, move: int, lead: int) -> bool:
        """Whether who plays this holds no number card of the lead."""
        if move < FIRST_WILD:
            return self.law.forced and COLOUR[move] != lead
        return self.law.forced and not self.law.any_time

    def _count(self) -> None:
        """Hand sizes, and the cards that may be anywhere."""
        players, left = self.law.players, self.view["hand_size"] - len(self.tricks)
        played = {(self.view["leader"] + turn) % players for turn in range(len(self.trick))}
        self.sizes: list[int] = [
            0 if seat == self.seat else left - (seat in played) for seat in range(players)
        ]
        seen = Counter(self.hand) + Counter(CARD[move] for move in self.trick)
        seen.update(CARD[move] for _, cards, _, _ in self.tricks for move in cards)
        seen.update(self.looked or self.faces)
        self.hidden: list[int] = list((Counter(self.rules.deck.cards()) - seen).elements())

    def may_hold(self, seat: int, cards: Iterable[int]) -> list[int]:
        """Those of the cards that a seat may hold."""
        may = self.may(seat)
        return [card for card in cards if may[card]]

    def may(self, seat: int) -> list[bool]:
        """Of every card, whether a seat may hold it."""
        if seat in self.wilds_only:
            return [card == WILD for card in range(FIRST_COLOUR)]
        void = self.void[seat]
        return [COLOUR[card] not in void for card in range(FIRST_COLOUR)]

    def possible(self, hands: Sequence[Sequence[int]], pile: Sequence[int]) -> bool:
        """Whether these could be the other hands, and the unknown part of the pile."""
        held = all(len(self.may_hold(seat, hand)) == len(hand) for seat, hand in enumerate(hands))
        return held and [len(hand) for hand in hands] == self.sizes and self.nowhere.isdisjoint(pile)


def _trick(told: Mapping[str, Any]) -> Trick:
    trump = told["trump"]
    colour = NO_COLOUR if trump is None else COLOUR[CODES[f"{trump}0"]]
    return told["leader"], [CODES[card] for card in told["cards"]], colour, told["winner"]
