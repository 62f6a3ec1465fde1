"""Patience with a server that is being started again: said once, then tried again for minutes.

A single call gives up after seconds (`api.transport`); who waits for something long outlives a restart.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from api.refusals import ClientError, ProblemError, Unreachable

PATIENCE = 180.0  # seconds a server may be away
PAUSE = 1.0
AWAY = (502, 503, 504)  # its own word for it, and that of a proxy before it
Found = TypeVar("Found")


def silent(words: str) -> None:
    """Says nothing."""


class Patience:
    """Asks until there is an answer; `say` gets one sentence when the server goes and one when it is back."""

    def __init__(self, say: Callable[[str], None] = silent) -> None:
        self._say = say
        self._since: float | None = None

    def ask(self, look: Callable[[], Found]) -> Found:
        """What `look` finds; raises `ClientError` if asking again would not help, or not for so long."""
        while True:
            try:
                found = look()
            except ClientError as error:
                self._wait(error)
            else:
                self._back()
                return found

    def _wait(self, error: ClientError) -> None:
        if not is_away(error):
            raise error
        now = time.monotonic()
        if self._since is None:
            self._since = now
            self._say("server is away, waiting ...")
        if now - self._since > PATIENCE:
            raise error
        time.sleep(PAUSE)

    def _back(self) -> None:
        if self._since is not None:
            self._since = None
            self._say("server is back")


def is_away(error: ClientError) -> bool:
    """Whether this is a server that may be back soon."""
    return isinstance(error, Unreachable) or (isinstance(error, ProblemError) and error.status in AWAY)
