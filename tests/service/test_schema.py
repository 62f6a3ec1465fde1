"""The migrations make the tables that the code expects."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import select

from service import names, schema, tables
from service.settings import Settings
from service.work import engine

INDEXES = "SELECT count(*), bool_and(indisvalid) FROM pg_index WHERE indexrelid = 'ix_match_told'::regclass"
KEPT = """
SELECT query FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE locktype = 'advisory'
AND granted AND datname = current_database() AND state = 'idle in transaction'
"""
BUILDING = "SELECT count(*) FROM pg_stat_progress_create_index WHERE phase ^@ 'waiting'"


def migrate_to(settings: Settings, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(tables.__file__).parent / "migrations"))
    config.attributes["url"] = settings.database_url
    command.upgrade(config, revision)


def test_migrating_an_empty_database_gives_exactly_the_tables_of_the_code(
    tmp_path: Path, database_url: str
) -> None:
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path), "RAGE_DATABASE_URL": database_url})
    schema.migrate(settings)
    schema.migrate(settings)
    database = engine(settings.database_url)
    with database.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables.metadata) == []
    database.dispose()


def test_migrating_keeps_what_was_written_before(tmp_path: Path, database_url: str) -> None:
    """Tables that others refer to are made anew on the way."""
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path), "RAGE_DATABASE_URL": database_url})
    migrate_to(settings, "0001")
    database = engine(settings.database_url)
    with database.begin() as connection:
        for statement in (
            "INSERT INTO account VALUES ('acc', 'ada', 'ada', 'author', 1)",
            "INSERT INTO account VALUES ('fox', 'Сова', 'сова', 'author', 1)",
            "INSERT INTO account VALUES ('bot', 'ロボー', 'ロボー', 'author', 1)",
            "INSERT INTO account VALUES ('two', 'ロボ一', 'ロボ一', 'author', 2)",
            "INSERT INTO bot VALUES ('bot', 'acc', 'spy', 'spy', '', false, false, 1, NULL)",
            "INSERT INTO version "
            "(id, bot_id, number, kind, filename, sha256, size, code, status, created_at) "
            "VALUES ('bot:1', 'bot', 1, 'py', 'bot.py', '', 0, '', 'ready', 1)",
            "INSERT INTO snapshot (id, rules_key, players, model, matches, body, created_at) "
            "VALUES (1, 'fundex', 4, 'elo-1', 8, '[]', 1)",
            "INSERT INTO rating (snapshot_id, version_id, rating, low, high, matches, provisional) "
            "VALUES (1, 'bot:1', 1500, 1400, 1600, 8, false)",
        ):
            connection.exec_driver_sql(statement)
    schema.migrate(settings)
    with database.connect() as connection:
        kept = connection.execute(select(tables.rating.c.rating, tables.rating.c.snapshot_id)).all()
        assert kept == [(1500, 1)]
        keys = dict(connection.execute(select(tables.account.c.name, tables.account.c.name_key)).all())
        assert keys.pop("ロボ一") == "ロボ一", "it looked like another already"
        assert keys == {name: names.key(name) for name in ("ada", "Сова", "ロボー")}
        assert connection.scalar(select(tables.snapshot.c.model)) == "elo"
    database.dispose()


@pytest.mark.parametrize("kind", ["postgres"])
def test_everybody_writes_while_an_index_is_built_and_what_was_interrupted_goes_on(
    tmp_path: Path, database_url: str
) -> None:
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path), "RAGE_DATABASE_URL": database_url})
    migrate_to(settings, "0015")
    database = engine(settings.database_url)
    with database.begin() as db:  # what a run that died over it leaves behind
        db.exec_driver_sql("ALTER TABLE match ADD COLUMN told INTEGER")
        db.exec_driver_sql("CREATE INDEX ix_match_told ON match (number)")
        db.exec_driver_sql(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_match_told'::regclass"
        )
    with ThreadPoolExecutor(2) as crowd, database.connect() as looking, database.connect() as writing:
        looking.execution_options(isolation_level="REPEATABLE READ").execute(select(tables.account))
        migrating = [crowd.submit(schema.migrate, settings) for _ in range(2)]
        while not writing.exec_driver_sql(BUILDING).scalar():
            writing.rollback()
            assert not any(each.done() for each in migrating), [each.exception() for each in migrating]
        assert "idle_in_transaction_session_timeout = 0" in writing.exec_driver_sql(KEPT).scalar_one()
        writing.exec_driver_sql("SET lock_timeout = 100")
        writing.exec_driver_sql("UPDATE match SET told = 1")
        writing.commit()
        looking.rollback()
        assert [each.result() for each in migrating] == [None, None]
    with database.connect() as db:
        assert db.exec_driver_sql(INDEXES).one() == (1, True)
        assert compare_metadata(MigrationContext.configure(db), tables.metadata) == []
    database.dispose()


def test_a_new_database_file_is_for_its_owner_alone_whatever_its_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path)})
    schema.migrate(settings)
    database = engine(settings.database_url)
    with database.connect() as connection:
        connection.execute(select(tables.account))
        modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.glob("rage.sqlite3*")}
    assert len(modes) == 3 and set(modes.values()) == {0o600}, "with the log beside it"
    database.dispose()
