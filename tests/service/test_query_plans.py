"""What is done for every match or every look never reads a table of all matches from end to end.

`python -m loadtests.bench_scale` shows the same with a million of them, and what it costs.
"""

from collections.abc import Callable

import pytest
from sqlalchemy import select

from loadtests import plans, singly
from service import events, folds, health, leaving, lost, matches, quotas, rankings, reap, tournaments
from service.accounts import Account
from service.leases import Assignment
from service.progress import LEASED
from service.tables import match
from service.work import Arena

SMALL = {"preset": "fundex", "hand_sizes": [1]}


@pytest.fixture
def cup(arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]) -> str:
    """A running tournament of twelve matches."""
    told = {"name": "Cup", "entrants": ready_bots(3), "players": 2, "rules": SMALL, "deals": 2}
    return tournaments.create(arena, author, told).id


def test_no_hot_statement_reads_all_matches(
    arena: Arena, author: Account, cup: str, finish: Callable[..., tuple[bool, Assignment | None]]
) -> None:
    with plans.recorded(arena) as asked:
        held = singly.claim(arena, "host-0-1-1")
        assert held is not None and singly.renew(arena, held)
        finish(arena, held, more=True)
        lost.inherit(arena, "host-0-1", "host-0-1-2")
        assert singly.claim(arena, "host-0-1-2")
        reap.reap(arena)
        health.metrics(arena)
        matches.match(arena, f"{cup}-0")
        matches.matches(arena, cup)
        matches.latest(arena, cup, limit=5)
        tournaments.tournaments(arena)
        tournaments.tournament(arena, cup)
        folds.standings_of(arena, cup)
        events.since(arena, cup)
        rankings.rankings(arena)
        with arena.work() as work:
            quotas.more_matches(arena, work, author, 1)
        bot = tournaments.tournament(arena, cup).entrants[0].bot_id
        rankings.history(arena, bot)
        leaving.withdraw(arena, author, cup, bot)
    assert len(asked.seen) > 60
    assert list(plans.offences(arena, asked, small=True)) == []


def test_one_that_does_is_found(arena: Arena, cup: str) -> None:
    with plans.recorded(arena) as asked, arena.read() as db:
        db.execute(select(match.c.number).where(match.c.mode == "A")).all()
        db.execute(select(match.c.number).where(LEASED)).all()
    found = [statement for statement, _ in plans.offences(arena, asked, small=True)]
    assert len(found) == 1 and "mode" in found[0]
