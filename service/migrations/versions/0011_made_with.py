"""Which token a token was made with; names that look alike are the same."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

LOOKS_LIKE = str.maketrans(
    "авекмнорстухѕіјһԁԛԝӏѵгьҽӕ" + "αβγεζηικμνορτυχω" + "աոսօցհյ" + "ɑɡıɩʏ",
    "abekmhopctyxsijhdqwlvrbeæ" + "abyezhikmvoptuxw" + "wnuoghj" + "agiiy",
)


def upgrade() -> None:
    """One step up; of names that look alike already, both keep what they have."""
    op.add_column("token", sa.Column("made_with", sa.String(length=40), nullable=True))
    for name in ("account", "bot"):
        _rename(op.get_bind(), sa.table(name, sa.column("id", sa.String), sa.column("name_key", sa.String)))


def downgrade() -> None:
    """One step down; keys stay."""
    with op.batch_alter_table("token") as table:
        table.drop_column("made_with")


def _rename(db: sa.Connection, table: sa.TableClause) -> None:
    rows = db.execute(sa.select(table.c.id, table.c.name_key)).all()
    taken = {row.name_key for row in rows}
    for row in rows:
        key = row.name_key.translate(LOOKS_LIKE)
        if key not in taken:
            db.execute(sa.update(table).where(table.c.id == row.id).values(name_key=key))
            taken.add(key)
