"""Runs migrations for `service.schema.migrate`, one at a time however many programs start at once."""

from alembic import context
from sqlalchemy import text

from service.tables import metadata
from service.work import engine

LOCK = 72_616_764

told = context.config.attributes
database = engine(told["url"], pooled=told.get("pooled", False))
sqlite = database.dialect.name == "sqlite"
with database.connect().execution_options(write=True) as connection:  # SQLite: the one writer there can be
    if sqlite:  # a table that is made anew is dropped in between, which must not look at who refers to it
        connection.connection.cursor().execute("PRAGMA foreign_keys=OFF")
    with connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
        context.run_migrations()
        if sqlite and (broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first()):
            raise RuntimeError(f"a row of {broken[0]} refers to one of {broken[2]} that is not there")
database.dispose()
