"""Comparisons of two bots."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One step up."""
    op.create_table(
        "comparison",
        sa.Column("tournament_id", sa.String(length=60), nullable=False),
        sa.Column("elo0", sa.Float(), nullable=False),
        sa.Column("elo1", sa.Float(), nullable=False),
        sa.Column("alpha", sa.Float(), nullable=False),
        sa.Column("beta", sa.Float(), nullable=False),
        sa.Column("cap", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournament.id"], name=op.f("fk_comparison_tournament_id")
        ),
        sa.PrimaryKeyConstraint("tournament_id", name=op.f("pk_comparison")),
    )


def downgrade() -> None:
    """One step back."""
    op.drop_table("comparison")
