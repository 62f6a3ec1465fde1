"""Which tournaments' records were brought back, so that nothing moves them again by itself."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One step up."""
    op.add_column("record_file", sa.Column("back_at", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """One step down; what was brought back is then moved like any other."""
    op.execute("DELETE FROM record_file WHERE back_at IS NOT NULL")
    with op.batch_alter_table("record_file") as table:
        table.drop_column("back_at")
