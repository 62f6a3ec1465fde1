"""Lists in pages: a cursor says after which row the next page starts, so inserts never shift one."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Tuple, literal, tuple_

from service.errors import Invalid
from service.names import UNFIT
from service.tables import EPOCH, MICROSECOND

T = TypeVar("T")
MOST = 200


class Micros(int):
    """The kind of a cursor's part that is a time."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of a list; `next` is the cursor of what follows, None at the end."""

    items: list[T]
    next: str | None


def cut(
    rows: Sequence[Any], limit: int, key: Callable[[Any], list[int | str]], shape: Callable[[Any], T]
) -> Page[T]:
    """The page of `rows`, of which one more than `limit` was asked for."""
    kept = rows[:limit]
    return Page([shape(row) for row in kept], written(key(kept[-1])) if len(rows) > limit else None)


def row(columns: Sequence[ColumnElement[Any]], key: Sequence[Any]) -> "Tuple":
    """A key as a row of SQL, each part with its column's type, to be compared with a row of columns."""
    return tuple_(*(literal(part, column.type) for column, part in zip(columns, key, strict=True)))


def written(key: list[int | str]) -> str:
    """A cursor that stands for a row's key."""
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def read(cursor: str | None, *kinds: type) -> list[Any] | None:
    """The key behind a cursor, its parts of these kinds; raises `Invalid` for one that we never gave."""
    if cursor is None:
        return None
    try:
        key = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, UnicodeError, RecursionError):
        key = None
    fits = isinstance(key, list) and len(key) == len(kinds)
    if not fits or not all(_is(part, kind) for part, kind in zip(key, kinds, strict=True)):
        raise Invalid({"cursor": ["must be the `next` of an earlier answer"]})
    return list(key)


def _is(part: object, kind: type) -> bool:
    if kind in (int, Micros):
        most = 1 << (62 if kind is Micros else 31)
        return isinstance(part, int) and not isinstance(part, bool) and abs(part) < most
    return isinstance(part, kind) and not UNFIT.search(str(part))


def micros(moment: datetime) -> int:
    """A time as it stands in a cursor."""
    return (moment - EPOCH) // MICROSECOND


def moment(micros: int) -> datetime:
    """A cursor's time again; raises `Invalid` for one beyond the calendar."""
    try:
        return EPOCH + micros * MICROSECOND
    except OverflowError:
        raise Invalid({"cursor": ["must be the `next` of an earlier answer"]}) from None
