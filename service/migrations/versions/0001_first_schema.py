"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One step up."""
    op.create_table(
        "account",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("name_key", sa.String(length=120), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("name_key", name=op.f("uq_account_name_key")),
    )
    op.create_table(
        "snapshot",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("rules_key", sa.String(length=40), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(length=20), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshot")),
    )
    with op.batch_alter_table("snapshot", schema=None) as batch_op:
        batch_op.create_index("ix_snapshot_pool", ["rules_key", "players", "created_at"], unique=False)

    op.create_table(
        "worker",
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("mode", sa.String(length=4), nullable=True),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_worker")),
    )
    op.create_table(
        "answer",
        sa.Column("account_id", sa.String(length=60), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_answer_account_id")),
        sa.PrimaryKeyConstraint("account_id", "key", name=op.f("pk_answer")),
    )
    op.create_table(
        "bot",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("owner_id", sa.String(length=60), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("name_key", sa.String(length=120), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("public_source", sa.Boolean(), nullable=False),
        sa.Column("house", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("retired_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["account.id"], name=op.f("fk_bot_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot")),
        sa.UniqueConstraint("name_key", name=op.f("uq_bot_name_key")),
    )
    with op.batch_alter_table("bot", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_bot_owner_id"), ["owner_id"], unique=False)

    op.create_table(
        "token",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=60), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_token_account_id")),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_token")),
    )
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_token_account_id"), ["account_id"], unique=False)

    op.create_table(
        "tournament",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("owner_id", sa.String(length=60), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("format", sa.String(length=20), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("rules_key", sa.String(length=40), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("duplicate", sa.Boolean(), nullable=False),
        sa.Column("meetings", sa.Integer(), nullable=False),
        sa.Column("limits", sa.JSON(), nullable=False),
        sa.Column("seed", sa.String(length=200), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("start_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("claimed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["account.id"], name=op.f("fk_tournament_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tournament")),
    )
    with op.batch_alter_table("tournament", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tournament_owner_id"), ["owner_id"], unique=False)
        batch_op.create_index("ix_tournament_pool", ["rules_key", "players"], unique=False)
        batch_op.create_index(batch_op.f("ix_tournament_status"), ["status"], unique=False)

    op.create_table(
        "match",
        sa.Column("tournament_id", sa.String(length=60), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("deal_group", sa.Integer(), nullable=False),
        sa.Column("rotation", sa.Integer(), nullable=False),
        sa.Column("entrants", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(length=8), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_token", sa.String(length=32), nullable=True),
        sa.Column("lease_worker", sa.String(length=120), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("trouble", sa.Text(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("mode", sa.String(length=4), nullable=True),
        sa.Column("faults", sa.Integer(), server_default="0", nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_match_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "number", name=op.f("pk_match")),
    )
    with op.batch_alter_table("match", schema=None) as batch_op:
        batch_op.create_index("ix_match_finished", ["tournament_id", "finished_at", "number"], unique=False)
        batch_op.create_index(
            "ix_match_leases",
            ["lease_until"],
            unique=False,
            sqlite_where=sa.text("status = 'leased'"),
            postgresql_where=sa.text("status = 'leased'"),
        )
        batch_op.create_index("ix_match_todo", ["tournament_id", "status", "number"], unique=False)

    op.create_table(
        "version",
        sa.Column("id", sa.String(length=60), nullable=False),
        sa.Column("bot_id", sa.String(length=60), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("filename", sa.String(length=200), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("code", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("checked_at", sa.BigInteger(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_token", sa.String(length=32), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_version_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_version")),
        sa.UniqueConstraint("bot_id", "number", name=op.f("uq_version_bot_id_number")),
    )
    with op.batch_alter_table("version", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_version_status"), ["status"], unique=False)

    op.create_table(
        "entrant",
        sa.Column("tournament_id", sa.String(length=60), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.String(length=60), nullable=False),
        sa.Column("version_id", sa.String(length=60), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_entrant_bot_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_entrant_tournament_id")),
        sa.ForeignKeyConstraint(["version_id"], ["version.id"], name=op.f("fk_entrant_version_id")),
        sa.PrimaryKeyConstraint("tournament_id", "number", name=op.f("pk_entrant")),
    )
    with op.batch_alter_table("entrant", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_entrant_bot_id"), ["bot_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_entrant_version_id"), ["version_id"], unique=False)

    op.create_table(
        "fault",
        sa.Column("tournament_id", sa.String(length=60), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.String(length=60), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("trick", sa.Integer(), nullable=False),
        sa.Column("decision", sa.Integer(), nullable=False),
        sa.Column("asked", sa.String(length=10), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("out", sa.Boolean(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament_id", "number"],
            ["match.tournament_id", "match.number"],
            name=op.f("fk_fault_tournament_id_number"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["version_id"], ["version.id"], name=op.f("fk_fault_version_id")),
        sa.PrimaryKeyConstraint("tournament_id", "number", "ordinal", name=op.f("pk_fault")),
    )
    with op.batch_alter_table("fault", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_fault_version_id"), ["version_id"], unique=False)

    op.create_table(
        "rating",
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.String(length=60), nullable=False),
        sa.Column("rating", sa.Float(), nullable=False),
        sa.Column("low", sa.Float(), nullable=False),
        sa.Column("high", sa.Float(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("provisional", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["snapshot_id"], ["snapshot.id"], name=op.f("fk_rating_snapshot_id")),
        sa.ForeignKeyConstraint(["version_id"], ["version.id"], name=op.f("fk_rating_version_id")),
        sa.PrimaryKeyConstraint("snapshot_id", "version_id", name=op.f("pk_rating")),
    )
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rating_version_id"), ["version_id"], unique=False)

    op.create_table(
        "seat",
        sa.Column("tournament_id", sa.String(length=60), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("entrant", sa.Integer(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("counted", sa.Integer(), nullable=False),
        sa.Column("exact_bids", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("out", sa.Boolean(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("cpu_ms", sa.Integer(), nullable=False),
        sa.Column("wall_ms", sa.Integer(), nullable=False),
        sa.Column("memory_kb", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament_id", "number"],
            ["match.tournament_id", "match.number"],
            name=op.f("fk_seat_tournament_id_number"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tournament_id", "number", "seat", name=op.f("pk_seat")),
    )


def downgrade() -> None:
    """And back."""
    op.drop_table("seat")
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rating_version_id"))

    op.drop_table("rating")
    with op.batch_alter_table("fault", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_fault_version_id"))

    op.drop_table("fault")
    with op.batch_alter_table("entrant", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_entrant_version_id"))
        batch_op.drop_index(batch_op.f("ix_entrant_bot_id"))

    op.drop_table("entrant")
    with op.batch_alter_table("version", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_version_status"))

    op.drop_table("version")
    with op.batch_alter_table("match", schema=None) as batch_op:
        batch_op.drop_index("ix_match_todo")
        batch_op.drop_index(
            "ix_match_leases",
            sqlite_where=sa.text("status = 'leased'"),
            postgresql_where=sa.text("status = 'leased'"),
        )
        batch_op.drop_index("ix_match_finished")

    op.drop_table("match")
    with op.batch_alter_table("tournament", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_tournament_status"))
        batch_op.drop_index("ix_tournament_pool")
        batch_op.drop_index(batch_op.f("ix_tournament_owner_id"))

    op.drop_table("tournament")
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_token_account_id"))

    op.drop_table("token")
    with op.batch_alter_table("bot", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_bot_owner_id"))

    op.drop_table("bot")
    op.drop_table("answer")
    op.drop_table("worker")
    with op.batch_alter_table("snapshot", schema=None) as batch_op:
        batch_op.drop_index("ix_snapshot_pool")

    op.drop_table("snapshot")
    op.drop_table("account")
