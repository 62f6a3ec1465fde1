"""Requests to the HTTP API and what may come of them, on the standard library alone.

Answers are the API's JSON as dicts. A refusal is a `ProblemError`; a server that cannot be reached is
`Unreachable`, after reads were tried again for a little while.
"""

import http.client
import json
import secrets
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

from api.refusals import ClientError, ProblemError, Unreachable

PREFIX = "/api/v1"
PATIENCE = 3.0  # seconds in which a read is tried again
PAUSES = (0.1, 0.2, 0.5, 1.0)
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Transport:
    """One server, and the token calls are made with. Every call is a connection of its own.

    `prefix` stands before every path.
    """

    prefix = PREFIX

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 30.0) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname or not _has_port(parts):
            raise ClientError(f"{url} is no address of a server; it should look like http://127.0.0.1:8000")
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self.token = token
        self._timeout = timeout
        self._parts = parts

    def get(self, path: str, **query: Any) -> Json:
        """A JSON answer; parameters that are None are left out."""
        return _json(self.read(path, **query))

    def pages(self, path: str, **query: Any) -> Iterator[Json]:
        """All items of a list, page by page."""
        page = self.get(path, **query)
        yield from page["items"]
        while page["next"] is not None:
            page = self.get(path, **{**query, "cursor": page["next"]})
            yield from page["items"]

    def read(self, path: str, **query: Any) -> Answer:
        """Any answer to a GET, tried again for a little while when the server is away or not ready."""
        given = {name: value for name, value in query.items() if value is not None}
        target = f"{path}?{urlencode(given)}" if given else path
        limit, pauses = time.monotonic() + PATIENCE, iter(PAUSES)
        while True:
            try:
                return self.call("GET", target)
            except (Unreachable, ProblemError) as error:
                away = isinstance(error, Unreachable) or error.status == 503
                pause = next(pauses, PAUSES[-1])
                if not away or time.monotonic() + pause > limit:
                    raise
            time.sleep(pause)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Json:
        """A JSON answer to a POST."""
        return self._send("POST", path, body)

    def patch(self, path: str, body: Mapping[str, Any]) -> Json:
        """A JSON answer to a PATCH."""
        return self._send("PATCH", path, body)

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None) -> Json:
        if body is None:
            return _json(self.call(method, path))
        content = json.dumps(body).encode()
        return _json(self.call(method, path, content, {"Content-Type": "application/json"}))

    def call(
        self, method: str, path: str, content: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request, one answer. Raises `ProblemError`, `Unreachable`. Follows no redirection."""
        connection = self._connection()
        try:
            answer = self._request(connection, method, path, headers or {}, content)
            told = Answer(answer.status, dict(answer.headers), answer.read())
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.url} does not answer: {_reason(error)}") from error
        finally:
            connection.close()
        _raise_for(told)
        return told

    def stream(self, path: str, headers: Mapping[str, str]) -> Iterator[Json]:
        """Server-Sent Events as they come. Raises `ProblemError`, `Unreachable`."""
        connection = self._connection()
        try:
            answer = self._request(connection, "GET", path, headers)
            if answer.status != 200:
                _raise_for(Answer(answer.status, dict(answer.headers), answer.read()))
                return
            yield from _events(answer)
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.url} broke off: {_reason(error)}") from error
        finally:
            connection.close()

    def send_form(self, path: str, fields: Mapping[str, str], filename: str, content: bytes) -> Json:
        """A JSON answer to a form with the file `code`."""
        kind, body = form(fields, filename, content)
        return _json(self.call("POST", path, body, {"Content-Type": kind}))

    def _connection(self) -> http.client.HTTPConnection:
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return kind(self._parts.hostname or "", self._parts.port, timeout=self._timeout)

    def _request(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        headers: Mapping[str, str],
        content: bytes | None = None,
    ) -> http.client.HTTPResponse:
        signed = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        target = self._parts.path.rstrip("/") + self.prefix + path
        connection.request(method, target, content, {"Accept": "*/*", **signed, **headers})
        return connection.getresponse()


def _has_port(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


def _reason(error: Exception) -> str:
    """Why nothing came back, without the operating system's numbers."""
    if isinstance(error, ssl.SSLError):
        if error.reason == "WRONG_VERSION_NUMBER":
            return "it speaks no TLS; is its address http://...?"
        return f"TLS: {getattr(error, 'verify_message', '') or error.reason or error}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


def form(fields: Mapping[str, str], filename: str, content: bytes) -> tuple[str, bytes]:
    """Content type and body of a form with the file `code`."""
    boundary = secrets.token_hex(16)
    name = filename.replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", " ")
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
        for field, value in fields.items()
    ]
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="code"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    body = "".join(parts).encode() + content + f"\r\n--{boundary}--\r\n".encode()
    return f"multipart/form-data; boundary={boundary}", body


def _json(answer: Answer) -> Json:
    try:
        return dict(json.loads(answer.content))
    except ValueError as error:
        raise ClientError(f"the answer is not JSON ({error}); is this a Rage Arena?") from error


def _raise_for(answer: Answer) -> None:
    if answer.status < 300:
        return
    try:
        told = json.loads(answer.content)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        told = {}
    title = str(told.get("title") or http.client.responses.get(answer.status, "refused"))
    detail = str(told.get("detail") or f"{answer.status} {title}")
    raise ProblemError(answer.status, title, detail, told.get("errors") or {})


def _events(lines: http.client.HTTPResponse) -> Iterator[Json]:
    event: dict[str, str] = {}
    for line in lines:
        name, _, value = line.decode().rstrip("\r\n").partition(": ")
        if name in ("id", "event", "data"):
            event[name] = value
        elif not name and "data" in event:
            yield {"id": event.get("id"), "type": event.get("event"), "data": json.loads(event["data"])}
            event = {}
