"""A bot for Rage: two functions, called in this order, with all that this seat may know.

Try it:    rage check {file}
           rage play {file} counter cautious random --games 20
Send it:   rage submit {file} --wait
"""


def bid(view):
    """How many tricks to announce, 0 to view["hand_size"]."""
    trumps = [card for card in view["hand"] if card[0] == view["trump"] and card[1:].isdigit()]
    return sum(int(card[1:]) >= 8 for card in trumps)


def play(view):
    """A card: one of view["legal"], lowest first."""
    missing = (view["bids"][view["seat"]] or 0) - view["taken"][view["seat"]]
    return view["legal"][-1 if missing > 0 else 0]


# Also there, if you want them: start(info), choose_trump(view), challenge(view), end(result).
# What you print goes to the bot's log: rage check {file} --log
