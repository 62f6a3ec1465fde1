"""Settles one round from a script: who took what, for how many points, or what was wrong with it.

A script is JSON: `rules`, `players`, `dealer`, `hands`, `pile`, `moves` and, if you like, a `name`.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from engine.cards import CARDS, KINDS, NOTATION, OVER, colour_text, read, written
from engine.errors import RulesError
from engine.law import law
from engine.round import Round, Trick
from engine.rules import RuleSet
from engine.switches import whole_number

KEYS: Final = ("rules", "players", "dealer", "hands", "pile", "moves")
SETTLED, REFUSED, UNREADABLE = 0, 1, 2
"""Exit statuses."""


def settle(script: Any) -> tuple[int, dict[str, Any]]:
    """The exit status and the JSON to print for a script."""
    try:
        played, moves = _read_script(script)
    except RulesError as wrong:
        return REFUSED, {"error": {"field": wrong.field, "reason": wrong.reason}}
    for number, value in enumerate(moves):
        move = read(played.kind, value)
        refusal = played.refusal(move)
        if move is None or refusal is not None:
            return REFUSED, {"error": {"move": number, "reason": refusal}}
        played.apply(move)
    return SETTLED, outcome(played)


def outcome(played: Round) -> dict[str, Any]:
    """What a round came to, or how it stands and who is asked what."""
    over = played.kind == OVER
    result: dict[str, Any] = {
        "trump": colour_text(played.first_trump),
        "bids": [None if bid < 0 else bid for bid in played.bids],
        "taken": list(played.taken),
        "points": played.points() if over else None,
        "penalties": list(played.penalties),
        "tricks": [trick_as_dict(trick) for trick in played.tricks],
    }
    if not over:
        legal = [written(played.kind, move) for move in played.legal()]
        result["next"] = {"seat": played.seat, "kind": KINDS[played.kind], "legal": legal}
    return result


def trick_as_dict(trick: Trick) -> dict[str, Any]:
    """A finished trick as JSON."""
    leader, cards, trump, winner = trick
    shown = [NOTATION[card] for card in cards]
    return {"leader": leader, "cards": shown, "trump": colour_text(trump), "winner": winner}


def _read_script(script: Any) -> tuple[Round, Sequence[object]]:
    if not isinstance(script, Mapping):
        raise RulesError("script", "must be a JSON object")
    _check_keys(script)
    players = script["players"]
    if not whole_number(players, 1):
        raise RulesError("players", "must be a whole number")
    rules = RuleSet.parse(script["rules"], players)
    if not whole_number(script["dealer"], 0, players - 1):
        raise RulesError("dealer", f"must be a seat from 0 to {players - 1}")
    hands, pile = _read_cards(script, rules, players)
    if not isinstance(script["moves"], list):
        raise RulesError("moves", "must be a list")
    return Round.dealt(law(rules, players), script["dealer"], hands, pile), script["moves"]


def _check_keys(script: Mapping[str, Any]) -> None:
    for key in script:
        if key not in (*KEYS, "name"):
            raise RulesError(str(key), "unknown key; known are " + ", ".join((*KEYS, "name")))
    for key in KEYS:
        if key not in script:
            raise RulesError(key, "is missing")


def _read_cards(script: Mapping[str, Any], rules: RuleSet, players: int) -> tuple[list[list[int]], list[int]]:
    hands = script["hands"]
    if not isinstance(hands, list) or len(hands) != players:
        raise RulesError("hands", f"must be a list of {players} hands")
    left = Counter(rules.deck.cards())
    read_hands = [_take_cards("hands", hand, left) for hand in hands]
    if len({len(hand) for hand in read_hands}) != 1 or not read_hands[0]:
        raise RulesError("hands", "all hands must be equally long, with one card or more")
    return read_hands, _take_cards("pile", script["pile"], left)


def _take_cards(field: str, texts: object, left: Counter[int]) -> list[int]:
    """The cards of a list, taken out of what the deck has left."""
    if not isinstance(texts, list):
        raise RulesError(field, "must be a list of cards")
    cards = []
    for text in texts:
        card = CARDS.get(text) if isinstance(text, str) else None
        if card is None:
            raise RulesError(field, f"{text!r:.40} is no card")
        if not left[card]:
            raise RulesError(field, f"more {text} than the deck holds")
        left[card] -= 1
        cards.append(card)
    return cards


def main(argv: Sequence[str]) -> int:
    """Settle the script in a file, or in standard input for `-`; prints the outcome."""
    if len(argv) != 1:
        print("usage: rage referee FILE    (- reads standard input)", file=sys.stderr)
        return UNREADABLE
    try:
        content = sys.stdin.buffer.read() if argv[0] == "-" else Path(argv[0]).read_bytes()
    except OSError as error:
        print(f"cannot read {argv[0]}: {error.strerror or error}", file=sys.stderr)
        return UNREADABLE
    try:
        script = json.loads(content)
    except (ValueError, RecursionError):
        script = None
    status, result = settle(script)
    print(json.dumps(result))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
