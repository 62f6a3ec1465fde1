"""A match made up for the bot's side: what a few questions leave warm, every child of a warm parent inherits.

The interpreter fits code to what it meets, once it has run a while; a process that lives for one match only
would hardly have the good of it. The author is a house bot, so no stranger's code runs.
"""

import io
import os
import sys

from engine import bot, lines

QUESTIONS = 40  # a function is fitted after eight calls, a loop after as many turns
HOUSE_BOT = os.path.join(os.path.dirname(__file__), "bots", "random.py")
START = {"type": "start", "seat": 0, "players": 3, "rules": {"teams": None, "hand_sizes": [2]}, "seed": 1}
ROUND = {
    "round": 1,
    "hand_size": 2,
    "dealer": 2,
    "hand": ["R1", "WILD"],
    "trump": "B",
    "trump_card": "B3",
    "scores": [0, 0, 0],
}
BIDS = [{"bid": [seat, 1]} for seat in range(3)]
PLAYS = [{"play": [0, "R1"]}, {"play": [1, "WILD:R"]}, {"play": [2, "CHANGE"]}, {"took": [1, "B"]}]
NEWS = [
    {"round": ROUND},
    *BIDS,
    *PLAYS,
    {"trump": ["O", "O2"]},
    {"penalties": [0, 0, 1]},
    {"play": [1, "B4"]},
]
END = {"type": "end", "scores": [0, 0, 0], "places": [1, 1, 1]}


def rehearse() -> None:
    """Play it, and leave nothing behind that a bot would find."""
    bot.prepare()
    nothing = os.open(os.devnull, os.O_WRONLY)
    said = [START, *map(_question, range(1, QUESTIONS + 1)), END]
    bot.serve(io.BytesIO(b"".join(map(lines.written, said))), nothing, HOUSE_BOT, HOUSE_BOT)
    os.close(nothing)
    del sys.modules["bot"]


def _question(number: int) -> dict[str, object]:
    kind, legal = ("bid", [0, 1, 2]) if number % 2 else ("play", ["R1", "WILD"])
    return {"id": number, "type": kind, "events": NEWS, "legal": legal}
