"""Before everything else: answers that many ask for again and again, kept in memory for a second.

Only what is the same for all: reads without a token or a cookie. Rankings follow the matches some seconds
behind anyway, so nobody can tell. An answer out of memory is in the figures but has no line in the log, and
is not held against who asks (`api.rates`): it takes no query, and to count it would cost more than it does.
"""

import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from api.squeezed import WORTH_IT, squeeze
from service.errors import ServiceError

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
Lean = Callable[[str, str | None], tuple[Headers, bytes] | None]
API = "/api/v1/rankings"
PAGES = frozenset({"/", "/rankings"})
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
KEPT = 1.0  # seconds
MOST = 512  # different queries
ROOM = 32 << 20  # bytes of all that is kept
REFUSAL = "rage.refusal"  # in an environ: why it was refused already
NOT_IN_304 = {"content-type", "content-length"}
OURS = {"x-request-id", "content-length", "date"}
CONDITIONS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_ACCEPT_ENCODING", "HTTP_RANGE")


@dataclass(slots=True)
class Answer:
    """A whole answer of status 200, and when it was made."""

    headers: Headers
    content: bytes
    made: float
    tag: str = ""
    squeezed: bytes | None = None

    def __post_init__(self) -> None:
        tag = next((value for name, value in self.headers if name == "ETag"), "none")
        self.tag = tag.removeprefix("W/")

    @property
    def unchanged(self) -> Headers:
        """The headers of the 304 that stands for it."""
        return [(name, value) for name, value in self.headers if name.lower() not in NOT_IN_304]

    def body(self, environ: Environ) -> bytes:
        """As the reader takes it."""
        if not _takes_gzip(environ) or len(self.content) <= WORTH_IT:
            return self.content
        if self.squeezed is None:
            self.squeezed = squeeze(self.content)
        return self.squeezed

    def whole(self, environ: Environ) -> Headers:
        """The headers that go with that body; what is squeezed is the same in content only."""
        body = self.body(environ)
        headers = [*self.headers, ("Content-Length", str(len(body)))]
        if body is self.content:
            return headers
        weak = [(name, f"W/{self.tag}" if name == "ETag" else value) for name, value in headers]
        return [*weak, ("Content-Encoding", "gzip")]


class Front:
    """Stands before the application, and passes on what it does not know itself.

    `lean` writes most rankings without the application; None: it has to be asked.
    """

    def __init__(
        self,
        application: Application,
        *,
        note: Callable[[int, float], None],
        lean: Lean = lambda query, address: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._application = application
        self._note = note
        self._lean = lean
        self._clock = clock
        self._kept: dict[tuple[str, ...], Answer] = {}
        self._size = 0
        self._lock = threading.Lock()

    def __call__(self, environ: Environ, start: StartResponse) -> Iterable[bytes]:
        key = _key(environ)
        if key is None:
            return self._application(environ, start)
        now = self._clock()
        kept = self._kept.get(key)
        if kept is None or now - kept.made >= KEPT:
            kept = self._written(environ, now)
            if kept is None:
                return self._asked(environ, start, key, now)
            self._keep(key, kept)
        status = _tell(kept, environ, start)
        self._note(status, self._clock() - now)
        return [b"" if status == 304 else kept.body(environ)]

    def _written(self, environ: Environ, now: float) -> Answer | None:
        """Without the application, if that can be; what refuses it, the application is to say."""
        if environ["PATH_INFO"] != API:
            return None
        try:
            lean = self._lean(environ.get("QUERY_STRING", ""), environ.get("REMOTE_ADDR"))
        except ServiceError as error:
            environ[REFUSAL] = error
            return None
        return Answer(*lean, made=now) if lean else None

    def _asked(
        self, environ: Environ, start: StartResponse, key: tuple[str, ...], now: float
    ) -> Iterable[bytes]:
        """The application's own answer, whole and plain whoever asks; kept if it is one for all."""
        told: list[tuple[str, Headers]] = []

        def listen(status: str, headers: Headers, exc_info: Any = None) -> Any:
            told.append((status, headers))
            return lambda data: None

        environ["HTTP_X_REQUEST_ID"] = request_id(environ.get("HTTP_X_REQUEST_ID", ""))
        plain = {name: value for name, value in environ.items() if name not in CONDITIONS}
        body = self._application(plain, listen)
        content = b"".join(body)
        getattr(body, "close", lambda: None)()
        status, headers = told[-1]
        if not status.startswith("200") or "Set-Cookie" in dict(headers):
            start(status, headers)
            return [content]
        answer = Answer([each for each in headers if each[0].lower() not in OURS], content, now)
        self._keep(key, answer)
        return [b"" if _tell(answer, environ, start) == 304 else answer.body(environ)]

    def _keep(self, key: tuple[str, ...], answer: Answer) -> None:
        with self._lock:
            before = self._kept.get(key)
            self._size += len(answer.content) - (len(before.content) if before else 0)
            if (before is None and len(self._kept) >= MOST) or self._size > ROOM:
                self._kept, self._size = {}, len(answer.content)
            self._kept[key] = answer


def request_id(given: str) -> str:
    """The id a request came with, if it is fit to be repeated; else a new one."""
    return given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)


def _key(environ: Environ) -> tuple[str, ...] | None:
    """What the answer depends on; None where it is not for all. Pages name the host they were asked at."""
    path = environ["PATH_INFO"]
    if environ["REQUEST_METHOD"] != "GET" or "HTTP_AUTHORIZATION" in environ:
        return None
    query = environ.get("QUERY_STRING", "")
    if path == API:
        return path, query
    if path in PAGES and "HTTP_COOKIE" not in environ:
        return path, query, environ["wsgi.url_scheme"], environ.get("HTTP_HOST", "")
    return None


def _tell(kept: Answer, environ: Environ, start: StartResponse) -> int:
    """Begin the answer; its status."""
    mark = ("X-Request-ID", request_id(environ.get("HTTP_X_REQUEST_ID", "")))
    if kept.tag in environ.get("HTTP_IF_NONE_MATCH", ""):
        start("304 NOT MODIFIED", [*kept.unchanged, mark])
        return 304
    start("200 OK", [*kept.whole(environ), mark])
    return 200


def _takes_gzip(environ: Environ) -> bool:
    """Whether the reader takes gzip: named, and not with the weight that refuses it."""
    for part in environ.get("HTTP_ACCEPT_ENCODING", "").split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
