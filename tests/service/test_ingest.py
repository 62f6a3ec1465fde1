"""Results that come together are what they would be one by one; each is judged by its own lease."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from loadtests import singly
from service import counts, incidents, leases, progress, rerate, stages, tables, tournaments
from service.accounts import Account
from service.errors import Unavailable
from service.leases import Assignment
from service.sheet import Sheet
from service.work import Arena
from workers.spool import Spool

SMALL = {"preset": "fundex", "hand_sizes": [1]}
Make = Callable[[Assignment], Sheet]


@pytest.fixture
def cup(arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]) -> str:
    """24 matches in 12 deals."""
    told = {"name": "Cup", "entrants": ready_bots(4), "players": 2, "rules": SMALL, "deals": 2}
    return tournaments.create(arena, author, told).id


def claimed(arena: Arena, many: int) -> list[Assignment]:
    return [held for held in (singly.claim(arena, f"host-0-{n}-1") for n in range(many)) if held is not None]


def together(arena: Arena, sheets: Sequence[Sheet], *, worker: str) -> list[bool]:
    return leases.give_in_all(arena, sheets, worker=worker)[0]


def rows(arena: Arena) -> list[Any]:
    order = (tables.seat.c.number, tables.seat.c.seat)
    with arena.read() as db:
        return [tuple(row)[1:] for row in db.execute(select(tables.seat).order_by(*order))]


def test_together_they_are_what_they_are_one_by_one(arena: Arena, cup: str, make: Make) -> None:
    sheets = [make(held) for held in claimed(arena, 24)]
    assert together(arena, sheets[5:], worker="w") == [True] * 19
    assert [leases.give_in(arena, each, worker="w")[0] for each in sheets[:5]] == [True] * 5
    assert tournaments.tournament(arena, cup).status == "finished"
    assert rerate.rerate(arena).wrong == []
    with arena.read() as db:
        assert sum(line.matches for line in counts.stored_lines(db, cup)) == 24
    assert len(rows(arena)) == 48


def test_each_is_judged_by_its_own_lease_and_counts_once(arena: Arena, cup: str, make: Make) -> None:
    held = claimed(arena, 6)
    sheets = [make(each) for each in held]
    leases.give_back(arena, held[2], "lost", suspicion=0)
    again = next(each for each in claimed(arena, 1) if each.number == held[2].number)
    late, twice, right = sheets[2], sheets[0], make(again)
    told = together(arena, [*sheets[:2], twice, late, right, *sheets[3:]], worker="w")
    assert told == [True, True, False, False, True, True, True, True]
    assert together(arena, sheets, worker="w") == [False] * 6
    with arena.read() as db:
        assert progress.of_tournaments(db, [cup])[cup] == progress.recounted(db, cup)
    assert len(rows(arena)) == 12 and rerate.rerate(arena).wrong == []


def test_batches_that_meet_others_wait_for_nobody_for_ever(arena: Arena, cup: str, make: Make) -> None:
    sheets = [make(held) for held in claimed(arena, 24)]
    parts = [sheets[0::3], sheets[1::3][::-1], sheets[2::3]]
    with ThreadPoolExecutor(3) as crowd:
        told = list(crowd.map(lambda part: together(arena, part, worker="w"), parts))
    assert told == [[True] * 8] * 3
    assert tournaments.tournament(arena, cup).status == "finished"
    assert rerate.rerate(arena).wrong == []


def test_all_or_nothing_of_a_batch_is_written(arena: Arena, cup: str, make: Make) -> None:
    sheets = [make(held) for held in claimed(arena, 4)]
    broken = replace(sheets[3], seats=[{**sheets[3].seats[0], "place": None}, *sheets[3].seats[1:]])
    with pytest.raises(IntegrityError):
        together(arena, [*sheets[:3], broken], worker="w")
    assert rows(arena) == []
    assert together(arena, sheets, worker="w") == [True] * 4


def test_what_is_written_is_taken_whatever_fails_afterwards(
    arena: Arena, cup: str, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path / "spool")
    for sheet in [make(held) for held in claimed(arena, 24)]:
        with pytest.raises(Unavailable), spool.kept(sheet):
            raise Unavailable

    def broken(*_: object) -> None:
        raise LookupError("no plan")

    with monkeypatch.context() as patched:
        patched.setattr(stages, "advance", broken)
        given = spool.deliver(
            lambda each: leases.give_in(arena, each, worker="w"),
            lambda several: together(arena, several, worker="w"),
        )
    assert (given, spool.waiting(), len(rows(arena))) == (24, [], 48)
    with arena.read() as db:
        assert incidents.counts(db)[incidents.LATE] == 0
    assert stages.advance_due(arena) == 1
    assert tournaments.tournament(arena, cup).status == "finished"
