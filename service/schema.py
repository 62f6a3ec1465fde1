"""How a database is brought up to date, and how to tell that one is not.

Alembic is imported when it is needed: it takes long to load, and few programs migrate.
"""

import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, text

from service.settings import Settings

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATING = threading.Lock()  # alembic keeps its context in a module


def migrate(settings: Settings) -> None:
    """Bring the database to the newest schema; nothing happens when it is there already."""
    from alembic import command

    config = _alembic()
    config.attributes.update(url=settings.database_url, pooled=settings.database_pooled)
    with MIGRATING:
        command.upgrade(config, "head")


def revision(db: Connection) -> str:
    """The schema a database has."""
    return str(db.scalar(text("SELECT version_num FROM alembic_version")))


def behind(db: Connection) -> bool:
    """Whether the database has a schema older than this program's; a newer one is still good for it."""
    return revision(db) in _revisions()[1:]


@cache
def _revisions() -> tuple[str, ...]:
    """All that this program knows, the newest first."""
    from alembic.script import ScriptDirectory

    return tuple(each.revision for each in ScriptDirectory.from_config(_alembic()).walk_revisions())


def _alembic() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
