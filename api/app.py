"""The web application: endpoints, refusals, headers and the request's log line, put together."""

import os
import time
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

import structlog
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Flask, Response, current_app, g, request
from werkzeug.exceptions import HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix

from api import (
    accounts,
    bots,
    comparisons,
    entries,
    errors,
    limits,
    matches,
    once,
    ops,
    pages,
    rankings,
    rules,
    tournaments,
)
from api.blueprint import Api, IdConverter, convert_id, shape_name
from api.front import REFUSAL, Front, request_id
from api.headers import SHARED
from api.kept import Kept
from api.lean import Lean
from api.squeezed import squeezed
from service import log, traces
from service.rates import Rates
from service.settings import Settings
from service.work import HASTY, Arena

TITLE = "Rage Arena"
VERSION = "1"  # of the API; the first part of every path says it too
ROOM_FOR_FORM = 64 << 10  # bytes a form may have beside the bot
LARGEST_JSON = 1 << 20
MOST_DRAINED = 16 << 20
TOKEN_SCHEME = {"type": "http", "scheme": "bearer", "description": "An account's token"}
METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"})
logger = structlog.get_logger("api")


def create_app(settings: Settings | None = None, arena: Arena | None = None) -> Flask:
    """The application. Without arguments it is set up from the environment, and sets up the log."""
    if settings is None and arena is None:
        settings = Settings.from_environment(os.environ)
        log.setup(settings.log_level)
        traces.setup("api")
    if arena is None:
        assert settings is not None
        arena = Arena.open(settings, patience=HASTY)
    app = Flask("api", template_folder="templates", static_folder="static")
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.url_map.converters["id"] = IdConverter
    # A path with two is none of ours, and no reason to send anybody elsewhere.
    app.url_map.merge_slashes = False
    app.config["MAX_CONTENT_LENGTH"] = arena.settings.upload_bytes + ROOM_FOR_FORM
    app.extensions.update(arena=arena, figures=ops.Figures(arena), kept=Kept())
    app.extensions.update(strangers=once.Strangers(arena.clock), rates=Rates.of(arena.settings))
    app.before_request(_begin)
    app.after_request(_finish)
    app.teardown_request(_leave)
    _register(app)
    note = partial(app.extensions["figures"].note, "GET", "kept")
    app.wsgi_app = Front(app.wsgi_app, note=note, lean=Lean(app, arena))  # type: ignore[method-assign, assignment]
    if proxies := arena.settings.proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=proxies)  # type: ignore[method-assign]
    return app


def _register(app: Flask) -> None:
    errors.register(app)
    app.config.update(API_TITLE=TITLE, API_VERSION=VERSION, OPENAPI_VERSION="3.1.0")
    names = MarshmallowPlugin(schema_name_resolver=shape_name)
    api = Api(app, spec_kwargs={"info": {"description": pages.ABOUT}, "marshmallow_plugin": names})
    api.register_converter(IdConverter, convert_id)
    api.spec.components.security_scheme("token", TOKEN_SCHEME)
    for part in (accounts, bots, tournaments, entries, comparisons, matches, rankings, rules, limits):
        api.register_blueprint(part.blp)
    app.register_blueprint(ops.blp)
    app.register_blueprint(pages.blp)
    app.extensions["openapi"] = api.spec.to_dict()


def _begin() -> None:
    g.request_id = request_id(request.headers.get("X-Request-ID", ""))
    g.began = time.perf_counter()
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request=g.request_id)
    g.traced = ExitStack()
    route = f"{request.method} {request.url_rule or 'no such path'}"
    g.span = g.traced.enter_context(traces.span(route, request.headers.items(), request=g.request_id))
    if refusal := request.environ.get(REFUSAL):
        raise refusal
    if request.mimetype != "multipart/form-data":
        request.max_content_length = LARGEST_JSON


def _finish(answer: Response) -> Response:
    answer.headers["X-Request-ID"] = g.request_id
    for name, value in SHARED.items():
        answer.headers.setdefault(name, value)
    answer.headers.setdefault("Cache-Control", _cache_control(answer))
    answer.vary.add("Authorization")
    if request.path.startswith("/api/"):
        squeezed(answer, request, private="Authorization" in request.headers)
    if answer.status_code >= 400:
        _drain()
    _note(answer)
    return answer


def _drain() -> None:
    """Takes what of the body was not read: who is still sending does not read why it was refused."""
    request.max_content_length = MOST_DRAINED
    with suppress(HTTPException, OSError):
        while request.stream.read(1 << 16):
            pass


def _cache_control(answer: Response) -> str:
    """What has an ETag may be kept and must be asked about; what a token was sent for, by its sender only."""
    if "ETag" not in answer.headers:
        return "no-store"
    return "private, no-cache" if "Authorization" in request.headers else "no-cache"


def _note(answer: Response) -> None:
    seconds = time.perf_counter() - g.began
    endpoint = request.endpoint or "none"
    method = request.method if request.method in METHODS else "other"  # anything may be asked with anything
    figures: ops.Figures = current_app.extensions["figures"]
    figures.note(method, endpoint, answer.status_code, seconds)
    facts: dict[str, Any] = {"method": request.method, "path": request.path, "status": answer.status_code}
    logger.info("request", **facts, endpoint=endpoint, ms=round(1000 * seconds, 1))
    traces.answered(g.span, answer.status_code)


def _leave(error: BaseException | None) -> None:
    """Whatever came of the request, its span ends with it."""
    if "traced" in g:
        g.pop("traced").__exit__(type(error) if error else None, error, error and error.__traceback__)
