"""Ratings from the records again: the same to the last digit, and whatever was changed is named."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update

from service import rankings, refit, rerate, tables, tournaments
from service.accounts import Account
from service.rerate import Findings
from service.work import Arena

QUICK = {"preset": "fundex", "hand_sizes": [1]}


@pytest.fixture
def cup(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], play_all: Callable[[Arena], int]
) -> str:
    """A tournament that was played and rated."""
    told = {"name": "Cup", "entrants": ready_bots(5), "players": 4, "deals": 1, "rules": QUICK}
    made = tournaments.create(arena, author, told).id
    play_all(arena)
    refit.settle(arena, made)
    return made


def look(arena: Arena) -> Findings:
    seen: list[tuple[int, int]] = []
    found = rerate.rerate(arena, at=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (found.matches, found.matches)
    return found


def change(arena: Arena, table: Any, **values: Any) -> None:
    """One row of a table."""
    with arena.work() as work:
        key = list(table.primary_key)
        first = work.db.execute(select(*key).order_by(*key).limit(1)).one()
        this = [column == value for column, value in zip(key, first, strict=True)]
        work.db.execute(update(table).where(*this).values(values))


def test_what_was_played_gives_what_is_stored(arena: Arena, cup: str) -> None:
    found = look(arena)
    assert (found.wrong, found.tournaments, found.snapshots) == ([], 1, 3)
    assert found.matches == tournaments.tournament(arena, cup).progress.played > 0


def test_a_result_that_is_not_the_records_is_named(arena: Arena, cup: str) -> None:
    change(arena, tables.seat, counted=99)
    assert look(arena).wrong == [f"match {cup}-0: its record does not give the stored result"]


def test_a_damaged_record_is_named(arena: Arena, cup: str) -> None:
    change(arena, tables.match, record=b"torn")
    assert look(arena).wrong == [f"match {cup}-0: its record does not give the stored result"]


def test_a_changed_snapshot_is_named(arena: Arena, cup: str) -> None:
    with arena.read() as db:
        row = db.execute(select(tables.snapshot).order_by(tables.snapshot.c.id)).first()
    assert row is not None
    body = [{**row.body[0], "rating": 3000.0}, *row.body[1:]]
    change(arena, tables.snapshot, body=body)
    (said,) = look(arena).wrong
    assert f"snapshot {row.id} says something else of {body[0]['version_id']}" in said


def test_wrong_and_missing_counts_are_named_and_counted_again(arena: Arena, cup: str) -> None:
    before = rankings.rankings(arena, rules=rankings.pools(arena)[0].rules)
    with arena.work() as work:
        for table in (tables.counted, tables.estimate, tables.rating, tables.snapshot, tables.pool):
            work.db.execute(table.delete())
    found = look(arena)
    assert len(found.wrong) == 1 and "tables are counted wrongly (0 matches" in found.wrong[0]
    assert rerate.repair(arena, found) == 1
    assert look(arena).wrong == []
    after = rankings.rankings(arena, rules=before.rules)
    assert (after.items, after.matches, after.last_deal) == (before.items, before.matches, before.last_deal)
