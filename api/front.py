"""Before everything else: answers that many ask for again and again, kept in memory for a second.

Only what is the same for all: reads without a token. Rankings follow the matches some seconds behind anyway,
so nobody can tell. An answer out of memory is counted but has no line in the log.
"""

import re
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
HOT = frozenset({"/api/v1/rankings"})
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
KEPT = 1.0  # seconds
MOST = 256  # different queries
NOT_IN_304 = {"content-type", "content-length"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer of status 200, and when it was made."""

    headers: Headers
    content: bytes
    tag: str
    made: float

    @property
    def unchanged(self) -> Headers:
        """The headers of the 304 that stands for it."""
        return [(name, value) for name, value in self.headers if name.lower() not in NOT_IN_304]


class Front:
    """Stands before the application, and passes on what it does not know itself."""

    def __init__(
        self,
        application: Application,
        *,
        note: Callable[[int, float], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._application = application
        self._note = note
        self._clock = clock
        self._kept: dict[tuple[str, str], Answer] = {}

    def __call__(self, environ: Environ, start: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path not in HOT or environ["REQUEST_METHOD"] != "GET" or "HTTP_AUTHORIZATION" in environ:
            return self._application(environ, start)
        now = self._clock()
        key = (path, environ.get("QUERY_STRING", ""))
        kept = self._kept.get(key)
        if kept is None or now - kept.made >= KEPT:
            return self._ask(environ, start, key, now)
        return self._tell(kept, environ, start, now)

    def _tell(self, kept: Answer, environ: Environ, start: StartResponse, began: float) -> Iterable[bytes]:
        known = kept.tag in environ.get("HTTP_IF_NONE_MATCH", "")
        mark = ("X-Request-ID", request_id(environ.get("HTTP_X_REQUEST_ID", "")))
        self._note(304 if known else 200, self._clock() - began)
        if known:
            start("304 NOT MODIFIED", [*kept.unchanged, mark])
            return []
        start("200 OK", [*kept.headers, mark])
        return [kept.content]

    def _ask(
        self, environ: Environ, start: StartResponse, key: tuple[str, str], now: float
    ) -> Iterable[bytes]:
        """The application's own answer; kept if it is a whole one."""
        told: list[tuple[str, Headers]] = []

        def listen(status: str, headers: Headers, exc_info: Any = None) -> Any:
            told.append((status, headers))
            return start(status, headers, exc_info) if exc_info else start(status, headers)

        body = self._application(environ, listen)
        status, headers = told[-1]
        if not status.startswith("200"):
            return body
        content = b"".join(body)
        getattr(body, "close", lambda: None)()
        self._keep(key, Answer(_common(headers), content, dict(headers).get("ETag", "none"), now))
        return [content]

    def _keep(self, key: tuple[str, str], answer: Answer) -> None:
        if len(self._kept) >= MOST:
            self._kept = {}
        self._kept[key] = answer


def request_id(given: str) -> str:
    """The id a request came with, if it is fit to be repeated; else a new one."""
    return given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)


def _common(headers: Headers) -> Headers:
    return [(name, value) for name, value in headers if name.lower() != "x-request-id"]
