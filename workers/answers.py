"""What a bot's line says: strictly decoded, and told again in an author's words."""

from collections.abc import Sequence

import orjson

SHOWN = 200


def decoded(line: bytes) -> object:
    """JSON, or None for what is no JSON (no answer may be null)."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


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
