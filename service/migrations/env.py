"""Runs migrations for `service.schema.migrate`, one at a time however many programs start at once.

SQLite: all or none. PostgreSQL: each for itself, so that one may build an index while everybody writes; what
was interrupted goes on with the next run.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from alembic import context
from sqlalchemy import Connection, text

from service.tables import metadata
from service.work import engine

TRY = text("SELECT pg_try_advisory_xact_lock(72616764)")
KEEP = text("SET LOCAL idle_in_transaction_session_timeout = 0")
PAUSE = 0.2  # seconds between two tries


def run() -> None:
    """Once for each time that this file is read."""
    told = context.config.attributes
    database = engine(told["url"], pooled=told.get("pooled", False))
    with database.connect().execution_options(write=True) as connection:
        (_at_once if database.dialect.name == "sqlite" else _each_for_itself)(connection)
    database.dispose()


def _at_once(connection: Connection) -> None:
    """As the one writer there can be."""
    # A table that is made anew is dropped in between, which must not look at who refers to it.
    connection.connection.cursor().execute("PRAGMA foreign_keys=OFF")
    with connection.begin():
        context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
        context.run_migrations()
        if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first():
            raise RuntimeError(f"a row of {broken[0]} refers to one of {broken[2]} that is not there")


def _each_for_itself(connection: Connection) -> None:
    with _alone(connection):
        context.configure(
            connection=connection,
            target_metadata=metadata,
            render_as_batch=True,
            transaction_per_migration=True,
        )
        with context.begin_transaction():
            context.run_migrations()


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """By a lock of a transaction beside those of the migrations, for a pooler has no sessions.

    It is tried again and again, not waited for: whoever builds an index waits for all statements under way.
    A server that ends who idles in a transaction must not end this one.
    """
    while True:
        with connection.engine.begin() as beside:
            if beside.scalar(TRY):
                beside.execute(KEEP)
                yield
                return
        time.sleep(PAUSE)


run()
