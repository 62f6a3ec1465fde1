"""The order in which standings are told: the format's, then those who left, then house bots that fill."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row

from service import lineup
from service.formats import FORMATS
from service.standings import Standing
from service.tournaments import Entrant

CLASSES = {"in": 0, "withdrawn": 1, "disqualified": 1, "filler": 2}


def of_format(db: Connection, row: "Row[Any]") -> list[list[int]] | None:
    """Entrants as a format ranks them by itself, best first, level ones together; None: by points.

    Once somebody has left, those who stay have no longer played equally often, and sums are no measure.
    """
    form = FORMATS.get(row.format)
    if row.stage == 0 or form is None:
        return None
    field = lineup.now(db, row)
    if form.by_points and not field.gone:
        return None
    return form.places(field, lineup.done(db, row))


def ranked(
    lines: Sequence[Standing], entrants: Sequence[Entrant], own: Sequence[Sequence[int]] | None
) -> list[Standing]:
    """The lines with their places; `own` is the format's order. Who left is behind all who stayed."""
    tied = groupby(lines, key=lambda line: line.place)
    levels = own or [[line.entrant for line in level] for _, level in tied]
    known = {each for level in levels for each in level}
    others = [[line.entrant] for line in lines if line.entrant not in known]
    by_number = {line.entrant: line for line in lines}
    found: list[Standing] = []
    for number in sorted(set(CLASSES.values())):
        for level in [*levels, *others]:
            here = [each for each in level if CLASSES[status_of(entrants[each])] == number]
            found += [replace(by_number[each], place=len(found) + 1) for each in here]
    return found


def status_of(who: Entrant) -> str:
    """In, withdrawn, disqualified or filler."""
    return "filler" if who.filler else who.status
