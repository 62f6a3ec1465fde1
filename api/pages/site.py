"""What all pages share: their headers, how they are kept and squeezed, their files, and how refusals look."""

import hashlib
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from flask import (
    Blueprint,
    Response,
    g,
    make_response,
    render_template,
    request,
    send_from_directory,
    url_for,
)

from api.context import arena
from api.errors import PROBLEM
from api.pages import session
from api.squeezed import squeezed
from service.errors import Unauthorized

ABOUT = "Tournaments for programs that play the card game Rage: upload a bot, enter it, see how good it is."
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
STATIC = Path(__file__).parent.parent / "static"
FOR_EVER = "public, max-age=31536000, immutable"
OPEN_TO_ALL = {"pages.home", "pages.docs", "pages.bots", "pages.openapi", "pages.favicon", "pages.asset"}
OPEN_TO_ALL |= {"pages.sign_in_page", "pages.sign_in", "pages.register", "pages.sign_out"}

blp = Blueprint("pages", __name__)


@cache
def tag() -> str:
    """Changes when any of the pages' files does; part of their addresses, so that browsers may keep them."""
    digest = hashlib.sha256()
    for file in sorted(STATIC.rglob("*")):
        if file.is_file():
            digest.update(file.relative_to(STATIC).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


@blp.get("/assets/<mark>/<path:name>")
def asset(mark: str, name: str) -> Response:
    """A file of the pages."""
    answer = send_from_directory(STATIC, name)
    answer.headers["Cache-Control"] = FOR_EVER if mark == tag() else "no-cache"
    return answer


@blp.before_request
def _know() -> None:
    """Who looks, and whether strangers may."""
    session.know()
    if g.account is None and not arena().settings.public_read and request.endpoint not in OPEN_TO_ALL:
        raise Unauthorized("Reading is for those who signed in here.")


@blp.after_request
def _finish(answer: Response) -> Response:
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["Referrer-Policy"] = (
        "same-origin"  # without it a browser does not say where a form comes from
    )
    answer.vary.add("Cookie")
    if g.account is not None:
        answer.headers.setdefault("Cache-Control", "private, no-cache")
    if request.method in ("GET", "HEAD") and answer.status_code == 200 and not answer.is_streamed:
        _keep(answer)
    return answer


def _keep(answer: Response) -> None:
    """May be kept and is asked about again; squeezed unless it holds what is one person's."""
    if "ETag" not in answer.headers:
        answer.add_etag(weak=True)
    answer.make_conditional(request)
    squeezed(answer, request, private=g.account is not None)


@blp.after_app_request
def _readable(answer: Response) -> Response:
    """A refusal of a page is a page too, for those who read pages."""
    asked = request.accept_mimetypes.best_match([PROBLEM, "application/json", "text/html"])
    if answer.mimetype != PROBLEM or asked != "text/html" or request.path.startswith("/api/"):
        return answer
    told = answer.get_json(force=True)
    page = make_response(render_template("error.html", problem=told), answer.status_code)
    for name, value in answer.headers.items():
        if name.lower() not in ("content-type", "content-length"):
            page.headers.add(name, value)
    page.headers["Content-Security-Policy"] = POLICY
    return page


# What templates say in a few letters.


def moment(value: datetime | None) -> str:
    """A time for people, in UTC; scripts put the reader's own in its place."""
    return "" if value is None else value.strftime("%d %b %Y, %H:%M")


def count(value: int) -> str:
    """A whole number with its thousands apart."""
    return f"{value:,}".replace(",", "\u202f").replace("-", "\u2212")


def signed(value: float | None, digits: int = 1) -> str:
    """A number with its sign; a true minus."""
    if value is None:
        return ""
    text = f"{value:+.{digits}f}"
    return text.replace("-", "\u2212") if float(text) else f"{0:.{digits}f}"


def named(line: Any) -> str:
    """A bot with its version."""
    name = getattr(line, "bot", None) or line.name
    return name if line.version is None else f"{name} v{line.version}"


@blp.app_context_processor
def _shared() -> dict[str, Any]:
    who = getattr(g, "account", None)
    return {"tag": tag(), "who": who, "about": ABOUT, "menu": menu(), "form_key": session.form_key}


def menu() -> list[tuple[str, str]]:
    """What the head of every page leads to."""
    ends = {
        "Tournaments": "tournament_list",
        "Rankings": "ranking",
        "Compare": "compare",
        "Bots": "bot_list",
        "Writing bots": "bots",
    }
    return [(text, url_for(f"pages.{end}")) for text, end in ends.items()]


def lasting(seconds: float) -> str:
    """A while, for people."""
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            number = round(seconds / size)
            return f"{number} {name}{'s' if number != 1 else ''}"
    return f"{max(1, round(seconds))} s"


blp.add_app_template_filter(lasting)
blp.add_app_template_filter(moment)
blp.add_app_template_filter(count)
blp.add_app_template_filter(signed)
blp.add_app_template_filter(named)
