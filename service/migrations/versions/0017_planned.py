"""How many deal groups are planned, of which not all need be written yet."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One step up: so far all that was planned was written at once."""
    op.add_column("tournament", sa.Column("planned", sa.Integer(), nullable=False, server_default="0"))
    op.execute('UPDATE tournament SET planned = "groups"')


def downgrade() -> None:
    """One step down. What is planned and not written will not be played then."""
    op.drop_column("tournament", "planned")
