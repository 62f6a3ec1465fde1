"""Tournaments, matches and rankings over HTTP."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from api.rows import cell
from engine.record import verify
from service import tables
from service.work import Arena

Spec = Callable[..., dict[str, Any]]


def test_a_tournament_starts_at_once_and_tells_how_far_it_is(
    ada: Any, ready_bots: list[str], make_spec: Spec
) -> None:
    answer = ada.post("/tournaments", make_spec(ready_bots))
    assert answer.status_code == 201
    made = answer.get_json()
    assert (made["status"], made["progress"]["played"], made["progress"]["total"]) == ("running", 0, 8)
    assert [each["version"] for each in made["entrants"]] == [1, 1, 1, 1]
    assert made["secret"] is None
    assert ada.http.get(answer.headers["Location"]).get_json()["id"] == made["id"]


@pytest.mark.parametrize(
    ("start_at", "status"),
    [
        ("manual", "scheduled"),
        ("2099-01-01T00:00:00+02:00", "scheduled"),
        (None, "running"),
    ],
)
def test_it_starts_when_it_was_told_to(
    ada: Any, ready_bots: list[str], make_spec: Spec, start_at: str | None, status: str
) -> None:
    assert ada.post("/tournaments", make_spec(ready_bots, start_at=start_at)).get_json()["status"] == status


def test_a_start_that_is_long_over_is_refused(ada: Any, ready_bots: list[str], make_spec: Spec) -> None:
    answer = ada.post("/tournaments", make_spec(ready_bots, start_at="2001-01-01t00:00:00z"))
    assert answer.status_code == 422
    said = ["is over already; must be a later time, or left out to start now"]
    assert answer.get_json()["errors"] == {"start_at": said}


def test_a_start_is_told_in_utc(ada: Any, ready_bots: list[str], make_spec: Spec) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots, start_at="2099-01-01T00:30:00+02:00")).get_json()
    assert made["start_at"] == "2098-12-31T22:30:00Z"


def test_its_owner_starts_pauses_resumes_and_cancels_it(
    ada: Any, ready_bots: list[str], make_spec: Spec
) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots, start_at="manual")).get_json()
    path = f"/tournaments/{made['id']}"
    assert ada.post(f"{path}/pause").status_code == 409
    for verb, status in [
        ("start", "running"),
        ("start", "running"),
        ("pause", "paused"),
        ("pause", "paused"),
        ("resume", "running"),
        ("cancel", "cancelled"),
        ("cancel", "cancelled"),
    ]:
        answer = ada.post(f"{path}/{verb}")
        assert (answer.status_code, answer.get_json()["status"]) == (200, status)
    assert ada.post(f"{path}/resume").status_code == 409
    assert ada.get(path).get_json()["reason"] == "cancelled by ada"


def test_authors_enter_and_withdraw_and_see_who_is_out(
    ada: Any, bob: Any, ready_bots: list[str], make_spec: Spec
) -> None:
    told = make_spec(ready_bots[:3], start_at="manual", entry={"open": True, "limit": 4}, format="swiss")
    path = f"/tournaments/{bob.post('/tournaments', told).get_json()['id']}"
    assert bob.get(path).get_json()["entry"] == {"open": True, "limit": 4, "deadline": None}
    entered = ada.post(f"{path}/entrants", {"entrant": ready_bots[3]})
    assert [each["bot_id"] for each in entered.get_json()["entrants"]] == ready_bots
    refused = ada.post(f"{path}/entrants", {"entrant": "bot_none", "version": 3})
    assert (refused.status_code, set(refused.get_json()["errors"])) == (422, {"version"})
    assert bob.post(f"{path}/start").get_json()["status"] == "running"
    assert bob.delete(f"{path}/entrants/{ready_bots[0]}").status_code == 403
    assert ada.delete(f"{path}/entrants/{ready_bots[0]}").status_code == 204
    assert ada.delete(f"{path}/entrants/bot_none").status_code == 404
    out = bob.post(f"{path}/entrants/{ready_bots[1]}/disqualify", {"reason": "copied"}).get_json()
    assert [(each["status"], each["reason"]) for each in out["entrants"]] == [
        ("withdrawn", None),
        ("disqualified", "copied"),
        ("in", None),
        ("in", None),
    ]
    fell = ada.get(f"{path}/matches?status=void&limit=200").get_json()["items"]
    assert out["progress"]["void"] == len(fell) > 0
    first = ada.get(f"{path}/matches").get_json()["items"][0]["id"]
    assert [ada.get(f"/matches/{one}").status_code for one in (first, f"{first[:-1]}00")] == [200, 404]
    gone = ada.get(f"/matches/{fell[0]['id']}/record")
    assert gone.status_code == 409
    assert gone.get_json()["detail"].endswith(f"fell away and will not be played: {fell[0]['trouble']}")
    left = [each["status"] for each in ada.get(f"{path}/standings").get_json()["items"]]
    assert left == ["in", "in", "withdrawn", "disqualified"]


def test_a_tournament_is_changed_before_its_start_alone(
    ada: Any, bob: Any, ready_bots: list[str], make_spec: Spec
) -> None:
    path = (
        f"/tournaments/{ada.post('/tournaments', make_spec(ready_bots, start_at='draft')).get_json()['id']}"
    )
    assert bob.get(path).status_code == 404
    assert bob.get("/tournaments").get_json()["items"] == []
    assert ada.get("/tournaments?status=draft").get_json()["items"][0]["status"] == "draft"
    wrong = ada.patch(path, {"format": "gauntlet", "stages": 3, "deals": 0, "repeat": "soon"})
    assert (wrong.status_code, set(wrong.get_json()["errors"])) == (422, {"deals"})
    wrong = ada.patch(path, {"format": "gauntlet", "stages": 3, "repeat": "soon"})
    assert set(wrong.get_json()["errors"]) == {"challenger", "stages", "repeat"}
    changed = ada.patch(path, {"name": "Other", "start_at": None}).get_json()
    assert (changed["name"], changed["status"]) == ("Other", "running")
    assert ada.patch(path, {"name": "Late"}).status_code == 409


def test_a_series_can_be_looked_through(ada: Any, ready_bots: list[str], make_spec: Spec) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots, repeat="0 18 * * 1")).get_json()
    assert (made["status"], made["repeat"], made["start_at"][10:]) == (
        "scheduled",
        "0 18 * * 1",
        "T18:00:00Z",
    )
    ada.post(f"/tournaments/{made['id']}/start")
    ada.post("/tournaments", make_spec(ready_bots))
    found = ada.get(f"/tournaments?series={made['id']}").get_json()["items"]
    assert [(each["status"], each["series"]) for each in found] == [
        ("scheduled", made["id"]),
        ("running", None),
    ]


def test_anothers_tournament_cannot_be_changed(
    ada: Any, bob: Any, ready_bots: list[str], make_spec: Spec
) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots, start_at="manual")).get_json()
    for verb in ("start", "pause", "resume", "cancel"):
        assert bob.post(f"/tournaments/{made['id']}/{verb}").status_code == 403


def test_standings_and_crosstable_follow_from_its_matches(cup: dict[str, Any], ada: Any) -> None:
    standings = ada.get(f"/tournaments/{cup['id']}/standings").get_json()
    assert [row["matches"] for row in standings["items"]] == [8, 8, 8, 8]
    assert {row["faults"] for row in standings["items"] if row["entrant"] == 0} == {8}
    pairs = ada.get(f"/tournaments/{cup['id']}/crosstable").get_json()["items"]
    assert all(row["wins_a"] + row["wins_b"] + row["ties"] == row["games"] == 8 for row in pairs)
    assert len(pairs) == 6


def test_standings_grow_while_it_is_played(
    ada: Any, ready_bots: list[str], make_spec: Spec, play_all: Callable[..., None]
) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots)).get_json()
    for most, counted in ((4, 4), (2, 4), (100, 8)):
        play_all(most)
        rows = ada.get(f"/tournaments/{made['id']}/standings").get_json()["items"]
        assert {row["matches"] for row in rows} == {counted}


def test_tables_come_as_csv(cup: dict[str, Any], ada: Any) -> None:
    for name in ("standings", "crosstable"):
        answer = ada.get(f"/tournaments/{cup['id']}/{name}?format=csv")
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        told = ada.get(f"/tournaments/{cup['id']}/{name}").get_json()["items"]
        assert answer.mimetype == "text/csv"
        assert [list(row) for row in rows] == [list(row) for row in told]
        assert [row.get("points") for row in rows] == [
            str(row["points"]) if "points" in row else None for row in told
        ]


def test_a_table_holds_nothing_a_spreadsheet_would_run(cup: dict[str, Any], ada: Any, arena: Arena) -> None:
    with arena.work() as work:
        work.db.execute(update(tables.bot).values(name='=cmd|"/c calc"!A1', name_key=tables.bot.c.id))
    text = ada.get(f"/tournaments/{cup['id']}/standings?format=csv").text
    assert {row["name"] for row in csv.DictReader(io.StringIO(text))} == {'\'=cmd|"/c calc"!A1'}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("=1", "'=1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("\tx", "'\tx"),
        ("spy", "spy"),
        (-1.5, -1.5),
        (None, ""),
    ],
)
def test_a_cell_is_text_or_a_number_never_a_formula(value: object, written: object) -> None:
    assert cell(value) == written


def test_matches_come_in_the_order_of_the_schedule(cup: dict[str, Any], ada: Any) -> None:
    path = f"/tournaments/{cup['id']}/matches"
    first = ada.get(f"{path}?limit=5").get_json()
    rest = ada.get(f"{path}?limit=5&cursor={first['next']}").get_json()
    assert [match["number"] for match in first["items"] + rest["items"]] == list(range(8))
    assert rest["next"] is None
    assert ada.get(f"{path}?status=planned").get_json()["items"] == []


def test_a_match_tells_who_failed_how(cup: dict[str, Any], http: FlaskClient) -> None:
    match = http.get(f"/api/v1/matches/{cup['id']}-0").get_json()
    (seat,) = [each["seat"] for each in match["seats"] if each["entrant"] == 0]
    assert [(fault["seat"], fault["kind"]) for fault in match["faults"]] == [(seat, "illegal")]
    assert "evidence" not in match["faults"][0]


def test_a_record_can_be_verified(cup: dict[str, Any], http: FlaskClient) -> None:
    record = http.get(f"/api/v1/matches/{cup['id']}-3/record").get_json()
    assert verify(record) is None
    assert record["about"]["match"] == f"{cup['id']}-3"


def test_a_record_before_the_match_is_a_conflict(ada: Any, ready_bots: list[str], make_spec: Spec) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots)).get_json()
    assert ada.get(f"/matches/{made['id']}-0/record").status_code == 409


def test_rankings_are_those_of_one_pool(cup: dict[str, Any], http: FlaskClient) -> None:
    (pool,) = http.get("/api/v1/rankings/pools").get_json()["items"]
    told = http.get(f"/api/v1/rankings?rules={pool['rules']}&players=4").get_json()
    assert {line["bot_id"] for line in told["items"]} == {each["bot_id"] for each in cup["entrants"]}
    assert told["matches"] == pool["matches"] == 8
    empty = http.get("/api/v1/rankings?rules=nothing&players=9").get_json()
    assert (empty["items"], empty["next"], empty["snapshot"]) == ([], None, None)
    earlier = http.get(f"/api/v1/rankings?rules={pool['rules']}&at=2029-01-01T00:00:00Z").get_json()
    assert earlier["items"] == []


def test_a_bots_ratings_are_kept(cup: dict[str, Any], http: FlaskClient) -> None:
    (point,) = http.get(f"/api/v1/bots/{cup['entrants'][1]['bot_id']}/rating").get_json()["items"]
    assert point["low"] < point["rating"] < point["high"]


def test_rankings_can_be_chosen_from_paged_and_anchored(cup: dict[str, Any], http: FlaskClient) -> None:
    (pool,) = http.get("/api/v1/rankings/pools").get_json()["items"]
    base, first = f"/api/v1/rankings?rules={pool['rules']}&players=4", cup["entrants"][0]

    def told(query: str) -> dict[str, Any]:
        answer: dict[str, Any] = http.get(f"{base}&{query}").get_json()
        return answer

    whole = told("")["items"]
    assert [each["bot"] for each in told(f"name={first['name'].upper()}")["items"]] == [first["name"]]
    assert (
        told("owner=nobody")["items"]
        == told("house=true")["items"]
        == told("provisional=false")["items"]
        == []
    )
    assert told("provisional=true&house=false")["items"] == whole
    pages, cursor = [], ""
    while cursor is not None:
        page = told(f"limit=3{cursor and '&cursor=' + cursor}")
        pages.append(page["items"])
        cursor = page["next"]
    assert [each for page in pages for each in page] == whole and len(pages) == 2
    anchored = {each["bot_id"]: each for each in told(f"anchor={first['bot_id']}")["items"]}
    fixed = anchored[first["bot_id"]]
    assert (fixed["rating"], fixed["low"], fixed["high"]) == (1500, 1500, 1500)
    shift = {round(anchored[each["bot_id"]]["rating"] - each["rating"], 1) for each in whole}
    assert max(shift) - min(shift) < 0.11
    wrong = told(f"anchor={first['bot_id']}&at=2031-01-01T00:00:00Z")
    assert "newest" in wrong["errors"]["anchor"][0]


def test_rankings_come_by_each_model_and_as_a_table(cup: dict[str, Any], http: FlaskClient) -> None:
    (pool,) = http.get("/api/v1/rankings/pools").get_json()["items"]
    base = f"/api/v1/rankings?rules={pool['rules']}&players=4"
    points, classic = (http.get(f"{base}&model={name}").get_json() for name in ("points", "elo_classic"))
    assert (points["unit"], points["model_version"]) == ("points a match", 1)
    assert abs(sum(each["rating"] for each in points["items"])) < 0.05
    assert sum(each["rating"] for each in classic["items"]) == pytest.approx(6000, abs=0.05)
    assert {each["low"] for each in classic["items"]} == {None}
    told = http.get(f"{base}&format=csv")
    assert told.headers["Content-Type"] == "text/csv; charset=utf-8"
    lines = told.text.splitlines()
    assert lines[0].startswith("place,bot_id,bot,version,owner,house,rating,low,high,rank_range")
    assert len(lines) == 5
    assert "elo_classic" in http.get(f"{base}&model=glicko").get_json()["errors"]["model"][0]


def test_two_bots_are_compared(cup: dict[str, Any], http: FlaskClient) -> None:
    (pool,) = http.get("/api/v1/rankings/pools").get_json()["items"]
    base = f"/api/v1/rankings/compare?rules={pool['rules']}"
    a, b = (each["bot_id"] for each in cup["entrants"][:2])
    told, turned = (
        http.get(f"{base}&a={one}&b={other}").get_json() for one, other in ((a, f"{b}:1"), (b, a))
    )
    assert (
        told["difference"]
        == -turned["difference"]
        == pytest.approx(told["a"]["rating"] - told["b"]["rating"], abs=0.011)
    )
    assert told["low"] < told["difference"] < told["high"]
    assert told["p_better"] + turned["p_better"] == pytest.approx(1)
    assert told["matches"] == 8 and told["score"] + turned["score"] == 1
    assert http.get(f"{base}&a={a}&b={a}").status_code == 422
    assert "a" in http.get(f"{base}&b={a}").get_json()["errors"]
    for query in (f"a=bot_unknown&b={a}", f"a={a}:9&b={b}", f"a={a}&b={b}&players=9"):
        assert http.get(f"{base}&{query}").status_code == 404, query


@pytest.mark.parametrize(
    "path",
    [
        "rankings",
        "rules",
        "rules/fundex",
        "tournaments/{id}",
        "tournaments/{id}/standings",
        "tournaments/{id}/standings?format=csv",
        "tournaments/{id}/crosstable",
        "matches/{id}-0",
        "matches/{id}-0/record",
        "openapi.json",
    ],
)
def test_what_did_not_change_is_not_sent_again(cup: dict[str, Any], http: FlaskClient, path: str) -> None:
    url = f"/api/v1/{path.format(id=cup['id'])}"
    tag = http.get(url).headers["ETag"]
    again = http.get(url, headers={"If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")
    assert http.get(url, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_tag_changes_with_what_it_stands_for(ada: Any, ready_bots: list[str], make_spec: Spec) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots)).get_json()
    tag = ada.get(f"/tournaments/{made['id']}").headers["ETag"]
    ada.post(f"/tournaments/{made['id']}/pause")
    assert ada.get(f"/tournaments/{made['id']}").headers["ETag"] != tag


def test_every_preset_is_told_with_its_switches(http: FlaskClient) -> None:
    rules = http.get("/api/v1/rules").get_json()["items"]
    assert [each["preset"] for each in rules] == ["fundex", "wikipedia", "challenge", "korean", "amigo"]
    assert "secret_bids" in rules[0]["switches"]
    assert http.get("/api/v1/rules/amigo").get_json() in rules


def test_the_fairness_report_comes_with_the_end(
    ada: Any, ready_bots: list[str], cup: dict[str, Any], make_spec: Spec
) -> None:
    told = ada.get(f"/tournaments/{cup['id']}/fairness").get_json()
    assert (told["matches"], told["groups"], told["alarm"]) == (8, 2, False)
    assert {check["p"] for check in told["checks"]} == {None}, "two deals are too few"
    running = ada.post("/tournaments", make_spec(ready_bots)).get_json()
    refused = ada.get(f"/tournaments/{running['id']}/fairness")
    assert refused.status_code == 409
    assert "when it is over" in refused.get_json()["detail"]


def test_a_dry_run_answers_with_a_plan_and_makes_nothing(
    ada: Any, ready_bots: list[str], make_spec: Spec
) -> None:
    told = make_spec(ready_bots, seed="x")
    answer = ada.post("/tournaments?dry_run=true", told, key="once")
    assert answer.status_code == 200
    plan = answer.get_json()
    assert (plan["matches"], plan["groups"], plan["cpu_basis"], plan["finish_at"]) == (8, 2, "limits", None)
    assert plan["balance"]["pairs"] == {"least": 8, "most": 8}
    assert ada.get("/tournaments").get_json()["items"] == []
    assert ada.post("/tournaments", told, key="once").status_code == 409, "another request with the same key"
    assert ada.post("/tournaments?dry_run=false", told).status_code == 201
    for wrong in ("1", "True", ""):
        assert "dry_run" in ada.post(f"/tournaments?dry_run={wrong}", told).get_json()["errors"]
    refused = ada.post("/tournaments?dry_run=true", {**told, "entrants": ["bot_x", "bot_y"], "players": 2})
    assert set(refused.get_json()["errors"]) == {"entrants.0", "entrants.1"}
