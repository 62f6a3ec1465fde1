"""Names in the database: whose one is, and whether one looks like another that is there."""

from sqlalchemy import Column, ColumnElement, Connection, Table, func, select

from service import names

# What small letters a Greek name's key may hold for the capitals n and y of its shape.
SMALL = (str.maketrans("", ""), str.maketrans("n", "v"), str.maketrans("ny", "vu"))


def named(column: Column[str], name: str) -> ColumnElement[bool]:
    """Whose key in a table's `column` a name is: the very name's before that of one it looks like.

    Of names that looked alike before such were refused, the later one kept the key it had.
    """
    exact, key = names.exact(name), names.key(name)
    itself = select(column).where(column == exact).correlate(None).scalar_subquery()
    return column == func.coalesce(itself, key)


def taken(db: Connection, table: Table, name: str) -> bool:
    """Whether a name in a table has the shape of this one, though another key.

    A small Greek nu looks like v, a capital one like N: no key can say both, or `ana` were the same as `ava`.
    """
    own = names.shape(name)
    keys = {own.translate(small) for small in SMALL}
    found = db.scalars(select(table.c.name).where(table.c.name_key.in_(keys)))
    return any(names.shape(each) == own for each in found)
