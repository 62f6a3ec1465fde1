"""Forms: read with the API's own schemas, so that the same input is right or wrong for the same reasons."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flask import Response, make_response, render_template, request
from marshmallow import Schema, ValidationError

from api.bodies import flat
from service.errors import Conflict, Forbidden, Invalid, TooLarge, TooMany, Unauthorized

TOP = ""  # reasons that belong to no field


@dataclass(frozen=True, slots=True)
class Form:
    """What was typed, and what is wrong with it: field -> reasons."""

    typed: Mapping[str, Any] = field(default_factory=dict)
    wrong: Mapping[str, list[str]] = field(default_factory=dict)

    def value(self, name: str, default: Any = "") -> Any:
        """What a field shows."""
        return self.typed.get(name, default)

    def reasons(self, name: str) -> list[str]:
        """What is wrong with a field or what lies below it."""
        below = [
            f"{path.removeprefix(name).lstrip('.')}: {reason}"
            for path, reasons in self.wrong.items()
            if path.startswith(name + ".")
            for reason in reasons
        ]
        return [*self.wrong.get(name, []), *below]


def answer(
    act: Callable[[], str | Response], again: Callable[[Form], str], typed: Mapping[str, Any]
) -> Response:
    """Does what a form asks and goes where that leads, or shows the form again with all that is wrong."""
    try:
        done = act()
    except Invalid as refusal:
        return make_response(again(Form(typed, refusal.errors)), 422)
    except (Conflict, Forbidden, TooLarge, TooMany, Unauthorized) as refusal:
        return make_response(again(Form(typed, {TOP: [str(refusal)]})), 409)
    return go(done) if isinstance(done, str) else done


def go(path: str) -> Response:
    """On to another page, which is asked for anew."""
    return Response(status=303, headers={"Location": path})


def load(schema: type[Schema], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values through an API schema; raises `Invalid` with every field."""
    try:
        loaded: dict[str, Any] = schema().load(dict(values))
    except ValidationError as error:
        raise Invalid(dict(flat(error.messages_dict))) from None
    return loaded


def typed() -> dict[str, Any]:
    """The text fields as they were typed."""
    return {name: request.form[name] for name in request.form}


def page(template: str, **facts: Any) -> Callable[[Form], str]:
    """A page that shows a form."""
    return lambda form: render_template(template, form=form, **facts)
