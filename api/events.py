"""A tournament's events as they happen (Server-Sent Events), to a bounded number of listeners."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import partial

from flask import Response, request

from api.schemas.fields import rfc3339
from service.accounts import Account
from service.errors import ServiceError, TooMany, Unavailable
from service.events import Event, over, since
from service.rates import place
from service.work import Arena

MOST_STREAMS = 32  # a quarter of the server's threads: each listener holds one
MOST_EACH = 12  # from one address
LOOK_EVERY = 0.5  # seconds
HEARTBEAT_EVERY = 10.0  # seconds; also how a listener that went away is noticed
TRY_AGAIN = 5  # seconds


class Room:
    """The places there are for listeners; nobody takes all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

    def enter(self, who: str) -> bool:
        """Take a place, if one is free."""
        with self._lock:
            free = self._taken.total() < MOST_STREAMS and self._taken[who] < MOST_EACH
            self._taken[who] += free
            return free

    def leave(self, who: str) -> None:
        """Give it back."""
        with self._lock:
            self._taken[who] -= 1
            self._taken += Counter()  # who has none is forgotten


_room = Room()


def stream(arena: Arena, tournament_id: str, viewer: Account | None) -> Response:
    """The answer to a listener; 204 if it knows all there is, 503 if there are too many already."""
    after = request.headers.get("Last-Event-ID") or None
    first = since(arena, tournament_id, after, viewer)
    if after is not None and over(first) and not _results(first):
        return Response(status=204)
    if request.method == "HEAD":
        return Response(content_type="text/event-stream")
    who = place(request.remote_addr)
    if not _room.enter(who):
        raise Busy("too many listeners; ask for the tournament itself now and then")
    answer = Response(_told(arena, tournament_id, first, viewer), content_type="text/event-stream")
    answer.headers["X-Accel-Buffering"] = "no"  # a proxy must pass events on at once
    answer.call_on_close(partial(_room.leave, who))
    return answer


class Busy(Unavailable, TooMany):
    """Every listener's place is taken."""

    def __init__(self, message: str) -> None:
        TooMany.__init__(self, message, retry_after=TRY_AGAIN)


def _told(arena: Arena, tournament_id: str, events: list[Event], viewer: Account | None) -> Iterator[bytes]:
    known: dict[str, object] = {}
    spoken = time.monotonic()
    yield b"retry: 2000\n\n"
    while True:
        news = b"".join(written(event) for event in events if _is_new(event, known))
        now = time.monotonic()
        if news or now - spoken >= HEARTBEAT_EVERY:
            spoken = now
            yield news or b": still here\n\n"
        if over(events):
            return
        if not _results(events):
            time.sleep(LOOK_EVERY)
        try:
            events = since(arena, tournament_id, events[-1].id, viewer)
        except ServiceError:
            return  # the listener comes again and is told then what is wrong


def _is_new(event: Event, known: dict[str, object]) -> bool:
    """Results come once; progress and status are told every time, and passed on when they changed."""
    if event.type == "result":
        return True
    said = {name: value for name, value in event.data.items() if name != "eta"}  # a guess is no news
    new = known.get(event.type) != said
    known[event.type] = said
    return new


def _results(events: list[Event]) -> bool:
    return any(event.type == "result" for event in events)


def written(event: Event) -> bytes:
    """An event as it goes over the wire."""
    data = json.dumps(event.data, default=_plain)
    return f"id: {event.id}\nevent: {event.type}\ndata: {data}\n\n".encode()


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return rfc3339(value)
    raise TypeError(f"{type(value)} in an event")
