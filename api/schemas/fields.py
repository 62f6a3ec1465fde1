"""The kinds of fields there are: strict about what comes in, described for who reads the API's document."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar

import marshmallow as ma
from flask_smorest.fields import Upload  # type: ignore[import-untyped]
from marshmallow import fields, validate
from werkzeug.datastructures import FileStorage

RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.IGNORECASE)
EXAMPLE_TIME = "2030-12-01T18:00:00Z"
LARGEST = 1e300  # what a float can hold and more than anybody means


class Schema(ma.Schema):
    """What comes in: a field nobody knows is refused by name, with the names that would be right.

    `EXAMPLE`: one that is right as a whole, where the examples of all fields together are not.
    """

    EXAMPLE: ClassVar[Mapping[str, Any] | None] = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        known = ", ".join(self.load_fields)
        self.error_messages["unknown"] = f"unknown field; known are {known}"
        self.error_messages["type"] = "must be a JSON object"


def example_of(shape: type[Schema]) -> dict[str, Any]:
    """A whole that is right, as JSON."""
    if shape.EXAMPLE is not None:
        return dict(shape.EXAMPLE)
    told = {name: field.metadata.get("example") for name, field in shape().load_fields.items()}
    return {name: example for name, example in told.items() if example is not None}


class Answer(ma.Schema):
    """What goes out."""


class Text(fields.String):
    """Text that can be stored: no NUL, no half of a surrogate pair."""

    default_error_messages = {  # noqa: RUF012
        "required": "is missing",
        "null": "must be text, not null",
        "invalid": "must be text",
        "unfit": "holds characters that cannot be stored",
    }

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, FileStorage):
            raise self.make_error("invalid")
        text = super()._deserialize(value, attr, data, **kwargs)
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise self.make_error("unfit")
        return text


class Whole(fields.Integer):
    """A whole number in a range. In JSON `2.0` is one, `true` and `"2"` are none; in a query all is text."""

    default_error_messages = {  # noqa: RUF012
        "required": "is missing",
        "null": "must be a whole number, not null",
    }

    def __init__(self, low: int, high: int, *, in_query: bool = False, **options: Any) -> None:
        self.wrong = f"must be a whole number from {low} to {high}"
        self.in_query = in_query
        super().__init__(validate=validate.Range(low, high, error=self.wrong), **options)

    def _validated(self, value: Any) -> int:
        if self.in_query and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value):
            return int(value)
        if type(value) is float and value.is_integer():
            return int(value)
        if type(value) is not int:
            raise ma.ValidationError(self.wrong)
        return value


class Number(fields.Float):
    """A number in a range. In JSON `true` and `"2"` are none."""

    default_error_messages = {"null": "must be a number, not null"}  # noqa: RUF012

    def __init__(self, low: float, high: float, **options: Any) -> None:
        self.wrong = f"must be a number from {low:g} to {high:g}"
        super().__init__(validate=validate.Range(low, high, error=self.wrong), **options)

    def _validated(self, value: Any) -> float:
        if type(value) not in (int, float) or not abs(value) < LARGEST:
            raise ma.ValidationError(self.wrong)
        return float(value)


class Switch(fields.Boolean):
    """`true` or `false`; in a form the same as words."""

    default_error_messages = {  # noqa: RUF012
        "null": "must be true or false, not null",
        "invalid": "must be true or false",
    }

    def __init__(self, *, in_form: bool = False, **options: Any) -> None:
        self.in_form = in_form
        super().__init__(**options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if self.in_form and isinstance(value, str) and value in ("true", "false"):
            return value == "true"
        if not isinstance(value, bool):
            raise self.make_error("invalid")
        return value


class Choices(fields.List):  # type: ignore[type-arg]
    """Some of a few words."""

    def __init__(self, values: Sequence[str], **options: Any) -> None:
        wrong = f"must be some of {', '.join(values)}"
        one = fields.String(validate=validate.OneOf(values, error=wrong), error_messages={"invalid": wrong})
        super().__init__(one, error_messages={"required": "is missing", "invalid": wrong}, **options)


class Moment(fields.AwareDateTime):
    """A time with its zone, RFC 3339; goes out in UTC."""

    wrong = f"must be a time with its zone such as {EXAMPLE_TIME}"
    words: tuple[str, ...] = ()

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else rfc3339(value)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if value in self.words:
            return value
        try:
            if not isinstance(value, str) or not RFC3339.fullmatch(value):
                raise ValueError(value)
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            raise ma.ValidationError(self.wrong) from None


class Start(Moment):
    """When a tournament starts: a time, `manual` or `draft`."""

    words = ("manual", "draft")
    wrong = f'must be a time with its zone such as {EXAMPLE_TIME}, "manual" or "draft"'


class File(Upload):  # type: ignore[misc]
    """A file of a form."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> FileStorage:
        if not isinstance(value, FileStorage) or not value.filename:
            raise ma.ValidationError("must be a file, sent with its name; with curl: -F code=@bot.py")
        return value


