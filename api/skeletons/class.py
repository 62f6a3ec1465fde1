"""A bot for Rage that remembers: a class `Bot`, made once for every match.

Try it:    rage check {file}
Send it:   rage submit {file} --wait
"""

import random


class Bot:
    """One seat in one match."""

    def start(self, info):
        """Before the first round: seat, players, rules, limits and a seed for dice of our own."""
        self.seat = info["seat"]
        self.dice = random.Random(info["seed"])

    def bid(self, view):
        """How many tricks to announce: about one in every four cards, strong hands more."""
        high = [card for card in view["hand"] if card[0] == view["trump"] or card == "WILD"]
        return min(len(high), view["hand_size"])

    def play(self, view):
        """Win while tricks are missing; else give way, at random where it does not matter."""
        if view["taken"][self.seat] < (view["bids"][self.seat] or 0):
            return view["legal"][-1]
        return self.dice.choice(view["legal"][:2])

    def choose_trump(self, view):
        """After a Change: the colour we hold most of, among those that may be named."""
        return max(view["legal"], key=lambda colour: sum(card[0] == colour for card in view["hand"]))

    def end(self, result):
        """After the last round; printed to the log."""
        print("scores", result["scores"], "mine", result["scores"][self.seat])
