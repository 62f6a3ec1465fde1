"""Leases kept while something is played: a thread renews them, looks to the batch, and breaks off in time."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

from service.errors import Unavailable
from service.settings import Settings
from workers import stopping

log = structlog.get_logger(__name__)
LOOK_SECONDS = 0.25


def at_most(seconds: float, renew: Callable[[], bool]) -> Callable[[], bool]:
    """Renews no more once these are over, and goes on looking."""
    until = time.monotonic() + seconds
    return lambda: time.monotonic() > until or renew()


def _nothing() -> None:
    return


@contextmanager
def kept(
    settings: Settings, renew: Callable[[], bool], look: Callable[[], None] = _nothing
) -> Iterator[None]:
    """Renew a lease from time to time, until `renew` says it is lost; `look` more often."""
    done = threading.Event()
    keeper = threading.Thread(target=_keep, args=(settings, renew, look, done), daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def _keep(
    settings: Settings, renew: Callable[[], bool], look: Callable[[], None], done: threading.Event
) -> None:
    held, renewed = True, time.monotonic()
    while not done.wait(LOOK_SECONDS):
        if stopping.overdue(settings.stop_seconds):
            return stopping.break_off()
        if held and time.monotonic() - renewed > settings.lease_seconds / 3:
            with _whatever_happens():
                held, renewed = renew(), time.monotonic()
        with _whatever_happens():
            look()


@contextmanager
def _whatever_happens() -> Iterator[None]:
    """The next try may go better, and nobody else keeps the leases."""
    try:
        yield
    except Unavailable:
        return
    except Exception:
        log.exception("keeper_stumbled")
