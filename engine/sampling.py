"""Worlds a seat may be in: full rounds that agree with everything it was told, for bots that search.

    world = sample(view, rules, dice)      # a Round: play it on with `legal` and `apply`
    points = rollout(world, dice)          # random play to the end of the round

Every deal of the hidden cards that agrees with the facts (see `knowledge`) is equally likely. Where facts are
so many that drawing and refusing takes too long, a legal deal is shuffled by many small exchanges instead,
which is close to that.
"""

from collections.abc import Sequence
from math import comb
from random import Random
from typing import Final

from engine.actions import CARD_POINTS
from engine.cards import (
    BID,
    BONUS,
    CHALLENGE,
    CHANGE,
    CODES,
    COLOURS,
    FIRST_WILD,
    MAD,
    NO,
    NO_COLOUR,
    OUT,
    PLAY,
    TRUMP,
    WILD,
    YES,
)
from engine.deal import numbers_but
from engine.hand import copied, sorted_hand
from engine.knowledge import Knowledge, View
from engine.known_pile import UNKNOWN
from engine.pile import Pile
from engine.round import Round
from engine.rules import RuleSet
from engine.switches import Change
from engine.trick import lead_colour

PATIENCE: Final = 12
EXCHANGES: Final = 150
Cards = list[int]


def sample(view: View, rules: RuleSet, dice: Random) -> Round:
    """A round as it may be, given one view as a bot's function gets it; the view's seat is to decide."""
    return Sampler(Knowledge(rules, view)).sample(dice)


def rollout(played: Round, dice: Random) -> list[int]:
    """Plays a round to its end with uniformly random legal moves; returns what it was worth to each seat."""
    draw, moves, send = dice.random, played.legal(), played.turns()
    while moves:
        moves = send(moves[int(draw() * len(moves))] if len(moves) > 1 else moves[0])
    return played.scores()


class _Rest:
    """The part of the pile that is not known. Few rounds turn it, so it is shuffled when one does."""

    def __init__(self, cards: Cards, gone: Sequence[Cards], dice: Random) -> None:
        """`gone` are hands and tricks: the cards that are not in the pile."""
        self._cards, self._gone, self._dice = cards, gone, dice
        self._shuffled: Cards | None = None
        self._numbers: bytes | None = None

    @property
    def pile(self) -> Sequence[int]:
        """The cards in random order; the same for all clones of a world."""
        if self._shuffled is None:
            self._shuffled = self._dice.sample(self._cards, len(self._cards))
        return self._shuffled

    @property
    def numbers(self) -> bytes:
        """Number cards of the pile, sorted, those that lay open counted in."""
        if self._numbers is None:
            self._numbers = numbers_but([card for cards in self._gone for card in cards])
        return self._numbers


