"""Standings and fairness of tournaments that are over; the desk works out those of the past."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One step up."""
    op.create_table(
        "summary",
        sa.Column("tournament_id", sa.String(length=60), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_summary_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", name=op.f("pk_summary")),
    )


def downgrade() -> None:
    """One step back."""
    op.drop_table("summary")
