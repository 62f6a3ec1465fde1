"""What a bot is told, a line of JSON each."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from engine.table import Question

PROTOCOL: Final = 1


def start(start: Mapping[str, Any]) -> bytes:
    """Of the match that begins."""
    return orjson.dumps({"type": "start", "protocol": PROTOCOL, **start}) + b"\n"


def question(question: Question, *, delta: bool) -> bytes:
    """What it is asked; with `delta` the news instead of its whole view."""
    shown: dict[str, Any] = {"id": question.number, "type": question.kind}
    if delta:
        shown["events"] = question.events
    else:
        shown["view"] = question.view
    shown["legal"] = question.legal
    if (pile := question.pile) is not None:
        shown["pile"] = pile
    return orjson.dumps(shown, option=orjson.OPT_APPEND_NEWLINE)


def end(result: Mapping[str, Any]) -> bytes:
    """What came of the match."""
    return orjson.dumps({"type": "end", **result}) + b"\n"
