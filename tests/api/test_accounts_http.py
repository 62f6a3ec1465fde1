"""Accounts and tokens over HTTP: who may do what."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from service import accounts
from service.accounts import Role
from service.work import Arena
from tests.databases import ON_EACH


def test_an_account_gets_a_token_that_says_who_it_is(http: FlaskClient, ada: Any) -> None:
    assert ada.get("/accounts/me").get_json()["name"] == "ada"
    assert "token" not in ada.get("/accounts/me").get_json()


def test_an_answer_with_a_token_is_kept_by_nobody(http: FlaskClient) -> None:
    answer = http.post("/api/v1/accounts", json={"name": "eve"})
    assert answer.status_code == 201
    assert answer.headers["Cache-Control"] == "no-store"


@ON_EACH
def test_a_name_is_taken_once(http: FlaskClient, ada: Any) -> None:
    assert http.post("/api/v1/accounts", json={"name": "Ada"}).status_code == 409


@pytest.mark.parametrize(
    "given", ["Bearer", "Bearer ", "Basic YTpi", "Bearer rage_wrong", "nonsense", "Bearer é"]
)
def test_a_token_that_is_none_is_a_401_even_for_reading(http: FlaskClient, given: str) -> None:
    answer = http.get("/api/v1/bots", headers={"Authorization": given.encode().decode("latin-1")})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "bots"),
        ("POST", "bots/bot_x/versions"),
        ("DELETE", "bots/bot_x"),
        ("POST", "tournaments"),
        ("POST", "tournaments/t_x/start"),
        ("POST", "tournaments/t_x/cancel"),
        ("GET", "accounts/me"),
        ("GET", "bots/bot_x/versions/1/faults"),
    ],
)
def test_strangers_are_turned_away_before_their_body_is_read(
    http: FlaskClient, method: str, path: str
) -> None:
    assert http.open(f"/api/v1/{path}", method=method, data=b"\xff").status_code == 401


@ON_EACH
def test_a_revoked_token_is_worth_nothing(arena: Arena, ada: Any) -> None:
    accounts.revoke(arena, name="ada")
    assert ada.get("/accounts/me").status_code == 401


def test_reading_may_be_closed_to_strangers(strict_http: FlaskClient, arena: Arena) -> None:
    for path in ("bots", "tournaments", "rankings", "rules"):
        assert strict_http.get(f"/api/v1/{path}").status_code == 401
    assert strict_http.get("/healthz").status_code == 200
    assert "Reading needs a token" in strict_http.get("/").text


def test_registration_may_be_closed_but_not_to_admins(strict_http: FlaskClient, arena: Arena) -> None:
    assert strict_http.post("/api/v1/accounts", json={"name": "eve"}).status_code == 403
    with arena.work() as work:
        _, token = accounts.create(work, name="boss", role=Role.ADMIN)
    headers = {"Authorization": f"Bearer {token}"}
    made = strict_http.post("/api/v1/accounts", json={"name": "eve"}, headers=headers)
    assert made.status_code == 201
    known = {"Authorization": f"Bearer {made.json['token']}"}
    assert strict_http.get("/api/v1/bots", headers=known).status_code == 200


def test_what_needed_a_token_is_kept_by_its_owner_only(
    ada: Any, ready_bots: list[str], http: FlaskClient
) -> None:
    assert ada.get(f"/bots/{ready_bots[0]}").headers["Cache-Control"] == "private, no-cache"
    assert http.get(f"/api/v1/bots/{ready_bots[0]}").headers["Cache-Control"] == "no-cache"
