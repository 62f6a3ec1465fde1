"""What is half written ends only when its end is said, whatever the program that asks knows of parts.

Programs from before 0017 take what is written of a stage for all of it. The database refuses them where that
would end a tournament too early or plan on over what is missing; their transaction leaves nothing behind.
SQLite drops this with the table: who makes that anew makes this anew.
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

NAME = "tournament_half_written"
REFUSED = "this tournament is not written whole; a newer program goes on with it"
WHEN = """
    (NEW.status = 'finished' AND OLD.status <> 'finished' AND NEW."groups" < NEW.planned)
    OR (NEW.stage > OLD.stage AND OLD."groups" < OLD.planned)
"""
SQLITE = f"""
CREATE TRIGGER {NAME} BEFORE UPDATE OF status, stage ON tournament WHEN {WHEN}
BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END
"""
FUNCTION = f"""
CREATE FUNCTION {NAME}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '{REFUSED}' USING ERRCODE = 'check_violation'; END $$
"""
POSTGRESQL = f"""
CREATE TRIGGER {NAME} BEFORE UPDATE OF status, stage ON tournament
FOR EACH ROW WHEN ({WHEN}) EXECUTE FUNCTION {NAME}()
"""


def upgrade() -> None:
    """One step up; of what is over, nothing more will be written."""
    over = sa.text("""UPDATE tournament SET planned = "groups" WHERE status IN ('finished', 'cancelled')""")
    op.execute(over)
    for statement in (FUNCTION, POSTGRESQL) if _is_postgresql() else (SQLITE,):
        op.execute(statement)


def downgrade() -> None:
    """One step down."""
    op.execute(f"DROP TRIGGER {NAME}{' ON tournament' if _is_postgresql() else ''}")
    if _is_postgresql():
        op.execute(f"DROP FUNCTION {NAME}()")


def _is_postgresql() -> bool:
    return op.get_bind().dialect.name == "postgresql"
