"""The watch over leases asks little of those it watches: their rows are in its hands for one statement."""

from collections.abc import Callable

from sqlalchemy import select

from service import leases, reap, tables, tournaments
from service.accounts import Account
from service.progress import LEASED
from service.turns import Share
from service.work import Arena

SMALL = {"preset": "fundex", "hand_sizes": [1]}


def test_all_leases_that_changed_are_noted_with_one_statement(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], queries: list[str]
) -> None:
    told = {"name": "Cup", "entrants": ready_bots(4), "players": 2, "deals": 2, "rules": SMALL}
    cup = tournaments.create(arena, author, told).id
    assert len(leases.claim_some(arena, "w", Share(120, {cup: 10.0}))) == 12
    del queries[:]
    assert reap.reap(arena).returned == 0
    assert sum(said.replace('"', "").startswith("UPDATE match") for said in queries) == 1
    with arena.read() as db:
        found = db.execute(select(tables.match).where(LEASED)).all()
    assert len(found) == 12 and all(row.lease_seen == row.lease_until for row in found)
