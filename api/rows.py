"""Lists in the shapes the API has for them: whole lists as JSON, and tables for spreadsheets."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from flask import Response
from marshmallow import Schema

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def whole_list(items: Sequence[Any]) -> dict[str, Any]:
    """A list that comes in one page."""
    return {"items": items, "next": None}


def table(name: str, shape: type[Schema], items: Iterable[Any]) -> Response:
    """Rows as CSV with a heading, their columns those of the schema."""
    schema = shape()
    columns = list(schema.fields)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    for row in schema.dump(items, many=True):
        writer.writerow([cell(row[column]) for column in columns])
    answer = Response(out.getvalue(), content_type="text/csv; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer


def cell(value: object) -> object:
    """A value as a spreadsheet may have it: lists by spaces, a quote before what looks like a formula."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, str) and value.startswith(FORMULA):
        return "'" + value
    return "" if value is None else value
