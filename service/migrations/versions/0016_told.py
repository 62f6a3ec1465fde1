"""Results are told by a number of their own; those that are there get one when somebody listens."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None
DONE = sa.text("status = 'done'")


def upgrade() -> None:
    """One step up."""
    op.add_column("match", sa.Column("told", sa.Integer(), nullable=True))
    columns = ["tournament_id", "told", "number"]
    op.create_index("ix_match_told", "match", columns, sqlite_where=DONE, postgresql_where=DONE)


def downgrade() -> None:
    """One step down."""
    op.drop_index("ix_match_told", "match")
    op.drop_column("match", "told")
