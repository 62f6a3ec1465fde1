"""Says and plays anything that is allowed."""

import random

dice = random.Random()


def start(info):
    dice.seed(info["seed"])


def bid(view):
    return dice.choice(view["legal"])


def play(view):
    return dice.choice(view["legal"])


def choose_trump(view):
    return dice.choice(view["legal"])


def challenge(view):
    return dice.choice(view["legal"])
