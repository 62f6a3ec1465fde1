"""Runs migrations for `service.tables.migrate`, one at a time however many programs start at once."""

from alembic import context
from sqlalchemy import text

from service.tables import metadata
from service.work import engine

LOCK = 72_616_764

database = engine(context.config.attributes["url"])
with database.execution_options(write=True).begin() as connection:  # SQLite: the one writer there can be
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    context.run_migrations()
database.dispose()
