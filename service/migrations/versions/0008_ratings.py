"""Counted results, pools, and several models of ratings.

What was played before is counted by `rage-admin rerate --repair`; `rage-admin doctor` says so.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def _pool() -> "tuple[sa.Column[str], sa.Column[int]]":
    return (
        sa.Column("rules_key", sa.String(length=40), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
    )


def upgrade() -> None:
    """One step up."""
    op.create_table(
        "pool",
        *_pool(),
        sa.Column("asked_at", sa.BigInteger(), nullable=True),
        sa.Column("fitted_at", sa.BigInteger(), nullable=True),
        sa.Column("took_ms", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_token", sa.String(length=32), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("rules_key", "players", name=op.f("pk_pool")),
    )
    op.create_table(
        "counted",
        sa.Column("tournament_id", sa.String(length=60), nullable=False),
        sa.Column("seats", sa.LargeBinary(length=40), nullable=False),
        *_pool(),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("last_group", sa.Integer(), nullable=False),
        sa.Column("sums", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_counted_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "seats", name=op.f("pk_counted")),
    )
    op.create_index("ix_counted_pool", "counted", ["rules_key", "players"])
    op.create_index("ix_match_group", "match", ["tournament_id", "deal_group"])
    op.create_table(
        "estimate",
        *_pool(),
        sa.Column("model", sa.String(length=20), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("versions", sa.JSON(), nullable=False),
        sa.Column("arrays", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["snapshot_id"], ["snapshot.id"], name=op.f("fk_estimate_snapshot_id")),
        sa.PrimaryKeyConstraint("rules_key", "players", "model", name=op.f("pk_estimate")),
    )
    op.drop_index("ix_snapshot_pool", table_name="snapshot")
    with op.batch_alter_table("snapshot") as batch:
        batch.add_column(sa.Column("model_version", sa.Integer(), server_default="1", nullable=False))
        batch.add_column(sa.Column("parameters", sa.JSON(), server_default="{}", nullable=False))
        batch.add_column(sa.Column("deals", sa.Integer(), server_default="0", nullable=False))
        batch.add_column(sa.Column("tournaments", sa.Integer(), server_default="0", nullable=False))
        batch.add_column(sa.Column("last_deal", sa.String(length=80), nullable=True))
        batch.add_column(sa.Column("final", sa.Boolean(), server_default=sa.true(), nullable=False))
        batch.add_column(sa.Column("digest", sa.String(length=64), server_default="", nullable=False))
        batch.create_index("ix_snapshot_pool", ["rules_key", "players", "model", "created_at"])
    op.execute("UPDATE snapshot SET model = 'elo' WHERE model = 'elo-1'")
    with op.batch_alter_table("rating") as batch:
        batch.add_column(sa.Column("place", sa.Integer(), nullable=True))
        batch.alter_column("low", existing_type=sa.Float(), nullable=True)
        batch.alter_column("high", existing_type=sa.Float(), nullable=True)


def downgrade() -> None:
    """One step back; what only the new models say is lost."""
    op.execute("DELETE FROM estimate")
    op.execute(
        "DELETE FROM rating WHERE low IS NULL OR snapshot_id IN (SELECT id FROM snapshot WHERE model != 'elo')"
    )
    op.execute("DELETE FROM snapshot WHERE model != 'elo'")
    op.execute("UPDATE snapshot SET model = 'elo-1'")
    with op.batch_alter_table("rating") as batch:
        batch.alter_column("high", existing_type=sa.Float(), nullable=False)
        batch.alter_column("low", existing_type=sa.Float(), nullable=False)
        batch.drop_column("place")
    op.drop_index("ix_snapshot_pool", table_name="snapshot")
    with op.batch_alter_table("snapshot") as batch:
        for name in ("digest", "final", "last_deal", "tournaments", "deals", "parameters", "model_version"):
            batch.drop_column(name)
        batch.create_index("ix_snapshot_pool", ["rules_key", "players", "created_at"])
    for name in ("estimate", "counted", "pool"):
        op.drop_table(name)
    op.drop_index("ix_match_group", table_name="match")
