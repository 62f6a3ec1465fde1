"""JSON lines for a bot's side, by the parts of `json` that are written in C.

The package itself brings in regular expressions, which would take as long to import as all the rest of a bot.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SHOWN = 100


def read(line: bytes) -> Any:
    """One JSON value; raises `ValueError`."""
    return _read(line.decode())


def written(value: Any) -> bytes:
    """The value as a line; what is no JSON by its looks."""
    return _write(value).encode() + b"\n"


def _plain(value: Any) -> object:
    """Numbers of other libraries as plain ones; anything else by its repr, for its author to see."""
    item = getattr(value, "item", None)
    return item() if callable(item) else repr(value)[:SHOWN]


class _Reading:
    """What the scanner asks of a decoder."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def _compiled() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    import _json

    scan = _json.make_scanner(_Reading)  # type: ignore[arg-type]  # any object with the names does
    write = _json.make_encoder(
        None, _plain, _json.encode_basestring_ascii, None, ":", ",", False, False, True
    )

    def reading(text: str) -> Any:
        try:
            return scan(text, 0)[0]
        except StopIteration as stop:
            raise ValueError(f"no JSON at {stop.value}: {text[:SHOWN]}") from None

    return reading, lambda value: "".join(write(value, 0))


def _whole() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    import json

    return json.loads, json.JSONEncoder(separators=(",", ":"), default=_plain).encode


try:
    _read, _write = _compiled()
except (ImportError, AttributeError, TypeError):  # another Python, or another version of it
    _read, _write = _whole()
