"""Browsers that signed in: whose they are, and when they are no more."""

from typing import Any

import pytest
from sqlalchemy import select

from service import accounts, sessions
from service.errors import Unauthorized
from service.tables import session
from service.work import Arena

DAY = 86_400  # seconds


@pytest.fixture
def token(arena: Arena) -> str:
    return accounts.register(arena, name="ada")[1]


def test_a_session_is_its_tokens_account(arena: Arena, token: str) -> None:
    who, key = sessions.begin(arena, token)
    assert who.name == "ada"
    assert sessions.account_of(arena, key) == who


@pytest.mark.parametrize("secret", ["rage_nothing", ""])
def test_no_session_without_a_token_that_is_valid(arena: Arena, secret: str) -> None:
    with pytest.raises(Unauthorized):
        sessions.begin(arena, secret)
    assert sessions.account_of(arena, secret) is None


def test_it_ends_by_signing_out_with_time_and_with_its_token(arena: Arena, token: str, clock: Any) -> None:
    first, second, third = (sessions.begin(arena, token)[1] for _ in range(3))
    sessions.end(arena, first)
    sessions.end(arena, first)
    assert sessions.account_of(arena, first) is None
    assert sessions.account_of(arena, second) is not None
    clock.turn(DAY * 14 - 60)
    assert sessions.account_of(arena, second) is not None
    clock.turn(120)
    assert sessions.account_of(arena, second) is None
    fresh = sessions.begin(arena, token)[1]
    accounts.revoke(arena, name="ada")
    assert sessions.account_of(arena, fresh) is None
    assert sessions.account_of(arena, third) is None


def test_what_is_stored_signs_nobody_in(arena: Arena, token: str) -> None:
    _, key = sessions.begin(arena, token)
    with arena.read() as db:
        stored = db.execute(select(session)).one()
    assert sessions.account_of(arena, stored.hash) is None
    assert key not in str(tuple(stored))
    assert sessions.form_key(key) not in str(tuple(stored))
