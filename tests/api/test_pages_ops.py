"""The front page, and what operators ask."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import update

from api.app import create_app
from service import presence, tables
from service.settings import Settings
from service.work import Arena


def test_the_front_page_tells_what_runs_and_how_to_join(
    http: FlaskClient, ada: Any, ready_bots: list[str], make_spec: Any
) -> None:
    ada.post("/tournaments", make_spec(ready_bots, name="<b>Open</b>"))
    page = http.get("/")
    assert page.status_code == 200
    assert "&lt;b&gt;Open&lt;/b&gt;" in page.text
    assert "curl http://localhost/api/v1/accounts" in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["Referrer-Policy"] == "same-origin"


def test_the_front_page_shows_the_best(http: FlaskClient, arena: Arena, cup: dict[str, Any]) -> None:
    line = {
        "version_id": f"{cup['entrants'][0]['bot_id']}:1",
        "rating": 1532.4,
        "low": 1490.0,
        "high": 1575.0,
        "matches": 480,
        "groups": 120,
        "rank_range": [1, 1],
        "place": 1,
        "p_better_next": None,
        "provisional": False,
    }
    with arena.work() as work:
        work.db.execute(update(tables.snapshot).values(rules_key="fundex", body=[line]))
    page = http.get("/").text
    assert "bot 0 v1" in page
    assert "1490 to 1575" in page


def test_the_front_page_shows_provisional_bots_apart(
    http: FlaskClient, arena: Arena, cup: dict[str, Any]
) -> None:
    with arena.work() as work:
        work.db.execute(update(tables.snapshot).values(rules_key="fundex"))
    page = http.get("/").text
    assert page.count('<tr class="faint"><td class="n"><span class="place"></span></td>') == 4
    assert "bot 3 v1</a> (provisional)" in page
    for model, said in (
        ("elo", "10 deals and its pool is sure to within 60 Elo."),
        ("elo_classic", "10 deals."),
    ):
        text = http.get(f"/rankings?rules=fundex&players=4&model={model}").text
        assert f">A bot is provisional, and has no place, until it has played {said}</p>" in text


def test_the_front_page_shows_who_won_newest_first(
    http: FlaskClient, ada: Any, cup: dict[str, Any], make_spec: Any, play_all: Any
) -> None:
    assert "No tournament was played to its end" not in http.get("/").text
    bots = [each["bot_id"] for each in cup["entrants"]]
    later = ada.post("/tournaments", make_spec(bots, name="Later cup")).json["id"]
    play_all()
    page = http.get("/?later").text.partition("<h2>Finished</h2>")[2].partition("<h2>")[0]
    assert page.index("Later cup") < page.index(">Open<")
    for one in (later, cup["id"]):
        line = page.partition(f'/tournaments/{one}">')[2].partition("</tr>")[0]
        standings = http.get(f"/api/v1/tournaments/{one}/standings").json["items"]
        for each in standings:
            assert (f"{each['name']} v1" in line) == (each["place"] == 1)


@pytest.mark.parametrize("path", ["/static/rage.css", "/static/favicon.svg", "/favicon.ico"])
def test_the_pages_files_are_served(http: FlaskClient, path: str) -> None:
    assert http.get(path).status_code == 200


def test_it_is_ready_once_a_worker_was_seen(http: FlaskClient, arena: Arena) -> None:
    before = http.get("/readyz")
    assert (before.status_code, before.json["ok"], len(before.json["trouble"])) == (503, False, 1)
    presence.here(arena, "players-1", "A", {})
    after = http.get("/readyz")
    assert (after.status_code, after.json["trouble"]) == (200, [])
    assert [(each["name"], each["mode"]) for each in after.json["workers"]] == [("players-1", "A")]


def test_metrics_are_prometheus_text(http: FlaskClient, cup: dict[str, Any]) -> None:
    families = {each.name: each for each in text_string_to_metric_families(http.get("/metrics").text)}
    done = {sample.labels["status"]: sample.value for sample in families["rage_matches"].samples}
    assert done == {"done": 8.0}
    assert any(
        sample.labels["endpoint"] == "tournaments.create_tournament"
        for sample in families["rage_http_requests"].samples
    )


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
def test_figures_are_not_for_those_behind_a_proxy(http: FlaskClient, header: str) -> None:
    assert http.get("/metrics", headers={header: "203.0.113.9"}).status_code == 403


def test_figures_are_for_who_has_their_token_if_there_is_one(arena: Arena) -> None:
    settings = replace(arena.settings, metrics_token="correct-horse-battery")
    guarded = create_app(arena=replace(arena, settings=settings)).test_client()
    assert guarded.get("/metrics").status_code == 401
    assert guarded.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401
    through = {"Authorization": "Bearer correct-horse-battery", "X-Forwarded-For": "203.0.113.9"}
    assert "rage_up 1.0" in guarded.get("/metrics", headers=through).text


def test_what_balances_the_load_need_not_know_of_workers(http: FlaskClient) -> None:
    assert http.get("/readyz").status_code == 503
    assert http.get("/readyz/database").json == {"ok": True, "trouble": None}


def test_a_request_id_is_passed_on_or_made(http: FlaskClient) -> None:
    assert http.get("/healthz", headers={"X-Request-ID": "abc-1"}).headers["X-Request-ID"] == "abc-1"
    assert http.get("/healthz", headers={"X-Request-ID": "a b\x7f"}).headers["X-Request-ID"] != "a b\x7f"


@pytest.fixture
def lost(tmp_path: Path) -> FlaskClient:
    """An application whose database is not there."""
    settings = replace(
        Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path)}),
        database_url=f"sqlite:///{tmp_path}/nowhere/rage.sqlite3",
        redis_url="redis://127.0.0.1:1/0",
    )
    return create_app(settings).test_client()


@pytest.mark.parametrize("path", ["/api/v1/bots", "/api/v1/rankings", "/api/v1/tournaments/t_x/events", "/"])
def test_without_a_database_reading_is_a_503_to_be_tried_again(lost: FlaskClient, path: str) -> None:
    answer = lost.get(path)
    assert (answer.status_code, answer.mimetype) == (503, "application/problem+json")
    assert int(answer.headers["Retry-After"]) > 0


def test_without_a_database_writing_is_a_503(lost: FlaskClient) -> None:
    assert lost.post("/api/v1/accounts", json={"name": "eve"}).status_code == 503
    answer = lost.post("/api/v1/bots", headers={"Authorization": "Bearer rage_x"})
    assert answer.status_code == 503


def test_without_database_and_broker_it_is_alive_but_not_ready(lost: FlaskClient) -> None:
    assert lost.get("/healthz").status_code == 200
    assert lost.get("/readyz/database").status_code == 503
    state = lost.get("/readyz")
    assert (state.status_code, state.json["database"], state.json["broker"]) == (503, "away", "away")
    assert "rage_up 0.0" in lost.get("/metrics").text


def test_the_application_reads_its_settings_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("RAGE_UPLOAD_BYTES", "4096")
    app: Flask = create_app()
    assert app.extensions["arena"].settings.data_dir == tmp_path
    assert 4096 < app.config["MAX_CONTENT_LENGTH"] < 1 << 20


def test_what_a_rating_means_is_told(http: FlaskClient) -> None:
    page = http.get("/docs/ratings")
    assert page.status_code == 200
    assert "until it has played 10 deals" in page.text and "within 60 Elo" in page.text
    assert all(f"?model={name}" in page.text for name in ("elo", "elo_classic", "points"))
