"""A worker that is told to stop claims nothing more; what it plays is finished, or handed back in time.

The worker's own process is told by Celery and passes it on through one shared byte: no lock, so a process
that is killed can leave nobody waiting. A process that plays may also be told alone, by SIGTERM.
"""

import mmap
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

EXIT_AFTER = (
    0.1  # seconds between the end of the last task and the end of its process: the answer leaves first
)
_everybody = mmap.mmap(-1, 1)  # made before the fork


class Stopped(BaseException):
    """Raised in the midst of a match whose time is over."""


class _Self:
    """What this process knows: whether it was told, since when, and whether a match may be broken off."""

    told = False
    since: float | None = None
    broken = False
    breakable = False


def tell_everybody() -> None:
    """Called in the worker's own process when it begins to shut down."""
    _everybody[0] = 1


def asked() -> bool:
    """Whether no more is to be claimed here."""
    if not (_Self.told or _everybody[0]):
        return False
    _Self.since = _Self.since or time.monotonic()
    return True


def overdue(grace: float) -> bool:
    """Whether the time to finish what is played is over."""
    return asked() and _Self.since is not None and time.monotonic() - _Self.since > grace


def break_off() -> None:
    """From another thread: have the match that is being played raise `Stopped`."""
    _Self.broken = True
    os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def working() -> Iterator[None]:
    """A task: told to stop meanwhile, this process ends after it and not within."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _told)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if _Self.told:
            threading.Timer(EXIT_AFTER, os.kill, (os.getpid(), signal.SIGTERM)).start()


@contextmanager
def breakable() -> Iterator[None]:
    """What is done inside may end by `Stopped`."""
    _Self.breakable = True
    try:
        yield
    finally:
        _Self.breakable = False


def _told(number: int, frame: Any) -> None:
    _Self.told = True
    if _Self.broken and _Self.breakable:
        raise Stopped
