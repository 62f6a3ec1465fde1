"""Every refusal as application/problem+json (RFC 9457): the verbs' own, Flask's, and our own failures."""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import structlog
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from api.context import arena
from service.errors import (
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    ServiceError,
    TooLarge,
    TooMany,
    Unauthorized,
    Unavailable,
)

PROBLEM = "application/problem+json"
RETRY_SOON = 2  # seconds a client should wait when the database or the broker is away
STATUSES: Mapping[type[ServiceError], HTTPStatus] = {
    Invalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    Unauthorized: HTTPStatus.UNAUTHORIZED,
    Forbidden: HTTPStatus.FORBIDDEN,
    NotFound: HTTPStatus.NOT_FOUND,
    Conflict: HTTPStatus.CONFLICT,
    Gone: HTTPStatus.GONE,
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    TooMany: HTTPStatus.TOO_MANY_REQUESTS,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}
DETAILS = {
    404: "There is nothing at this path; /docs lists what there is.",
    405: "This path does not know this method; the header Allow lists those it knows.",
}
MIB = 1024 * 1024
SET_HERE = {"content-type", "content-length"}

log = structlog.get_logger(__name__)


def problem(
    status: int,
    detail: str,
    *,
    errors: Mapping[str, Sequence[str]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem document."""
    told: dict[str, Any] = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status}
    told["detail"] = detail
    if errors is not None:
        told["errors"] = errors
    answer = Response(json.dumps(told), status=status, content_type=PROBLEM)
    answer.headers.extend(headers or {})
    return answer


def register(app: Flask) -> None:
    """No exception leaves the application: each becomes a problem document."""
    app.register_error_handler(ServiceError, _refused)
    app.register_error_handler(HTTPException, _refused_by_flask)
    app.register_error_handler(Exception, _failed)


def _refused(refusal: ServiceError) -> Response:
    status = next((STATUSES[kind] for kind in type(refusal).__mro__ if kind in STATUSES), None)
    if status is None:
        return _failed(refusal)
    if isinstance(refusal, Invalid):
        return problem(status, "Some fields are wrong; see errors.", errors=refusal.errors)
    return problem(status, str(refusal), headers=_advice(refusal))


def _advice(refusal: ServiceError) -> dict[str, str]:
    """The header that tells the client what to do next."""
    if isinstance(refusal, Unauthorized):
        return {"WWW-Authenticate": 'Bearer realm="rage"'}
    if isinstance(refusal, TooMany):
        return {"Retry-After": str(refusal.retry_after)}
    if isinstance(refusal, Unavailable):
        return {"Retry-After": str(RETRY_SOON)}
    return {}


def _refused_by_flask(error: HTTPException) -> Any:
    given = error.get_response()
    if error.code is None or error.code < 400:
        return given  # a redirection is no problem
    detail = _too_large() if error.code == 413 else DETAILS.get(error.code)
    answer = problem(error.code, detail or error.description or "")
    for name, value in given.headers.items():  # Allow of a 405 and the like
        if name.lower() not in SET_HERE:
            answer.headers.add(name, value)
    return answer


def _too_large() -> str:
    form = request.mimetype == "multipart/form-data"
    most = arena().settings.upload_bytes if form else request.max_content_length or 0
    what = "a bot" if form else "a body"
    return f"The body is larger than is allowed here: {what} may have at most {most / MIB:.3g} MiB."


def _failed(error: Exception) -> Response:
    log.error("request failed", exc_info=error)
    return problem(500, "Something went wrong here, not on your side. It was logged under X-Request-ID.")
