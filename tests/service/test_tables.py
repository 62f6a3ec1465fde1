"""The migrations make the tables that the code expects."""

from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from service import tables
from service.settings import Settings
from service.work import engine


def test_migrating_an_empty_database_gives_exactly_the_tables_of_the_code(
    tmp_path: Path, database_url: str
) -> None:
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path), "RAGE_DATABASE_URL": database_url})
    tables.migrate(settings)
    tables.migrate(settings)
    database = engine(settings.database_url)
    with database.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables.metadata) == []
    database.dispose()
