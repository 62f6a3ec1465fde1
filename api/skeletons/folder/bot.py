"""A bot for Rage in several files: this one is started, the others are imported.

Try it:    rage check {file}
Send it:   rage submit {file} --wait
"""

import hands


def bid(view):
    """What the hand is worth."""
    return min(hands.tricks(view["hand"], view["trump"]), view["hand_size"])


def play(view):
    """Win while tricks are missing, else give way."""
    missing = (view["bids"][view["seat"]] or 0) - view["taken"][view["seat"]]
    return view["legal"][-1 if missing > 0 else 0]