class Sampler:
    """Draws worlds for one question. To make it costs more than a draw: keep it for all draws."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge: Final = knowledge
        self._hidden: Final = knowledge.hidden
        self._sizes: Final = knowledge.sizes
        self._dealt: Final = sum(self._sizes)
        self._order: Final = self._by_choice()
        self._may: Final = [knowledge.may(seat) for seat in range(len(self._sizes))]
        self._numbers: Final = sum(card < FIRST_WILD for card in self._hidden) + len(knowledge.faces)
        first = knowledge.bidding and bool(knowledge.faces) and not knowledge.looked
        self._fewest: Final = max(1, self._numbers - self._dealt) if first else 0
        self._known: Final = self._open_part()
        self._top: Final = [card for card in knowledge.pile.top if card != UNKNOWN]
        self._bottom: Final = [card for card in knowledge.pile.bottom if card != UNKNOWN]
        self._seen: Final = (
            knowledge.hand + knowledge.trick + [c for trick in knowledge.tricks for c in trick[1]]
        )

    def sample(self, dice: Random) -> Round:
        """One world, a round to play on with; it shares nothing with other worlds."""
        return self.world(*self.deal(dice), dice)

    def deal(self, dice: Random) -> tuple[list[Cards], Cards]:
        """The other hands (one's own is empty here), and what is left for the pile, in no order."""
        for _ in range(PATIENCE):
            drawn = self._draw(dice)
            if drawn:
                return drawn
        return self._exchanged(dice)

    def world(self, hands: Sequence[Cards], rest: Cards, dice: Random) -> Round:
        """The round with these hands and this rest of the pile."""
        known, seat, calls = self.knowledge, self.knowledge.seat, self.knowledge.law.actions
        own = copied(self._known.hands[seat])
        held = [own if other == seat else sorted_hand(cards, calls) for other, cards in enumerate(hands)]
        played = self._known.with_cards(held, self._pile(hands, rest, dice))
        if known.rules.secret_bids:
            self._guess_bids(played.bids, dice)
        return played

    def _open_part(self) -> Round:
        """The round as far as it is known: every hand but one's own is empty, and so is the pile."""
        known, view, law = self.knowledge, self.knowledge.view, self.knowledge.law
        held = [sorted_hand([], law.actions) for _ in range(law.players)]
        held[known.seat] = sorted_hand(known.hand, law.actions)
        trump = NO_COLOUR if view["trump"] is None else COLOURS.index(view["trump"])
        played = Round(law, view["dealer"], held, Pile([], [], known.face, trump), view["hand_size"])
        played.kind, played.choices = self._question()
        played.seat, played.leader = known.seat, view["leader"]
        played.trick, played.tricks = known.trick[:], known.tricks[:]
        played.bids = [-1 if bid is None else bid for bid in view["bids"]]
        played.taken, played.penalties = view["taken"][:], view["penalties"][:]
        _add_actions(played)
        return played

    def _by_choice(self) -> list[tuple[int, int, int]]:
        """Seats that are dealt cards, those with fewest possible ones first: how many these are, and in how
        many ways each can be dealt at most. 0 stands for "always equally many": the seat may hold anything.
        """
        known, order = self.knowledge, []
        for seat, size in enumerate(self._sizes):
            if size:
                choices = known.may_hold(seat, self._hidden)
                order.append((len(choices), seat, frozenset(choices), size))
        order.sort(key=lambda each: each[:2])
        bounds = []
        for place, (cards, seat, may, size) in enumerate(order):
            number = cards
            free = number == len(self._hidden)
            for _, _, theirs, held in order[:place]:
                apart = sum(card in theirs and card not in may for card in self._hidden)
                number -= max(0, held - apart)
            bounds.append((seat, cards, 0 if free else max(1, comb(max(number, 0), size))))
        return bounds

    def _draw(self, dice: Random) -> tuple[list[Cards], Cards] | None:
        """Hands drawn one by one, refused just so often that no deal is favoured."""
        nowhere, left = self.knowledge.nowhere, self._hidden[:]
        hands: list[Cards] = [[] for _ in self._sizes]
        gone: Cards = []
        for seat, cards, most in self._order:
            size, may = self._sizes[seat], self._may[seat]
            if most:
                choices = cards - sum([may[card] for card in gone])
                if choices < size or dice.random() * most >= comb(choices, size):
                    return None
            hands[seat] = _drawn(left, size, may, dice)
            gone += hands[seat]
        if nowhere and not nowhere.isdisjoint(left):
            return None
        if self._fewest:
            numbers = self._numbers - sum([card < FIRST_WILD for card in gone])
            if dice.random() * numbers >= self._fewest:
                return None
        return hands, left

    def _exchanged(self, dice: Random) -> tuple[list[Cards], Cards]:
        """Some legal deal, after many exchanges of two cards that keep it legal."""
        places, barred = self._legal_places(dice)
        spots = [(place, index) for place, cards in enumerate(places) for index in range(len(cards))]
        for _ in range(EXCHANGES if spots else 0):
            (here, one), (there, two) = dice.choice(spots), dice.choice(spots)
            mine, theirs = places[here][one], places[there][two]
            if here != there and theirs not in barred[here] and mine not in barred[there]:
                places[here][one], places[there][two] = theirs, mine
        return places[:-1], places[-1]

    def _legal_places(self, dice: Random) -> tuple[list[Cards], list[frozenset[int]]]:
        """Seats and the pile filled so that nobody holds what cannot be there."""
        known, hidden = self.knowledge, self._hidden
        seats = range(len(self._sizes))
        barred = [frozenset(hidden) - set(known.may_hold(seat, hidden)) for seat in seats]
        barred.append(frozenset(known.nowhere))
        room = [*self._sizes, len(hidden) - self._dealt]
        places: list[Cards] = [[] for _ in room]
        for card in dice.sample(hidden, len(hidden)):
            if not _put(card, places, room, barred, set()):
                raise ValueError("the view contradicts itself")
        return places, barred

    def _pile(self, hands: Sequence[Cards], rest: Cards, dice: Random) -> Pile:
        """The pile: known cards where the rules left them, between top and bottom all others."""
        known, rest_of = self._known.pile, None
        if not self.knowledge.pile.whole:
            rest_of = _Rest(rest, [self._seen, *hands], dice)
        return Pile(self._top[:], self._bottom[:], known.face, known.colour, rest_of)

    def _question(self) -> tuple[int, Cards]:
        """What is asked, and the choices of a question that is not about a card."""
        known, view = self.knowledge, self.knowledge.view
        legal = view.get("legal") or [None]
        if view["bids"][known.seat] is None:
            return BID, known.law.bids[view["hand_size"]]
        if isinstance(legal[0], bool):
            return CHALLENGE, [NO, YES]
        if legal[0] in tuple(COLOURS):
            return TRUMP, [CODES[move] for move in legal]
        return PLAY, known.law.bids[view["hand_size"]]

    def _guess_bids(self, bids: list[int], dice: Random) -> None:
        """Bids that were made in secret are anything."""
        dealer, hand_size = self._known.dealer, self._known.hand_size
        for seat in self.knowledge.law.orders[self.knowledge.law.left[dealer]]:
            if seat == self.knowledge.seat and self._known.kind == BID:
                break
            if bids[seat] < 0:
                bids[seat] = dice.randrange(hand_size + 1)


def _add_actions(played: Round) -> None:
    """What the cards on the table and in the tricks have left behind."""
    law, trick = played.law, played.trick
    played.lead = lead_colour(trick)
    played.acted = any(card >= FIRST_WILD for card in trick)
    played.stake = _stake(trick)
    if any(FIRST_WILD <= card <= WILD for card in trick):
        played.wilds_allowed = law.wilds_together
    if law.out_ends and OUT in trick:
        last = [card for card in trick if card in (OUT, CHANGE)][-1]
        turns = law.rules.change is Change.TURN  # where it finds no trump it ends what is due all the same
        played.turn_due = played.pile.colour == NO_COLOUR and (last == OUT or not turns)
    for _, cards, _, winner in played.tricks:
        played.stakes[winner] += _stake(cards)


def _stake(cards: Sequence[int]) -> int:
    return CARD_POINTS * (cards.count(BONUS) - cards.count(MAD))


def _drawn(pool: Cards, count: int, may: Sequence[bool], dice: Random) -> Cards:
    """Cards drawn from those of a pool that may be; the pool loses them and its order."""
    hand: Cards = []
    draw, size = dice.random, len(pool)
    while count:
        at = int(draw() * size)
        card = pool[at]
        if may[card]:
            hand.append(card)
            count -= 1
            size -= 1
            pool[at] = pool[size]
    del pool[size:]
    return hand


def _put(
    card: int, places: list[Cards], room: Sequence[int], barred: Sequence[frozenset[int]], tried: set[int]
) -> bool:
    """Puts a card where it may be, moving others on where that is full."""
    may = [place for place in range(len(places)) if card not in barred[place] and place not in tried]
    for place in may:
        if len(places[place]) < room[place]:
            places[place].append(card)
            return True
    for place in may:
        tried.add(place)
        for index, other in enumerate(places[place]):
            if _put(other, places, room, barred, tried):
                places[place][index] = card
                return True
    return False
