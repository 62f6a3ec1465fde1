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
    COLOUR,
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
from engine.hand import sorted_hand
from engine.knowledge import Knowledge, View
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
    """Plays a round to its end with random legal moves; returns what it was worth to each seat."""
    draw, legal, apply = dice.random, played.legal, played.apply
    moves = legal()
    while moves:
        apply(moves[int(draw() * len(moves))])
        moves = legal()
    return played.scores()


class _Rest:
    """The part of the pile that is not known. Few rounds turn it, so it is shuffled when one does."""

    def __init__(self, cards: Cards, faces: Cards, dice: Random) -> None:
        self._cards, self._faces, self._dice = cards, faces, dice
        self._shuffled: Cards | None = None

    @property
    def pile(self) -> Sequence[int]:
        """The cards in random order; the same for all clones of a world."""
        if self._shuffled is None:
            self._shuffled = self._dice.sample(self._cards, len(self._cards))
        return self._shuffled

    @property
    def highest(self) -> Sequence[int]:
        """By colour, cards that lay open counted in."""
        last = {card >> 4: card for card in sorted(self._cards + self._faces) if card < FIRST_WILD}
        return [last.get(colour, -1) for colour in range(NO_COLOUR)]


class Sampler:
    """Draws worlds for one question. To make it costs more than a draw: keep it for all draws."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge: Final = knowledge
        self._hidden: Final = knowledge.hidden
        self._sizes: Final = knowledge.sizes
        self._dealt: Final = sum(self._sizes)
        self._order: Final = self._by_choice()
        first = knowledge.bidding and bool(knowledge.faces) and not knowledge.looked
        numbers = sum(card < FIRST_WILD for card in self._hidden) + len(knowledge.faces)
        self._fewest: Final = max(1, numbers - self._dealt) if first else 0
        self._kind, self._choices = self._question()

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
        known, view = self.knowledge, self.knowledge.view
        held = [
            sorted_hand(known.hand if seat == known.seat else hand, known.law.actions)
            for seat, hand in enumerate(hands)
        ]
        played = Round(known.law, view["dealer"], held, self._pile(rest, dice), view["hand_size"])
        played.kind, played.choices, played.seat = self._kind, self._choices, known.seat
        played.leader, played.trick, played.tricks = view["leader"], known.trick[:], known.tricks[:]
        played.bids = self._bids(dice)
        played.taken, played.penalties = view["taken"][:], view["penalties"][:]
        self._actions(played)
        return played

    def _by_choice(self) -> list[tuple[int, int]]:
        """Seats, those with fewest possible cards first, and in how many ways each can be dealt at most.

        0 stands for "always in equally many": the seat may hold anything.
        """
        known, order = self.knowledge, []
        for seat, size in enumerate(self._sizes):
            choices = known.may_hold(seat, self._hidden)
            order.append((len(choices), seat, frozenset(choices), size))
        order.sort(key=lambda each: each[:2])
        bounds = []
        for place, (number, seat, may, size) in enumerate(order):
            free = number == len(self._hidden)
            for _, _, theirs, held in order[:place]:
                apart = sum(card in theirs and card not in may for card in self._hidden)
                number -= max(0, held - apart)
            bounds.append((seat, 0 if free or not size else max(1, comb(max(number, 0), size))))
        return bounds

    def _draw(self, dice: Random) -> tuple[list[Cards], Cards] | None:
        """Hands drawn one by one, refused just so often that no deal is favoured."""
        known, left = self.knowledge, self._hidden[:]
        hands: list[Cards] = [[] for _ in self._sizes]
        for seat, most in self._order:
            size = self._sizes[seat]
            if not most:
                hands[seat] = _drawn(left, size, dice)
                continue
            choices = known.may_hold(seat, left)
            if len(choices) < size or dice.random() * most >= comb(len(choices), size):
                return None
            hands[seat] = _drawn(choices, size, dice)
            for card in hands[seat]:
                left.remove(card)
        if not known.nowhere.isdisjoint(left):
            return None
        if self._fewest:
            numbers = sum(card < FIRST_WILD for card in left) + len(known.faces)
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

    def _pile(self, rest: Cards, dice: Random) -> Pile:
        """The pile: what lies open on top, other known cards where the rules left them."""
        known, face = self.knowledge, self.knowledge.face
        colour = known.view["trump"]
        trump = NO_COLOUR if colour is None else COLOUR[CODES[f"{colour}0"]]
        shown = [face] if face >= 0 else []
        if known.looked:
            return Pile(shown + [card for card in known.looked if card != face], [], face, trump)
        older = [card for card in known.faces if card != face]
        top, bottom = (shown, older) if known.rules.change is Change.TURN else (shown + older[::-1], [])
        return Pile(top, bottom, face, trump, _Rest(rest, known.faces, dice))

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

    def _bids(self, dice: Random) -> list[int]:
        """The bids as told; those that were made in secret are anything."""
        view, players = self.knowledge.view, self.knowledge.law.players
        bids = [-1 if bid is None else bid for bid in view["bids"]]
        for turn in range(1, players + 1):
            seat = (view["dealer"] + turn) % players
            if seat == self.knowledge.seat and self._kind == BID:
                break
            if bids[seat] < 0:
                bids[seat] = dice.randrange(view["hand_size"] + 1)
        return bids

    def _actions(self, played: Round) -> None:
        """What the cards on the table and in the tricks have left behind."""
        law, trick = played.law, played.trick
        played.lead = lead_colour(trick)
        played.acted = any(card >= FIRST_WILD for card in trick)
        played.stake = _stake(trick)
        if any(FIRST_WILD <= card <= WILD for card in trick):
            played.wilds_allowed = law.wilds_together
        if law.out_ends and OUT in trick:
            settled = trick[:-1] if played.kind == TRUMP else trick
            played.turn_due = [card for card in settled if card in (OUT, CHANGE)][-1:] == [OUT]
        for _, cards, _, winner in played.tricks:
            played.stakes[winner] += _stake(cards)


def _stake(cards: Sequence[int]) -> int:
    return CARD_POINTS * (cards.count(BONUS) - cards.count(MAD))


def _drawn(pool: Cards, count: int, dice: Random) -> Cards:
    """Cards drawn from a pool, which loses them and its order."""
    draw, hand = dice.random, []
    for size in range(len(pool), len(pool) - count, -1):
        at = int(draw() * size)
        hand.append(pool[at])
        pool[at] = pool[size - 1]
        pool.pop()
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
