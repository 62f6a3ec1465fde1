"""Tournaments in stages, entrants that come and go, fillers, series."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def _switch(name: str, default: bool = False) -> "sa.Column[bool]":
    return sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.true() if default else sa.false())


def _count(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.Integer(), nullable=False, server_default="0")


def upgrade() -> None:
    """One step up; what was written before has its one stage behind it."""
    op.create_table(
        "stage",
        sa.Column("tournament_id", sa.String(length=60), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("tables", sa.JSON(), nullable=False),
        sa.Column("byes", sa.JSON(), nullable=False),
        sa.Column("first_group", sa.Integer(), nullable=False),
        sa.Column("planned_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_stage_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "number", name=op.f("pk_stage")),
    )
    with op.batch_alter_table("tournament") as batch_op:
        batch_op.add_column(sa.Column("stages", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("challenger", sa.String(length=100), nullable=True))
        batch_op.add_column(_switch("apart"))
        batch_op.add_column(sa.Column("plan", sa.JSON(), nullable=True))
        for name in ("stage", "groups", "written"):
            batch_op.add_column(_count(name))
        batch_op.add_column(_switch("more"))
        batch_op.add_column(_switch("entry_open"))
        batch_op.add_column(sa.Column("entry_limit", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("entry_deadline", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("repeat", sa.String(length=100), nullable=True))
        batch_op.add_column(sa.Column("series", sa.String(length=60), nullable=True))
        batch_op.create_index(batch_op.f("ix_tournament_series"), ["series"], unique=False)
    with op.batch_alter_table("entrant") as batch_op:
        batch_op.add_column(sa.Column("status", sa.String(length=12), nullable=False, server_default="in"))
        batch_op.add_column(sa.Column("reason", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("left_at", sa.BigInteger(), nullable=True))
        batch_op.add_column(_switch("filler"))
    with op.batch_alter_table("match") as batch_op:
        batch_op.add_column(sa.Column("stage", sa.Integer(), nullable=False, server_default="1"))
        batch_op.add_column(_switch("rated", default=True))
    op.execute("UPDATE tournament SET stage = 1, written = total WHERE started_at IS NOT NULL")


def downgrade() -> None:
    """One step back."""
    with op.batch_alter_table("match") as batch_op:
        batch_op.drop_column("rated")
        batch_op.drop_column("stage")
    with op.batch_alter_table("entrant") as batch_op:
        for name in ("filler", "left_at", "reason", "status"):
            batch_op.drop_column(name)
    with op.batch_alter_table("tournament") as batch_op:
        batch_op.drop_index(batch_op.f("ix_tournament_series"))
        for name in ("series", "repeat", "entry_deadline", "entry_limit", "entry_open", "more", "written"):
            batch_op.drop_column(name)
        for name in ("groups", "stage", "plan", "apart", "challenger", "stages"):
            batch_op.drop_column(name)
    op.drop_table("stage")
