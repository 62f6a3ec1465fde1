"""A look at the database, with and without a transaction."""

import pytest
from sqlalchemy import func, insert, select

from service.tables import pulse
from service.work import Arena


def test_a_glance_sees_what_is_committed_and_leaves_the_connection_as_it_was(arena: Arena) -> None:
    count = select(func.count()).select_from(pulse)
    with arena.glance() as db:
        assert db.scalar(count) == 0
    with pytest.raises(RuntimeError), arena.work() as work:
        work.db.execute(insert(pulse).values(id=1, at=work.now, watched_ms=0))
        raise RuntimeError
    with arena.glance() as db:
        assert db.scalar(count) == 0, "a write after it is a transaction again"
    with arena.work() as work:
        work.db.execute(insert(pulse).values(id=1, at=work.now, watched_ms=0))
        with arena.glance() as db:
            assert db.scalar(count) == 0
    with arena.glance() as db:
        assert db.scalar(count) == 1
