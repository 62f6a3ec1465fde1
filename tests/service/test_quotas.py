"""What one account may take up."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from service import accounts, bots, entries, tournaments
from service.accounts import Account
from service.errors import Conflict, Invalid, TooMany
from service.work import Arena

BOT = b"def bid(view):\n    return 0\n"
SPEC = {"name": "Cup", "players": 4, "rules": {"preset": "fundex", "hand_sizes": [1]}}


def strict(arena: Arena, **limits: int) -> Arena:
    return Arena(replace(arena.settings, **limits), arena.database, arena.queue, arena.clock)


def submit(arena: Arena, owner: Account, name: str) -> bots.Bot:
    return bots.submit(arena, owner, name=name, filename="b.py", content=BOT)


def test_an_account_has_so_many_active_bots(arena: Arena, author: Account) -> None:
    arena = strict(arena, max_bots=2)
    first = submit(arena, author, "a")
    submit(arena, author, "b")
    with pytest.raises(Conflict, match="at most 2 active bots"):
        submit(arena, author, "c")
    bots.retire(arena, author, first.id)
    submit(arena, author, "c")


def test_uploads_beyond_the_hours_are_refused_until_there_is_room(
    arena: Arena, author: Account, clock: Any
) -> None:
    arena = strict(arena, uploads_per_hour=2)
    first = submit(arena, author, "a")
    clock.turn(600)
    bots.add_version(arena, author, first.id, filename="b.py", content=BOT)
    with pytest.raises(TooMany) as refused:
        submit(arena, author, "b")
    clock.turn(refused.value.retry_after)
    submit(arena, author, "b")


def test_matches_that_wait_are_counted_scheduled_ones_too(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]
) -> None:
    arena, ids = strict(arena, queued_matches=20), ready_bots(4)
    tournaments.create(arena, author, {**SPEC, "entrants": ids, "deals": 2})
    tournaments.create(arena, author, {**SPEC, "entrants": ids, "deals": 2, "start_at": "manual"})
    with pytest.raises(Invalid) as refused:
        tournaments.create(arena, author, {**SPEC, "entrants": ids, "deals": 2})
    assert "16 of yours wait already" in refused.value.errors["deals"][0]
    tournaments.create(arena, author, {**SPEC, "entrants": ids, "deals": 1})


def test_who_enters_bots_one_after_another_passes_no_quota(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]
) -> None:
    ids = ready_bots(6)
    told = {**SPEC, "players": 2, "entrants": ids[:2], "deals": 3, "start_at": "manual"}
    made = tournaments.create(arena, author, told)
    assert made.progress.total == 6
    few = strict(arena, queued_matches=20)
    entries.enter(few, author, made.id, ids[2])
    assert tournaments.tournament(arena, made.id).progress.total == 18
    with pytest.raises(Invalid) as refused:
        entries.enter(few, author, made.id, ids[3])
    assert "makes 18 matches and 18 of yours wait already" in refused.value.errors["entrant"][0]
    with pytest.raises(Invalid) as refused:
        entries.enter(strict(arena, max_matches=20), author, made.id, ids[3])
    assert "36 matches" in refused.value.errors["entrant"][0]
    entries.enter(arena, author, made.id, ids[3])
    assert len(tournaments.tournament(arena, made.id).entrants) == 4
    assert tournaments.start(arena, author, made.id).progress.total == 36


def test_too_many_for_a_full_field_are_said_to_be_of_one(arena: Arena, author: Account) -> None:
    told = {**SPEC, "entrants": [], "start_at": "manual", "entry": {"open": True, "limit": 30}}
    with pytest.raises(Invalid, match="matches with a full field of 30, at most 20 are"):
        tournaments.create(strict(arena, max_matches=20), author, told)


def test_an_admin_has_no_quota(arena: Arena) -> None:
    token = accounts.ensure_admin(arena)
    assert token is not None
    admin = accounts.authenticate(arena, token)
    arena = strict(arena, max_bots=1, uploads_per_hour=1)
    assert [submit(arena, admin, name).name for name in ("a", "b", "c")] == ["a", "b", "c"]