def rfc3339(moment: datetime) -> str:
    """A time as everything here writes it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


# Fields of answers: what it means, an example; `null` where there may be nothing.


def _options(meaning: str, example: Any, null: bool) -> dict[str, Any]:
    return {
        "required": True,
        "allow_none": null,
        "metadata": {"description": meaning, "example": example},
    }


def text(meaning: str, example: str | None, *, null: bool = False) -> fields.String:
    return fields.String(**_options(meaning, example, null))


def choice(meaning: str, values: Sequence[str]) -> fields.String:
    return fields.String(validate=validate.OneOf(values), **_options(meaning, values[0], False))


def whole(meaning: str, example: int | None, *, null: bool = False) -> fields.Integer:
    return fields.Integer(**_options(meaning, example, null))


def number(meaning: str, example: float | None, *, null: bool = False) -> fields.Float:
    return fields.Float(**_options(meaning, example, null))


def flag(meaning: str, example: bool | None, *, null: bool = False) -> fields.Boolean:
    return fields.Boolean(**_options(meaning, example, null))


def moment(meaning: str, *, null: bool = False) -> Moment:
    return Moment(**_options(meaning, EXAMPLE_TIME, null))


def free(meaning: str, example: Mapping[str, Any] | None, *, null: bool = False) -> fields.Dict:
    """Any JSON object."""
    return fields.Dict(**_options(meaning, example, null))


def nested(shape: type[ma.Schema], meaning: str, *, null: bool = False) -> fields.Nested:
    return fields.Nested(shape, required=True, allow_none=null, metadata={"description": meaning})


def many(shape: type[ma.Schema], meaning: str) -> "fields.List[Any]":
    return fields.List(fields.Nested(shape), required=True, metadata={"description": meaning})


def numbers(meaning: str, example: Sequence[int], *, null: bool = False) -> "fields.List[Any]":
    return fields.List(fields.Integer(), **_options(meaning, list(example), null))


def objects(meaning: str) -> "fields.List[Any]":
    """JSON objects of any kind."""
    return fields.List(fields.Dict(), required=True, metadata={"description": meaning})


def texts(meaning: str, example: Sequence[str]) -> "fields.List[Any]":
    return fields.List(fields.String(), **_options(meaning, list(example), False))


@cache
def page_of(shape: type[ma.Schema]) -> type[Answer]:
    """A list in pages: `items`, and the cursor of the `next` page."""
    made: type[Answer] = type(
        f"{shape.__name__}Page",
        (Answer,),
        {
            "items": many(shape, "this page's items"),
            "next": text("give it as cursor to get what follows; null at the end", None, null=True),
        },
    )
    return made


class PageQuery(Schema):
    """Which part of a list."""

    limit = Whole(
        1, 200, in_query=True, load_default=50, metadata={"description": "how many items", "example": 50}
    )
    cursor = Text(
        validate=validate.Length(1, 1000, error="must be the `next` of an earlier answer"),
        metadata={"description": "the `next` of the page before"},
    )


def one_of(values: Sequence[str], meaning: str, **options: Any) -> Text:
    """Text out of a few."""
    wrong = f"must be one of {', '.join(values)}"
    shown = {"description": meaning, "example": values[0]}
    return Text(validate=validate.OneOf(values, error=wrong), metadata=shown, **options)
