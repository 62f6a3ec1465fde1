"""An index of the leases there are, by their tokens, which are random: the first thousand are a fair sample."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None
LEASED = sa.text("status = 'leased'")


def upgrade() -> None:
    """One step up."""
    op.create_index(
        "ix_match_tokens",
        "match",
        ["lease_token", "tournament_id"],
        sqlite_where=LEASED,
        postgresql_where=LEASED,
    )


def downgrade() -> None:
    """One step down."""
    op.drop_index("ix_match_tokens", "match")
