"""Whose turn it is to write to SQLite, which has one writer at a time.

SQLite lets a writer that waits look again ever more seldom, after 100 ms in the end, so who has waited
longest is served last, and turned away on a busy day. Here the threads of a process wait for one another, and
the one whose turn it is looks often: every 3 ms, and soon every millisecond.
"""

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import Lock

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

LOCKED = "database is locked"  # SQLite's words
BEGIN = "BEGIN IMMEDIATE"  # a place among the writers at once: no reader turns writer half-way
SELDOM, OFTEN = 0.003, 0.001  # seconds between two looks, at first and in the end
SOON = 0.02  # seconds after which it is looked twice as often


class Turn:
    """One of this process's threads at a time, of those that write.

    Its queue moves on, so there is time for it; but when one is turned away because another process does not
    let it write, all who waited behind it are.
    """

    def __init__(self, patience: float) -> None:
        """`patience`: seconds to wait for the others of this process."""
        self._patience = patience
        self._lock = Lock()
        self._turned_away = 0.0

    @contextmanager
    def __call__(self) -> Iterator[float]:
        """Have it, and learn how many seconds are left for the writers of other processes.

        Raises SQLAlchemy's `TimeoutError`, as when all connections are taken.
        """
        came = time.monotonic()
        if not self._lock.acquire(timeout=self._patience):
            raise NoConnection("too many others of this process wait to write")
        try:
            if self._turned_away > came:
                raise NoConnection("others of this process waited in vain to write")
            yield came + self._patience - time.monotonic()
        except OperationalError as error:
            if LOCKED in str(error.orig):
                self._turned_away = time.monotonic()
            raise
        finally:
            self._lock.release()


def begin(connection: Connection, patience: float, left: float = inf) -> None:
    """Begin to write as soon as no other process does, within `patience` seconds, or what is `left`."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.execute("PRAGMA busy_timeout=0")
    try:
        _look(raw, min(patience, left))
    except sqlite3.Error as error:  # as SQLAlchemy tells it of any other statement
        raise DBAPIError.instance(BEGIN, None, error, sqlite3.Error, dialect=connection.dialect) from error
    finally:
        raw.execute(f"PRAGMA busy_timeout={int(1000 * patience)}")


def _look(raw: sqlite3.Connection, patience: float) -> None:
    began = time.monotonic()
    while True:
        try:
            raw.execute(BEGIN)
        except sqlite3.OperationalError as error:
            waited = time.monotonic() - began
            if LOCKED not in str(error) or waited >= patience:
                raise
            often = max(OFTEN, SELDOM / (1 + waited / SOON))
            time.sleep(random.uniform(0.5, 1.5) * often)  # noqa: S311 - so that two do not always meet
        else:
            return
