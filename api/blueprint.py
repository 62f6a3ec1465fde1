"""How an endpoint is declared: its path, what goes in and what comes out. The OpenAPI document follows.

The only file that knows flask-smorest.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import flask_smorest  # type: ignore[import-untyped]
from flask import g, make_response, request
from marshmallow import Schema
from werkzeug.routing import BaseConverter

from api.bodies import FORM, Parser
from api.context import account
from api.errors import PROBLEM
from api.once import HEADER, once
from api.rates import identify
from api.schemas.fields import Schema as Asked
from api.schemas.fields import example_of
from api.schemas.problem import Problem
from service.accounts import Scope

LAST_EVENT = {
    "in": "header",
    "name": "Last-Event-ID",
    "required": False,
    "description": "the id of the last event that was seen",
    "schema": {"type": "string"},
}
EVENTS = {"description": "lines `id`, `event` and `data`, which is JSON, for each event"}
View = Callable[..., Any]
Declared = Callable[[View], View]
SIGNED = [{"token": list[str]()}]
KEY_PARAMETER = {
    "in": "header",
    "name": HEADER,
    "required": False,
    "description": "Up to 200 characters; the same again within a day gets the first answer again.",
    "schema": {"type": "string", "pattern": "^[ -~]{1,200}$"},
    "example": "f3b1c7e2",
}


class IdConverter(BaseConverter):
    """An opaque id in a path; what cannot be one names nothing."""

    regex = "[A-Za-z0-9_-]{1,80}"


class Api(flask_smorest.Api):  # type: ignore[misc]
    """smorest's, with our problem documents as the error answers."""

    def _register_responses(self) -> None:
        content = {PROBLEM: {"schema": Problem}}
        self.spec.components.response("Refused", {"description": "A refusal", "content": content})

    def _register_pagination_header(self) -> None:
        """Pages say in their body what follows."""

    def _register_error_handlers(self) -> None:
        """api.errors has them."""


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """A capability's endpoints: `get`, `post`, `patch` and `delete` say all there is to say about one."""

    ARGUMENTS_PARSER = Parser()
    DEFAULT_LOCATION_CONTENT_TYPE_MAPPING = {  # noqa: RUF012
        "json": "application/json",
        FORM: "multipart/form-data",
    }

    def __init__(self, name: str, description: str, *, scope: Scope | None = None) -> None:
        """`scope`: what a token must be for; without it the sender is a stranger here."""
        super().__init__(name, __name__, url_prefix="/api/v1", description=description)
        self.before_request(lambda: setattr(g, "scope", scope))
        self.before_request(identify)
        self._prepare_doc_cbks.append(_document_refusals)

    def get(
        self,
        rule: str,
        answer: type[Schema] | None,
        *,
        query: type[Schema] | None = None,
        also: str | None = None,
        cached: bool = False,
        signed: bool = False,
        file: bool = False,
        stream: bool = False,
    ) -> Declared:
        """Something to read. `also`: another content type it may come in; `cached`: with an ETag."""
        kind = "application/octet-stream" if file else "text/event-stream" if stream else None

        def declare(view: View) -> View:
            bare = EVENTS if stream else {"type": "string"} if file else None
            told = self.response(200, answer or bare, content_type=kind)(view)
            if stream:
                told = self.alt_response(204, description="Nothing is left to be told")(told)
                told = self.doc(parameters=[LAST_EVENT])(told)
            if also is not None:
                told = self.alt_response(200, schema={"type": "string"}, content_type=also)(told)
            if query is not None:
                told = self.arguments(query, location="query")(told)
            if cached:
                told = self.alt_response(304, description="Not changed since")(_conditional(told))
            return self._declared(rule, "GET", _signed(told) if signed else told, view)

        return declare

    def post(
        self,
        rule: str,
        answer: type[Schema],
        *,
        status: int = 200,
        body: type[Asked] | None = None,
        form: type[Schema] | None = None,
        query: type[Schema] | None = None,
        tried: type[Schema] | None = None,
        open_to_all: bool = False,
    ) -> Declared:
        """Something to do, with a JSON body or a form; needs a token unless it is open to all.

        `tried`: the answer (200) of a request that only tries, which the view gives as a `Response`.
        """

        def declare(view: View) -> View:
            told = self.response(status, answer)(view)
            if tried is not None:
                told = self.alt_response(200, schema=tried)(told)
            if query is not None:
                told = self.arguments(query, location="query")(told)
            if body is not None:
                told = self.arguments(body, example=example_of(body))(told)
            if form is not None:
                told = self.arguments(form, location=FORM)(told)
            told = self.doc(parameters=[KEY_PARAMETER])(once(told))
            if not open_to_all:
                told = _signed(told)
            return self._declared(rule, "POST", told, view)

        return declare

    def patch(self, rule: str, answer: type[Schema], *, body: type[Asked]) -> Declared:
        """Something to change; the same again changes nothing more."""

        def declare(view: View) -> View:
            told = self.arguments(body, example=example_of(body))(self.response(200, answer)(view))
            return self._declared(rule, "PATCH", _signed(told), view)

        return declare

    def delete(self, rule: str) -> Declared:
        """Something to take away; no answer but 204."""

        def declare(view: View) -> View:
            return self._declared(rule, "DELETE", _signed(self.response(204)(view)), view)

        return declare

    def _declared(self, rule: str, method: str, told: View, view: View) -> View:
        names = self.doc(operationId=view.__name__)(told)
        self.route(rule, methods=[method])(names)
        return view


def _signed(view: View) -> View:
    """Strangers are turned away before anything of the request is read."""

    @wraps(view)
    def checked(*args: Any, **kwargs: Any) -> Any:
        account()
        return view(*args, **kwargs)

    return flask_smorest.Blueprint.doc(security=SIGNED)(checked)  # type: ignore[no-any-return]


def _conditional(view: View) -> View:
    """Adds an ETag and answers 304 to who has it already."""

    @wraps(view)
    def tagged(*args: Any, **kwargs: Any) -> Any:
        answer = make_response(view(*args, **kwargs))
        answer.add_etag()
        return answer.make_conditional(request)

    return tagged


def _document_refusals(doc: dict[str, Any], _: Mapping[str, Any], **__: Any) -> dict[str, Any]:
    """Refusals look alike everywhere, so one entry tells of all of them."""
    answers = doc.setdefault("responses", {})
    answers.pop(422, None)
    answers["default"] = "Refused"
    return doc


def shape_name(shape: type[Schema] | Schema) -> str:
    """What a schema is called in the document."""
    kind = shape if isinstance(shape, type) else type(shape)
    return kind.__name__.replace("Answer", "")


def convert_id(_: BaseConverter) -> dict[str, str]:
    """An id in a path, for the document."""
    return {"type": "string", "pattern": f"^{IdConverter.regex}$"}
