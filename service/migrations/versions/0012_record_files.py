"""Which tournaments' records were moved into files."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One step up."""
    op.create_table(
        "record_file",
        sa.Column("tournament_id", sa.String(length=60), nullable=False),
        sa.Column("file", sa.String(length=200), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("moved_at", sa.BigInteger(), nullable=False),
        sa.Column("cleared", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournament.id"], name=op.f("fk_record_file_tournament_id")
        ),
        sa.PrimaryKeyConstraint("tournament_id", name=op.f("pk_record_file")),
    )


def downgrade() -> None:
    """One step back. `rage-admin records back` first: where moved records are is forgotten."""
    op.drop_table("record_file")
