"""One transaction, and the jobs that leave after its commit. The only place that commits."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from math import inf
from typing import Any

import structlog
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

from service import turn
from service.errors import Unavailable
from service.jobs import CeleryQueue, Job, Queue
from service.progress import Steps
from service.settings import Settings

log = structlog.get_logger(__name__)
PATIENT, HASTY = 30.0, 1.5  # seconds to wait for the database: a worker has time, who asks over HTTP has not
QUEUE = 10.0  # seconds for the other writers of one's own process, who are quick
FULL = ("disk is full", "No space left")
BUSY = ("40001", "40P01", "55P03")  # PostgreSQL: not serializable, a deadlock, a lock waited for too long
UNDEFINED_TABLE = "42P01"  # PostgreSQL
NO_TABLE = "no such table"  # the same from SQLite
POOLER = "unsupported startup parameter"  # PgBouncer
IS_POOLED = "PgBouncer stands before the database; set RAGE_DATABASE_POOLED=true"
NO_SCHEMA = "the database has no schema yet; its operator runs `rage-admin migrate`"


@dataclass(slots=True)
class Work:
    """One verb's transaction: its connection, its one `now`, its jobs, and what it adds to `progress`."""

    db: Connection
    now: datetime
    jobs: list[Job] = field(default_factory=list)
    steps: Steps = field(default_factory=Steps)

    def send(self, job: Job) -> None:
        """Have a job sent once all this is committed; the database says the same, so it may get lost."""
        if job not in self.jobs:
            self.jobs.append(job)


@dataclass(frozen=True, slots=True)
class Arena:
    """An open database and a queue: what every verb works on. `clock` gives aware UTC times."""

    settings: Settings
    database: Engine
    queue: Queue
    clock: Callable[[], datetime]
    turn: Callable[[], AbstractContextManager[float | None]] = nullcontext

    @classmethod
    def open(
        cls,
        settings: Settings,
        queue: Queue | None = None,
        clock: Callable[[], datetime] | None = None,
        *,
        patience: float = PATIENT,
    ) -> "Arena":
        """Opens nothing yet: connections are made when they are needed.

        `patience`: seconds to wait for a database that is busy or away; together with other writers of this
        process, who are quick, `QUEUE` at the least.
        """
        made = engine(settings.database_url, patience, pooled=settings.database_pooled)
        return cls(
            settings,
            made,
            CeleryQueue.of(settings) if queue is None else queue,
            clock or (lambda: datetime.now(UTC)),
            turn.Turn(max(patience, QUEUE)) if made.dialect.name == "sqlite" else nullcontext,
        )

    @contextmanager
    def work(self) -> Iterator[Work]:
        """A write: all or nothing, then its jobs. Raises `Unavailable` when the database is away, or busy."""
        with _translated(), self.turn() as left, self._writing(left).begin() as connection:
            work = Work(connection, self.clock())
            yield work
            work.steps.write(connection)
        for job in work.jobs:
            self.queue.send(job)

    @contextmanager
    def read(self, *, steady: bool = False) -> Iterator[Connection]:
        """A look at the database; `steady`: every query sees one moment, whatever is written meanwhile."""
        with _translated(), self.database.connect() as connection:
            if steady and connection.dialect.name == "postgresql":  # SQLite does so anyway
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def glance(self) -> Iterator[Connection]:
        """A look with a single query, which needs no transaction: half of what `read` costs."""
        with _translated(), self.database.connect() as connection:
            if connection.dialect.name == "postgresql":
                yield connection.execution_options(isolation_level="AUTOCOMMIT")
            else:
                yield connection.execution_options(single=True)

    def _writing(self, left: float | None) -> Engine:
        """`left`: of the patience; some always is, or all who wait behind were turned away for nothing."""
        return self.database.execution_options(write=True, left=inf if left is None else max(left, HASTY))

    def close(self) -> None:
        """Give back connections."""
        self.database.dispose()
        self.queue.close()


def engine(url: str, patience: float = PATIENT, *, pooled: bool = False, **pool: float) -> Engine:
    """An engine for SQLite (write-ahead log, writers queue up) or PostgreSQL, `pooled` behind PgBouncer.

    `pool`: how many connections PostgreSQL gets, and how long they are waited for, unless as usual.
    """
    if not url.startswith("sqlite"):
        return _postgresql(
            url.replace("postgresql://", "postgresql+psycopg://", 1), patience, pooled=pooled, **pool
        )
    made = create_engine(url, connect_args={"timeout": patience}, pool_size=10, max_overflow=100)
    if made.url.database not in (None, "", ":memory:"):
        event.listen(made, "do_connect", _own)
    event.listen(made, "connect", _tune)
    event.listen(made, "begin", partial(_begin, patience=patience))
    return made


def _postgresql(url: str, patience: float, *, pooled: bool, **pool: float) -> Engine:
    """Behind PgBouncer a session is another one in each transaction.

    So nothing is prepared in it, and how long a lock is waited for is said in each transaction that writes.
    """
    waits = f"lock_timeout={int(1000 * patience)}"
    told: dict[str, Any] = {"prepare_threshold": None} if pooled else {"options": f"-c {waits}"}
    made = create_engine(
        url,
        connect_args={"connect_timeout": 2, **told},
        pool_pre_ping=True,
        **{"pool_size": 10, "max_overflow": 20, "pool_timeout": min(patience, 5.0), **pool},
    )

    def say(connection: Connection) -> None:
        if connection.get_execution_options().get("write", False):
            connection.exec_driver_sql(f"SET LOCAL {waits}")

    if pooled:
        event.listen(made, "begin", say)
    return made


def _own(_dialect: Any, _record: Any, where: Sequence[Any], _options: Any) -> None:
    """A new file is for its owner's eyes only, whatever folder it is in; SQLite's further ones follow it."""
    with suppress(OSError):  # it is there already, or SQLite says what is wrong
        os.close(os.open(where[0], os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _tune(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None  # transactions are begun by `_begin`, not by the driver's guess
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection, patience: float) -> None:
    options = connection.get_execution_options()
    if options.get("write", False):
        turn.begin(connection, patience, options.get("left", inf))
    elif not options.get("single"):
        connection.exec_driver_sql("BEGIN")


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (OperationalError, NoConnection, TimeoutError) as error:
        said = str(error).splitlines()[0]
        if _is_busy(error):
            log.warning("database_busy", error=said)
            raise Unavailable("the database is busy; try again") from error
        log.error("database_away", error=said)
        if POOLER in said:
            raise Unavailable(IS_POOLED) from error
        if NO_TABLE in said:
            raise Unavailable(NO_SCHEMA) from error
        if any(sign in said for sign in FULL):
            raise Unavailable("the disk under the database is full; the operator must make room") from error
        raise Unavailable("the database cannot be reached; try again") from error
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == UNDEFINED_TABLE:
            log.error("database_without_schema", error=str(error).splitlines()[0])
            raise Unavailable(NO_SCHEMA) from error
        if not error.connection_invalidated:
            raise
        raise Unavailable("the database went away; try again") from error


def _is_busy(error: Exception) -> bool:
    """It is there, but others were in the way; nothing was written, so whoever asked may do it again."""
    if isinstance(error, NoConnection):
        return True
    cause = getattr(error, "orig", None)
    return getattr(cause, "sqlstate", None) in BUSY or turn.LOCKED in str(cause)
