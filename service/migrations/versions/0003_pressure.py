"""How hard a machine made it for the bots of a match."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One step up; nobody counted before."""
    with op.batch_alter_table("match") as batch_op:
        batch_op.add_column(sa.Column("replays", sa.Integer(), nullable=False, server_default="0"))
    with op.batch_alter_table("seat") as batch_op:
        batch_op.add_column(sa.Column("waited_ms", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    """One step down."""
    with op.batch_alter_table("seat") as batch_op:
        batch_op.drop_column("waited_ms")
    with op.batch_alter_table("match") as batch_op:
        batch_op.drop_column("replays")
