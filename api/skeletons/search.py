"""A bot for Rage that tries every card in worlds that fit what it has seen.

Try it:    rage check {file}
Send it:   rage submit {file} --wait
"""

from random import Random
from time import process_time

from engine.rules import RuleSet
from engine.sampling import rollout, sample

THINK = 0.02  # seconds of CPU for a card; the limits leave 0.05 a decision on average
dice = Random()
rules = None


def start(info):
    """Before the first round."""
    global rules
    rules = RuleSet.parse(info["rules"]["spec"])
    dice.seed(info["seed"])


def bid(view):
    """One trick for each high trump and Wild."""
    strong = [card for card in view["hand"] if card == "WILD" or (card[0] == view["trump"] and len(card) > 2)]
    return min(len(strong), view["hand_size"])


def play(view):
    """The card that did best when the round was played to its end at random, world after world."""
    moves = view["legal"]
    points, until = [0] * len(moves), process_time() + THINK
    while len(moves) > 1 and process_time() < until:
        world = sample(view, rules, dice)
        for index, move in enumerate(world.legal()):  # in the order of view["legal"]
            trial = world.clone()
            trial.apply(move)
            points[index] += rollout(trial, dice)[view["seat"]]
    return moves[points.index(max(points))]
