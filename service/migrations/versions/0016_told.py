"""Results are told by a number of their own; those that are there get one when somebody listens.

On PostgreSQL the index is built while matches are played. If that is interrupted, all of this is done again.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None
NAME, COLUMNS, DONE = "ix_match_told", ["tournament_id", "told", "number"], sa.text("status = 'done'")


def upgrade() -> None:
    """One step up."""
    if op.get_bind().dialect.name == "postgresql":
        _while_all_write()
    else:
        op.add_column("match", sa.Column("told", sa.Integer(), nullable=True))
        op.create_index(NAME, "match", COLUMNS, sqlite_where=DONE)


def _while_all_write() -> None:
    op.add_column("match", sa.Column("told", sa.Integer(), nullable=True), if_not_exists=True)
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")  # it waits for everybody's transactions, a long backup's too
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}")
        op.create_index(NAME, "match", COLUMNS, postgresql_where=DONE, postgresql_concurrently=True)
        op.execute("RESET lock_timeout")


def downgrade() -> None:
    """One step down."""
    op.drop_index(NAME, "match")
    op.drop_column("match", "told")
