"""Idempotency-Key: a POST that was sent twice acts once and is answered alike.

Answers to accounts are kept in the database. An answer that holds a token, of which only a hash may be
stored, is kept in this process's memory, and only under a key that nobody else could guess.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any, Protocol

from flask import Response, current_app, make_response, request

from api.context import arena, caller
from service import idempotency
from service.errors import Conflict, Invalid, Unavailable
from service.idempotency import KEPT, Answer
from service.work import Arena

HEADER = "Idempotency-Key"
SECRETS = ("accounts.register", "accounts.issue")  # answers with a token, which the database never may hold
LONGEST = 200
UNGUESSABLE = 16  # characters a stranger's key needs
MOST_STRANGERS = 1000

_lock = threading.Lock()
_under_way: set[tuple[str, str]] = set()


def once(view: Callable[..., Any]) -> Callable[..., Any]:
    """Gives the first answer again to the same key and body; only successes are remembered."""

    @wraps(view)
    def answered(*args: Any, **kwargs: Any) -> Any:
        key = request.headers.get(HEADER)
        if key is None:
            return view(*args, **kwargs)
        _check(key)
        who = caller()
        whose = who.id if who else ""
        memory: Memory = current_app.extensions["strangers"]
        if who and request.endpoint not in SECRETS:
            memory = _Kept(arena(), who.id)
        elif who:  # by token: one that is for less must not get at the answer to one that is for more
            key = f"{whose} {_sent_with()} {key}"
        with _alone(whose, key):
            return _answer(memory, key, lambda: make_response(view(*args, **kwargs)))

    return answered


class Memory(Protocol):
    """Where first answers are kept."""

    def recall(self, key: str, mark: str) -> Answer | None:
        """The first answer; raises `Conflict` if it was to another request."""

    def keep(self, key: str, mark: str, told: Answer) -> None:
        """Keep the first answer."""


def _answer(memory: Memory, key: str, act: Callable[[], Response]) -> Response:
    mark = fingerprint()
    known = memory.recall(key, mark)
    if known is not None:
        return Response(known.body, status=known.status, content_type="application/json")
    answer = act()
    if answer.status_code < 300:
        with suppress(Unavailable):  # what was done was done: no answer may ask to do it again
            memory.keep(key, mark, Answer(answer.status_code, answer.get_data()))
    return answer


@dataclass(frozen=True, slots=True)
class _Kept:
    """In the database, by account."""

    arena: Arena
    who: str

    def recall(self, key: str, mark: str) -> Answer | None:
        return idempotency.remembered(self.arena, self.who, key, mark)

    def keep(self, key: str, mark: str, told: Answer) -> None:
        idempotency.remember(self.arena, self.who, key, mark, told)


class Strangers:
    """In memory, the latest thousand."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._told: OrderedDict[str, tuple[datetime, str, Answer]] = OrderedDict()

    def recall(self, key: str, mark: str) -> Answer | None:
        when, first, told = self._told.get(key, (None, "", None))
        if when is None or self._clock() - when > KEPT:
            return None
        if first != mark:
            raise Conflict("this Idempotency-Key was used for another request; take a new one")
        return told

    def keep(self, key: str, mark: str, told: Answer) -> None:
        if len(key) < UNGUESSABLE:
            return
        self._told[key] = (self._clock(), mark, told)
        while len(self._told) > MOST_STRANGERS:
            self._told.popitem(last=False)


def fingerprint() -> str:
    """What was asked for, as a hash: a boundary between parts of a form may differ, their content not."""
    digest = hashlib.sha256(f"{request.method} {request.full_path}\n".encode())
    if request.mimetype != "multipart/form-data":
        digest.update(request.get_data(cache=True))
        return digest.hexdigest()
    for name, value in sorted(request.form.items(multi=True), key=repr):  # a name may be missing
        digest.update(repr((name, value)).encode())
    for name, file in sorted(request.files.items(multi=True), key=lambda item: repr(item[0])):
        content = hashlib.sha256(file.stream.read()).hexdigest()
        file.stream.seek(0)
        digest.update(repr((name, file.filename, content)).encode())
    return digest.hexdigest()


def _sent_with() -> str:
    return hashlib.sha256(request.headers.get("Authorization", "").encode()).hexdigest()


def _check(key: str) -> None:
    if not (1 <= len(key) <= LONGEST and key.isascii() and key.isprintable()):
        raise Invalid({HEADER: [f"must be 1 to {LONGEST} printable ASCII characters"]})


@contextmanager
def _alone(who: str, key: str) -> Iterator[None]:
    """Two requests with one key at the same time: the second is turned away."""
    with _lock:
        if (who, key) in _under_way:
            raise Conflict("A request with this Idempotency-Key is under way; send it again in a moment.")
        _under_way.add((who, key))
    try:
        yield
    finally:
        with _lock:
            _under_way.discard((who, key))
