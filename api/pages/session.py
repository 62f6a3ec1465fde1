"""Who sits before the browser: a cookie that only the server understands, forms that only our pages send."""

import hmac
from urllib.parse import urlsplit

from flask import Response, g, request

from api import rates
from api.context import arena
from service import sessions
from service.errors import Forbidden

COOKIE = "rage_session"
FIELD = "form_key"
FILES = ("pages.asset", "pages.favicon")  # not counted: each is asked for once and then kept
OPEN_FORMS = ("pages.sign_in", "pages.register")  # may have been opened before another tab signed in


def know() -> None:
    """Before every page: who looks, and whether that is too often.

    A form that did not come from one of our pages is refused.
    """
    g.session_key = request.cookies.get(COOKIE)
    g.account = sessions.account_of(arena(), g.session_key) if g.session_key else None
    if g.account is None:
        g.session_key = None
    if request.endpoint not in FILES:
        rates.count()
    if request.method not in ("GET", "HEAD", "OPTIONS"):
        _check_origin()
        if g.account is not None and request.endpoint not in OPEN_FORMS:
            _check_form()


def form_key() -> str:
    """What the forms of this page carry; empty for strangers."""
    return sessions.form_key(g.session_key) if getattr(g, "session_key", None) else ""


def give(answer: Response, key: str) -> Response:
    """Lets a browser keep a session: no script sees it, no other site sends it along with a form.

    The one it had before ends.
    """
    if (before := request.cookies.get(COOKIE)) and before != key:
        sessions.end(arena(), before)
    lasts = int(sessions.LASTS.total_seconds())
    secure = request.is_secure or (request.origin or "").startswith("https://")  # a proxy may end TLS
    answer.set_cookie(COOKIE, key, max_age=lasts, httponly=True, samesite="Lax", secure=secure)
    return answer


def take(answer: Response) -> Response:
    """Ends the session of this browser."""
    if g.session_key:
        sessions.end(arena(), g.session_key)
    answer.delete_cookie(COOKIE, httponly=True, samesite="Lax")
    return answer


def _check_origin() -> None:
    """Browsers say where a form comes from; another site's is refused, signed in or not."""
    origin = request.origin
    foreign = origin is not None and urlsplit(origin).netloc != request.host
    if foreign or request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        raise Forbidden("this form came from another site; open it here and send it again")


def _check_form() -> None:
    if not hmac.compare_digest(request.form.get(FIELD, "").encode(), form_key().encode()):
        raise Forbidden("this page was opened before you signed in; go back, reload it, and send it again")
