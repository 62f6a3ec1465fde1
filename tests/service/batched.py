"""What tests of leases of several matches share."""

from typing import Any

from sqlalchemy import select

from service import leases, progress, tables
from service.leases import Assignment
from service.turns import Share
from service.work import Arena


def some(arena: Arena, cup: str, worker: str, many: int) -> list[Assignment]:
    held = leases.claim_some(arena, worker, Share(many * 10.0, {cup: 10.0}))
    assert len(held) == many
    return held


def rows(arena: Arena) -> dict[int, Any]:
    with arena.read() as db:
        return {row.number: row for row in db.execute(select(tables.match))}


def consistent(arena: Arena, cup: str) -> bool:
    with arena.read() as db:
        return progress.of_tournaments(db, [cup])[cup] == progress.recounted(db, cup)
