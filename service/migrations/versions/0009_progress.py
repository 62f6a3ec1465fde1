"""How far tournaments are, in rows of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

COLUMNS = ("done", "failed", "void", "faults", "decisions", "ended")


def upgrade() -> None:
    """One step up; what there is, is counted."""
    op.create_table(
        "progress",
        sa.Column("tournament_id", sa.String(length=60), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in COLUMNS),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_progress_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "slot", name=op.f("pk_progress")),
    )
    op.create_table(
        "fault_count",
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("n", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("kind", "slot", name=op.f("pk_fault_count")),
    )
    op.execute(
        """
        INSERT INTO progress (tournament_id, slot, done, failed, void, faults, decisions, ended)
        SELECT tournament_id, 0,
            sum(CASE WHEN status = 'done' THEN 1 ELSE 0 END),
            sum(CASE WHEN status = 'failed' THEN 1 ELSE 0 END),
            sum(CASE WHEN status = 'void' THEN 1 ELSE 0 END),
            sum(faults), sum(decisions),
            sum(attempts) - sum(CASE WHEN status = 'leased' THEN 1 ELSE 0 END)
        FROM match GROUP BY tournament_id
        """
    )
    op.execute("INSERT INTO fault_count (kind, slot, n) SELECT kind, 0, count(*) FROM fault GROUP BY kind")


def downgrade() -> None:
    """One step back."""
    op.drop_table("fault_count")
    op.drop_table("progress")
