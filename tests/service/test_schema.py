"""The migrations make the tables that the code expects."""

from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import select

from service import names, schema, tables
from service.settings import Settings
from service.work import engine


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
    config = Config()
    config.set_main_option("script_location", str(Path(tables.__file__).parent / "migrations"))
    config.attributes["url"] = settings.database_url
    command.upgrade(config, "0001")
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
