"""Letters of East Asia that look alike, and apostrophes that are letters, make the same name."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

LOOKS_LIKE = str.maketrans(
    "〇ᄋᆼ丨ᅵ" + "ーᅳニハヘベペトタカロエノ" + "\u02b9\u02bb\u02bd\u02be\u02bf\u02c8",
    "oooll" + "一一二八へべぺ卜夕力口工丿" + "\u02bc\u02bc\u02bc\u02bc\u02bc\u02bc",
    "\u115f\u1160\u3164\uffa0",
)


def upgrade() -> None:
    """One step up; of names that look alike already, both keep what they have."""
    for name in ("account", "bot"):
        _rename(op.get_bind(), sa.table(name, sa.column("id", sa.String), sa.column("name_key", sa.String)))


def downgrade() -> None:
    """One step down; keys stay."""


def _rename(db: sa.Connection, table: sa.TableClause) -> None:
    rows = db.execute(sa.select(table.c.id, table.c.name_key)).all()
    taken = {row.name_key for row in rows}
    for row in rows:
        key = row.name_key.translate(LOOKS_LIKE)
        if key and key not in taken:
            db.execute(sa.update(table).where(table.c.id == row.id).values(name_key=key))
            taken.add(key)
