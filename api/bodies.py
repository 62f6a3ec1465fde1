"""How parameters, JSON bodies and forms are read: every field at once, unknown ones refused by name."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import marshmallow as ma
from flask import Request
from webargs.flaskparser import FlaskParser
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, UnsupportedMediaType

from service.errors import Invalid

FORM = "multipart"


class Parser(FlaskParser):
    """webargs with our refusals, and forms whose fields and files are one mapping."""

    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {  # noqa: RUF012
        "json": ma.RAISE,
        "query": ma.RAISE,
        FORM: ma.RAISE,
    }
    __location_map__: dict[str, Any] = {**FlaskParser.__location_map__, FORM: "load_multipart"}  # noqa: RUF012

    def load_json(self, req: Request, schema: ma.Schema) -> Any:
        return read_json(req)

    def load_multipart(self, req: Request, schema: ma.Schema) -> dict[str, Any]:
        return read_form(req)

    def handle_error(self, error: ma.ValidationError, *_: Any, **__: Any) -> NoReturn:
        messages = error.messages_dict
        (told,) = messages.values()  # webargs puts them below the name of the place they came from
        raise Invalid(dict(flat(told)))


def read_json(req: Request) -> Any:
    """The body as JSON; 415 and 400 if it is none."""
    if not req.is_json:
        raise UnsupportedMediaType("Send JSON, with the header Content-Type: application/json")
    data = req.get_data(cache=True)
    if req.max_content_length is not None and len(data) >= req.max_content_length:
        raise RequestEntityTooLarge  # sent in chunks, and cut off there
    try:
        return json.loads(data.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BadRequest(f"The body is not JSON: {reason}") from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON number")


def read_form(req: Request) -> dict[str, Any]:
    """Fields and files of a form, by name; 415 if it is none."""
    if req.mimetype != "multipart/form-data":
        raise UnsupportedMediaType("Send a form, multipart/form-data; with curl: -F name=… -F code=@bot.py")
    parts: list[tuple[str, list[Any]]] = [*req.form.lists(), *req.files.lists()]
    twice = {name: ["is given more than once"] for name, values in parts if len(values) > 1}
    if twice or len({name for name, _ in parts}) < len(parts):
        raise Invalid(twice or {"code": ["is given as a text and as a file"]})
    return {name: values[0] for name, values in parts}


def flat(told: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """marshmallow's nested messages as `field.path` -> reasons."""
    if not isinstance(told, Mapping):
        yield path or "body", [str(reason) for reason in told]
        return
    for name, inner in told.items():
        yield from flat(inner, path if name == ma.exceptions.SCHEMA else f"{path}.{name}".lstrip("."))
