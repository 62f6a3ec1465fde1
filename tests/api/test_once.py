"""Idempotency-Key over HTTP."""

from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

KEY = "a key nobody guesses"


def test_a_tournament_is_made_once_for_one_key(ada: Any, ready_bots: list[str], make_spec: Any) -> None:
    spec = make_spec(ready_bots)
    first, again = ada.post("/tournaments", spec, key="k"), ada.post("/tournaments", spec, key="k")
    assert (again.status_code, again.get_json()) == (201, first.get_json())
    assert len(ada.get("/tournaments").get_json()["items"]) == 1


def test_no_token_is_kept_in_the_database(ada: Any, arena: Any) -> None:
    made = ada.post("/accounts", {"name": "friend of ada"}, key=KEY)
    again = ada.post("/accounts", {"name": "friend of ada"}, key=KEY)
    assert again.get_json() == made.get_json()
    with arena.read() as db:
        assert db.execute(text("SELECT count(*) FROM answer")).scalar() == 0


def test_another_body_under_the_key_is_a_conflict(ada: Any, ready_bots: list[str], make_spec: Any) -> None:
    ada.post("/tournaments", make_spec(ready_bots), key="k")
    assert ada.post("/tournaments", make_spec(ready_bots, deals=3), key="k").status_code == 409


def test_another_path_under_the_key_is_a_conflict(ada: Any, ready_bots: list[str], make_spec: Any) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots), key="k").get_json()
    assert ada.post(f"/tournaments/{made['id']}/pause", key="k").status_code == 409


def test_an_upload_is_the_same_whatever_the_boundary(ada: Any) -> None:
    first, again = ada.upload(name="spy", key="k"), ada.upload(name="spy", key="k")
    assert (again.status_code, again.get_json()) == (201, first.get_json())
    assert ada.upload(name="spy", code=b"other", key="k").status_code == 409


def test_a_key_is_an_accounts_own(ada: Any, bob: Any) -> None:
    assert ada.upload(name="spy", key="k").status_code == 201
    assert bob.upload(name="other", key="k").status_code == 201


def test_a_token_for_less_gets_no_answer_that_one_for_more_got(ada: Any) -> None:
    first = {"label": "first", "scopes": ["author", "organiser"]}
    narrow = ada.post("/accounts/me/tokens", {"label": "narrow", "scopes": ["author"]}).get_json()["token"]
    made = ada.post("/accounts/me/tokens", first, key=KEY)
    assert ada.post("/accounts/me/tokens", first, key=KEY).get_json() == made.get_json()
    refused = replace(ada, token=narrow).post("/accounts/me/tokens", first, key=KEY)
    assert refused.status_code == 422 and "scopes" in refused.get_json()["errors"]


def test_a_refusal_is_not_remembered(ada: Any) -> None:
    assert ada.upload(name="a/b", key="k").status_code == 422
    assert ada.upload(name="spy", key="k").status_code == 201


def test_a_key_is_forgotten_after_a_day(ada: Any, clock: Any) -> None:
    ada.upload(name="spy", key="k")
    clock.turn(hours=25)
    assert ada.upload(name="spy", key="k").status_code == 409  # the name is taken: it was really tried


def test_a_registration_may_be_sent_again(http: FlaskClient, clock: Any) -> None:
    def register(name: str, key: str) -> Any:
        return http.post("/api/v1/accounts", json={"name": name}, headers={"Idempotency-Key": key})

    first = register("eve", KEY)
    assert register("eve", KEY).get_json() == first.get_json()
    assert register("mallory", KEY).status_code == 409
    clock.turn(hours=25)
    assert register("eve", KEY).status_code == 409


def test_a_token_is_never_repeated_under_a_key_that_can_be_guessed(http: FlaskClient) -> None:
    for status in (201, 409):
        answer = http.post("/api/v1/accounts", json={"name": "eve"}, headers={"Idempotency-Key": "1"})
        assert answer.status_code == status


@pytest.mark.parametrize("key", ["x" * 201, "é", "a\tb"])
def test_a_key_that_cannot_be_kept_is_named(ada: Any, key: str) -> None:
    answer = ada.upload(name="spy", key=key)
    assert (answer.status_code, list(answer.json["errors"])) == (422, ["Idempotency-Key"])


def test_a_form_whose_parts_have_no_name_is_refused_by_field(ada: Any) -> None:
    part = b'--B\r\nContent-Disposition: form-data; name="%s"\r\n\r\ntrue\r\n'
    body = part % b"a\\" + part % b"b" + b"--B--\r\n"
    for key in (None, "k"):
        answer = ada.post("/bots", data=body, content_type="multipart/form-data; boundary=B", key=key)
        assert answer.status_code == 422, answer.text
