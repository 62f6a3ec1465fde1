"""Leases that are watched, suspicion, incidents, decisions."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Columns are added in place: no table is copied."""
    for table in ("match", "version"):
        op.add_column(table, sa.Column("lease_seen", sa.BigInteger(), nullable=True))
        op.add_column(table, sa.Column("silent_since", sa.BigInteger(), nullable=True))
    for count in ("suspicion", "decisions"):
        op.add_column("match", sa.Column(count, sa.Integer(), nullable=False, server_default="0"))
    op.add_column("version", sa.Column("lease_worker", sa.String(120), nullable=True))
    op.add_column("version", sa.Column("trouble", sa.Text(), nullable=True))
    op.create_table(
        "pulse",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("watched_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pulse")),
    )
    op.create_table(
        "incident",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(30), nullable=False),
        sa.Column("about", sa.String(80), nullable=False),
        sa.Column("worker", sa.String(120), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_incident")),
    )
    op.create_index(op.f("ix_incident_kind"), "incident", ["kind"])


def downgrade() -> None:
    """And back."""
    op.drop_table("incident")
    op.drop_table("pulse")
    for column in ("trouble", "lease_worker"):
        op.drop_column("version", column)
    for column in ("decisions", "suspicion"):
        op.drop_column("match", column)
    for table in ("version", "match"):
        op.drop_column(table, "silent_since")
        op.drop_column(table, "lease_seen")
