"""Tokens with an id, a label and scopes."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One step up; tokens made before are for everything their account may."""
    with op.batch_alter_table("token") as batch_op:
        batch_op.add_column(sa.Column("id", sa.String(length=40), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("label", sa.String(length=60), nullable=False, server_default="first"))
        everything = "author organiser admin"
        batch_op.add_column(
            sa.Column("scopes", sa.String(length=60), nullable=False, server_default=everything)
        )
    op.execute("UPDATE token SET id = 'tok_' || substr(hash, 1, 16)")
    with op.batch_alter_table("token") as batch_op:
        for name in ("id", "label", "scopes"):
            batch_op.alter_column(name, existing_type=sa.String(), server_default=None)
        batch_op.create_unique_constraint(batch_op.f("uq_token_id"), ["id"])


def downgrade() -> None:
    """One step back."""
    with op.batch_alter_table("token") as batch_op:
        batch_op.drop_constraint(batch_op.f("uq_token_id"), type_="unique")
        for name in ("scopes", "label", "id"):
            batch_op.drop_column(name)
