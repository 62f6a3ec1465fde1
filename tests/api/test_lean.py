"""Rankings are written without the application where they are asked for as usual, and are the same."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from flask.testing import FlaskClient

from api.app import create_app
from api.lean import TODAY, Lean
from service import refit
from service.work import Arena

PATH = "/api/v1/rankings"
NOT_USUAL = "&format=json"  # all the same to the application, and too much for us


@pytest.fixture
def pool(http: FlaskClient, cup: dict[str, Any]) -> str:
    """The query for the rankings with the cup's results."""
    (found,) = http.get("/api/v1/rankings/pools").get_json()["items"]
    return f"rules={quote(found['rules'])}&players={found['players']}"


@pytest.fixture
def lean(app: Flask, arena: Arena) -> Callable[[str], bytes]:
    """Their text, which must have been written without the application."""
    writer = Lean(app, arena)

    def write(query: str) -> bytes:
        written = writer(query)
        assert written is not None
        return written[1]

    return write


@pytest.mark.parametrize("more", ["", "&limit=200", "&limit=4", "&limit=3", "&limit=%31"])
def test_they_are_what_the_application_says(http: FlaskClient, pool: str, more: str) -> None:
    ours, theirs = (http.get(f"{PATH}?{pool}{more}{added}") for added in ("", NOT_USUAL))
    assert len(ours.get_json()["items"]) == min(4, int(ours.request.args.get("limit", 50)))
    assert ours.data == theirs.data
    assert named(ours) == named(theirs)


def named(answer: Any) -> dict[str, str]:
    """Headers, without those that are each answer's own."""
    return {name: value for name, value in answer.headers if name not in ("X-Request-ID", "Date")}


def test_a_cursor_goes_on_where_they_end(http: FlaskClient, pool: str) -> None:
    first = http.get(f"{PATH}?{pool}&limit=3").get_json()
    rest = http.get(f"{PATH}?{pool}&limit=3&cursor={first['next']}").get_json()
    assert (len(first["items"]), len(rest["items"]), rest["next"]) == (3, 1, None)


def test_what_is_not_usual_is_the_applications(app: Flask, arena: Arena, pool: str) -> None:
    writer = Lean(app, arena)
    assert writer(pool) is not None
    for more in ("limit=0", "limit=201", "limit=x", "limit=+5", "limit=5&limit=5", "limit=", "cursor=x",
                 "what=1", "name=spy", "model=elo_classic", pool):  # fmt: skip
        assert writer(f"{pool}&{more}") is None, more
    for rules in ("nobody", "", "%00", "%ff", "%ed%a0%80", "x" * 41):
        assert writer(f"rules={rules}") is None, rules


def test_where_strangers_may_not_read_nothing_is_written(arena: Arena, pool: str) -> None:
    closed = replace(arena, settings=replace(arena.settings, public_read=False))
    app = create_app(arena=closed)
    assert Lean(app, closed)(pool) is None
    assert app.test_client().get(f"{PATH}?{pool}").status_code == 401


def test_a_new_snapshot_is_seen_at_once(
    http: FlaskClient,
    ada: Any,
    arena: Arena,
    cup: dict[str, Any],
    pool: str,
    lean: Any,
    make_spec: Any,
    play_all: Any,
) -> None:
    before = lean(pool)
    assert lean(pool) == before
    made = ada.post("/tournaments", make_spec([each["bot_id"] for each in cup["entrants"]])).get_json()
    play_all()
    refit.settle(arena, made["id"])
    assert lean(pool) != before


def test_a_bot_retired_since_is_seen_some_seconds_later(
    app: Flask, arena: Arena, ada: Any, cup: dict[str, Any], pool: str
) -> None:
    now = 0.0
    writer = Lean(app, arena, clock=lambda: now)
    assert b'"retired":true' not in writer(pool)[1]  # type: ignore[index]
    assert ada.delete(f"/bots/{cup['entrants'][0]['bot_id']}").status_code == 204
    now += TODAY + 1
    assert b'"retired":true' in writer(pool)[1]  # type: ignore[index]


def test_it_takes_one_query_once_the_snapshot_is_known(pool: str, lean: Any, queries: list[str]) -> None:
    lean(pool)
    queries.clear()
    lean(f"{pool}&limit=2")
    assert len(queries) == 1


def test_who_asks_for_them_too_often_is_refused(pool: str, arena: Arena) -> None:
    app = create_app(arena=arena)
    counted: list[tuple[str, int]] = []

    def take(name: str, most: int, _: int) -> int:
        counted.append((name, most))
        return 7 if len(counted) > 2 else 0

    app.extensions["rates"].take = take
    answers = [app.test_client().get(f"{PATH}?{pool}&limit={limit}") for limit in (1, 2, 3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].headers["Retry-After"] == "7"
    assert counted == [("all:127.0.0.1", arena.settings.requests_per_minute)] * 3


def test_one_pool_that_is_being_read_holds_up_no_other(
    app: Flask, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, began, go_on = Lean(app, arena), threading.Event(), threading.Event()
    read = writer._read

    def slowly(rules: str, players: int) -> Any:
        if rules == "slow":
            began.set()
            assert go_on.wait(10)
        return read("fundex", players)

    monkeypatch.setattr(writer, "_read", slowly)
    with ThreadPoolExecutor() as threads:
        slow = threads.submit(writer._of, "slow", 3, "1")
        assert began.wait(10)
        try:
            assert threads.submit(writer._of, "fundex", 4, "1").result(timeout=5).ranking.players == 4
        finally:
            go_on.set()
        assert slow.result(timeout=10).ranking.players == 3
