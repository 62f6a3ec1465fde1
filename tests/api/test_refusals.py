"""Refusals over HTTP: their status, their shape, what they tell."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    TooLarge,
    TooMany,
    Unauthorized,
    Unavailable,
)


@pytest.mark.parametrize(
    "path", ["/nothing", "/api/v1/nothing", "/api/v1/bots/%00", "/api/v1/bots/x/versions/0"]
)
def test_an_unknown_path_is_a_404_problem(http: FlaskClient, path: str) -> None:
    answer = http.get(path)
    assert (answer.status_code, answer.mimetype) == (404, "application/problem+json")
    assert set(answer.get_json(force=True)) == {"type", "title", "status", "detail"}


@pytest.mark.parametrize(
    "path", ["bots/bot_x", "tournaments/t_x", "matches/t_x-1", "matches/x", "rules/whist"]
)
def test_a_thing_that_is_not_there_is_a_404_problem(http: FlaskClient, path: str) -> None:
    assert http.get(f"/api/v1/{path}").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/api/v1/bots", {"GET", "HEAD", "OPTIONS", "POST"}),
        ("POST", "/healthz", {"GET", "HEAD", "OPTIONS"}),
    ],
)
def test_a_405_says_what_is_allowed(http: FlaskClient, method: str, path: str, allowed: set[str]) -> None:
    answer = http.open(path, method=method)
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == allowed


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff{}", b'{"name": NaN}', b"[" * 100_000, b'{"name": ' + b"9" * 5000 + b"}"]
)
def test_a_body_that_is_no_json_is_a_400(http: FlaskClient, body: bytes) -> None:
    answer = http.post("/api/v1/accounts", data=body, content_type="application/json")
    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")


def test_another_content_type_is_a_415(http: FlaskClient, ada: Any) -> None:
    assert http.post("/api/v1/accounts", data="name=x").status_code == 415
    assert http.post("/api/v1/accounts", data='{"name": "x"}', content_type="text/plain").status_code == 415
    assert ada.post("/bots", {"name": "x"}).status_code == 415


def test_a_body_too_large_is_a_413(http: FlaskClient, ada: Any) -> None:
    padding = " " * (1 << 20)
    answer = http.post("/api/v1/accounts", data='{"name": "x"}' + padding, content_type="application/json")
    assert (answer.status_code, answer.mimetype) == (413, "application/problem+json")
    assert ada.upload(name="fat", code=b"#" * (6 << 20)).status_code == 413


@pytest.mark.parametrize("body", [[], 1, "x", None])
def test_a_body_that_is_no_object_is_named(http: FlaskClient, body: Any) -> None:
    answer = http.post("/api/v1/accounts", data=json.dumps(body), content_type="application/json")
    assert (answer.status_code, answer.json["errors"]) == (422, {"body": ["must be a JSON object"]})


@pytest.mark.parametrize("name", ["", " x", "x" * 41, "x" * 500, "a\0b", "\ud800", 3, None, ["x"]])
def test_a_name_that_cannot_be_is_named(http: FlaskClient, name: Any) -> None:
    answer = http.post("/api/v1/accounts", data=json.dumps({"name": name}), content_type="application/json")
    assert (answer.status_code, list(answer.json["errors"])) == (422, ["name"])


def test_every_wrong_field_is_named_at_once_also_inside_lists(ada: Any) -> None:
    wrong = {
        "entrants": ["bot_x", 7, None],
        "players": True,
        "deals": 2.5,
        "meetings": "1",
        "duplicate": 1,
        "rules": [],
        "limits": "none",
        "seed": 5,
        "start_at": "2030-01-01",
        "format": "dance",
        "colour": "red",
    }
    answer = ada.post("/tournaments", wrong)
    assert answer.status_code == 422
    assert set(answer.json["errors"]) == {"name", "entrants.1", "entrants.2", *wrong} - {"entrants"}
    assert answer.json["errors"]["colour"][0].startswith("unknown field; known are name, format, entrants")


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"rules": {"preset": "whist"}}, "rules.preset"),
        ({"rules": {"preset": "fundex", "speed": 1}}, "rules.speed"),
        ({"limits": {"decision_ms": 1}}, "limits.decision_ms"),
        ({"entrants": ["bot_a", "bot_b"]}, "entrants.0"),
        ({"start_at": "2030-01-01T00:00:00"}, "start_at"),
        ({"start_at": "0001-01-01T00:00:00+23:59"}, "start_at"),
        ({"players": 5}, "entrants"),
    ],
)
def test_what_only_the_service_can_know_is_named_too(
    ada: Any,
    ready_bots: list[str],
    make_spec: Callable[..., dict[str, Any]],
    more: dict[str, Any],
    field: str,
) -> None:
    answer = ada.post("/tournaments", make_spec(ready_bots) | more)
    assert answer.status_code == 422
    assert field in answer.json["errors"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("bots?limit=0", "limit"),
        ("bots?limit=201", "limit"),
        ("bots?limit=x", "limit"),
        ("bots?limit=2.0", "limit"),
        ("bots?limit=", "limit"),
        ("bots?cursor=nonsense", "cursor"),
        ("bots?cursor=W10", "cursor"),
        ("bots?cursor=WzEsIlx1ZDgwMCJd", "cursor"),  # half of a surrogate pair
        ("bots?cursor=", "cursor"),
        ("bots?status=happy", "status"),
        ("bots?name=%00", "name"),
        ("bots?limt=5", "limt"),
        ("tournaments?status=x", "status"),
        ("rankings?players=1", "players"),
        ("rankings?at=yesterday", "at"),
    ],
)
def test_a_wrong_parameter_is_named(http: FlaskClient, query: str, field: str) -> None:
    answer = http.get(f"/api/v1/{query}")
    assert (answer.status_code, list(answer.json["errors"])) == (422, [field])


@pytest.mark.parametrize(
    ("refusal", "status", "header"),
    [
        (NotFound("x"), 404, None),
        (Conflict("x"), 409, None),
        (Unauthorized("x"), 401, ("WWW-Authenticate", 'Bearer realm="rage"')),
        (Forbidden("x"), 403, None),
        (TooLarge("x"), 413, None),
        (TooMany("x", retry_after=7), 429, ("Retry-After", "7")),
        (Unavailable("x"), 503, ("Retry-After", "2")),
        (Invalid({"a.0": ["b"]}), 422, None),
        (RuntimeError("hush"), 500, None),
    ],
)
def test_each_refusal_has_its_status_and_header(
    app: Flask, http: FlaskClient, refusal: Exception, status: int, header: tuple[str, str] | None
) -> None:
    def refuse() -> None:
        raise refusal

    app.add_url_rule("/refuse", view_func=refuse)
    answer = http.get("/refuse")
    assert (answer.status_code, answer.mimetype) == (status, "application/problem+json")
    assert answer.json["status"] == status
    assert "hush" not in answer.text
    assert header is None or answer.headers[header[0]] == header[1]


def test_what_only_the_database_knows_is_named_together_with_what_has_the_wrong_shape(ada: Any) -> None:
    wrong = {
        "name": "x",
        "entrants": ["bot_x", "bot_y"],
        "players": 12,
        "format": "swiss",
        "challenger": "bot_x",
    }
    answer = ada.post("/tournaments", wrong)
    assert answer.status_code == 422
    assert set(answer.json["errors"]) == {"entrants.0", "entrants.1", "players", "challenger"}


@pytest.mark.parametrize("path", ["/api/v1//bots", "/api/v1/bots//", "/docs//bots"])
def test_a_path_with_two_slashes_is_none(http: FlaskClient, path: str) -> None:
    answer = http.get("/", environ_overrides={"PATH_INFO": path})
    assert (answer.status_code, answer.mimetype) == (404, "application/problem+json")
