"""Deals the cards it cannot see many times over, plays each deal to its end, and does what came out best.

Every player in these deals plays by `simple`: takes what its bid still needs, ducks otherwise.
"""

import time
from random import Random

from engine.cards import BID, CHALLENGE, COLOUR, FIRST_WILD, NO, NO_COLOUR, OUT, PLAY, RANK, WILD, written
from engine.knowledge import Knowledge
from engine.rules import RuleSet
from engine.sampling import Sampler
from engine.trick import STRENGTH

PLAYOUTS = 64  # a decision; bids are fewer and matter more
BID_PLAYOUTS = 160
OTHERS = 0.4  # what a point of the others' average is worth against one of ours

dice = Random()
told = {}


def start(info):
    dice.seed(info["seed"])
    rules = RuleSet.parse(info["rules"]["spec"])
    told.update(rules=rules, known=None, longest=longest(info["limits"], rules.decisions(info["players"])))


def longest(limits, decisions):
    """Seconds of CPU for one decision: three quarters of what the limits leave, on a slow machine."""
    milliseconds = limits.get("decision_cpu_ms", 50)
    if limits.get("match_cpu_ms") is not None:
        milliseconds = limits["match_cpu_ms"] / decisions
    return min(0.04, 0.75 * milliseconds / 1000)


def bid(view):
    known = learn(view)
    guess = likely_bid(known.hand, view["hand_size"], view["players"], trump_of(view))
    near = range(max(0, guess - 2), min(view["hand_size"], guess + 2) + 1)
    return best(known, list(near), BID_PLAYOUTS)


def play(view):
    return answer(view, candidates)


def choose_trump(view):
    return answer(view, lambda world: world.legal())


def challenge(view):
    return answer(view, lambda world: world.legal())


def learn(view):
    """What we know, this view included."""
    if told["known"] is None:
        told["known"] = Knowledge(told["rules"], view)
    told["known"].see(view)
    return told["known"]


def answer(view, choices):
    if len(view["legal"]) == 1:
        return view["legal"][0]
    known = learn(view)
    world = Sampler(known).sample(dice)
    return written(world.kind, best(known, choices(world), PLAYOUTS))


def best(known, moves, playouts):
    """The move that did best in the same worlds as the others."""
    if len(moves) == 1:
        return moves[0]
    sampler, sums, seat = Sampler(known), [0.0] * len(moves), known.seat
    until = time.process_time() + told["longest"]
    for _ in range(max(2, playouts // len(moves))):
        world = sampler.sample(dice)
        for index, move in enumerate(moves):
            sums[index] += outcome(world, move, seat)
        if time.process_time() > until:
            break
    return moves[sums.index(max(sums))]


def outcome(world, move, seat):
    """What a move led to in one world: our points, less a part of the others'."""
    played = world.clone()
    send = played.turns()
    moves = send(move)
    while moves:
        moves = send(moves[0] if len(moves) == 1 else simple(played, moves))
    scores = played.scores()
    others = (sum(scores) - scores[seat]) / (len(scores) - 1)
    return scores[seat] - OTHERS * others


def candidates(world):
    """The moves worth trying: of a Wild's many names only the highest, and no card that denies a colour."""
    moves = honest(world, world.legal())
    return [move for move in moves if not FIRST_WILD <= move < WILD or RANK[move] in (0, 16)]


def honest(played, moves):
    """The moves that do not deny a colour which is in the hand, where denying it is possible at all."""
    if played.law.forced or played.lead == NO_COLOUR:
        return moves
    return played.hands[played.seat][played.lead] or moves


def simple(played, moves):
    """A quick and fair move."""
    if played.kind == PLAY:
        moves = honest(played, moves)
        missing = played.bids[played.seat] - played.taken[played.seat]
        return follow(played, moves, missing) if played.trick else lead(played, moves, missing)
    if played.kind == CHALLENGE:
        return NO
    if played.kind == BID:
        hand = played.held(played.seat)
        return likely_bid(hand, played.hand_size, played.players, played.pile.colour)
    return moves[int(dice.random() * len(moves))]


def lead(played, moves, missing):
    worth = WORTH[played.pile.colour]
    return max(moves, key=worth.__getitem__) if missing > 0 else min(moves, key=worth.__getitem__)


def follow(played, moves, missing):
    row = STRENGTH[played.pile.colour][played.lead]
    high = max(bytes(played.trick).translate(row))
    powers = bytes(moves).translate(row)
    top = max(powers)
    last = len(played.trick) == played.players - 1
    if missing != 0 and top > high:
        if last:
            return moves[powers.index(min(power for power in powers if power > high))]
        return moves[powers.index(top)]
    worth = WORTH[played.pile.colour]
    if missing > 0:
        return min(moves, key=worth.__getitem__)
    losers = [move for move, power in zip(moves, powers, strict=True) if power <= high]
    if losers:
        return max(losers, key=worth.__getitem__)
    return moves[powers.index(top if last else min(powers))]


def likely_bid(hand, size, players, trump):
    """What a hand should take, by the look of it."""
    sure = sum(CHANCE[trump][card] for card in hand)
    return min(size, round(sure * 4.6 / (players + 0.6)))


def trump_of(view):
    return "ROYGBP".index(view["trump"]) if view["trump"] else NO_COLOUR


def worth_of(move, trump):
    """How dear a card is: trumps most, action cards least."""
    if COLOUR[move] == NO_COLOUR:
        return -1
    return RANK[move] + (20 if COLOUR[move] == trump else 0)


def chance_of(card, trump):
    if card == WILD:
        return 0.9
    if card >= FIRST_WILD:
        return 0.0
    if COLOUR[card] == trump:
        return min(0.95, 0.35 + 0.04 * RANK[card])
    return max(0.0, (RANK[card] - 8) * 0.05) * (1.0 if trump != NO_COLOUR else 1.5)


WORTH = [[worth_of(move, trump) for move in range(OUT + 1)] for trump in range(NO_COLOUR + 1)]
CHANCE = [[chance_of(card, trump) for card in range(OUT + 1)] for trump in range(NO_COLOUR + 1)]
