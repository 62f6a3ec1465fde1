"""What a bot's line says: strictly decoded, and told again in an author's words."""

from collections.abc import Sequence

import orjson

SHOWN = 200
MODES = ("full", "delta")
NO_MODE = 'its first line must be {"ready":true} with mode "full" or "delta"'


def decoded(line: bytes) -> object:
    """JSON, or None for what is no JSON (no answer may be null)."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def mode(line: bytes) -> str | None:
    """Which of `MODES` its first line asks for; None for what is no such line."""
    hello = decoded(line)
    if not isinstance(hello, dict) or hello.get("ready") is not True:
        return None
    wanted = hello.get("mode", "full")
    return str(wanted) if wanted in MODES else None


def move(answer: object, number: int) -> tuple[object, str]:
    """The move it has for question `number`, or what is wrong with its form in a sentence."""
    if not isinstance(answer, dict) or "move" not in answer:
        return None, 'not a JSON object with "id" and "move"'
    if numbered(answer) != number:
        return None, f"answered with the wrong id; {number} was asked"
    return answer["move"], ""


def numbered(answer: object) -> int | None:
    """The question it answers by its own account."""
    number = answer.get("id") if isinstance(answer, dict) else None
    return number if type(number) is int else None


def told(move: object) -> str:
    """A move in an author's words; what is no plain value is only named, for it may be nested without end."""
    plain = move is None or isinstance(move, str | int | float)
    return (
        orjson.dumps(move).decode()[:SHOWN]
        if plain
        else f"a JSON {'list' if isinstance(move, list) else 'object'}"
    )


def listed(move: object, legal: Sequence[object]) -> bool:
    """Whether the move is among the choices, which are of one kind, as that kind: true is not 1."""
    return move in legal and type(move) is type(legal[0])
