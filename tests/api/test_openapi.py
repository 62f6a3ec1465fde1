"""The OpenAPI document and the guide made from it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from api.schemas.tournaments import ENTRANTS
from service import tables
from service.work import Arena


def schemas(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from schemas(value)
    elif isinstance(node, list):
        for value in node:
            yield from schemas(value)


def test_the_document_is_whole(http: FlaskClient) -> None:
    spec = http.get("/api/v1/openapi.json").get_json()
    assert spec["openapi"] == "3.1.0"
    for node in schemas(spec):
        if "$ref" in node:
            found = spec
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            assert found
    ids = [
        told["operationId"]
        for path in spec["paths"].values()
        for verb, told in path.items()
        if verb != "parameters"
    ]
    assert len(ids) == len(set(ids))


def test_every_path_under_the_prefix_is_documented(app: Flask) -> None:
    paths = app.extensions["openapi"]["paths"]
    rules = [rule.rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/api/v1")]
    named = {re.sub(r"<(?:[^>]*:)?(\w+)>", r"{\1}", rule) for rule in rules}
    assert named - set(paths) == {"/api/v1/openapi.json"}


def test_every_field_has_a_meaning(app: Flask) -> None:
    for name, schema in app.extensions["openapi"]["components"]["schemas"].items():
        for field, told in schema["properties"].items():
            assert told.get("description"), f"{name}.{field}"


def fits(spec: dict[str, Any], schema: dict[str, Any], value: Any) -> bool:
    return jsonschema_rs.validator_for({**schema, "components": spec["components"]}).is_valid(value)


def test_every_example_is_what_it_is_an_example_of(app: Flask) -> None:
    spec = app.extensions["openapi"]
    examples = [(node.get("schema", node), node["example"]) for node in schemas(spec) if "example" in node]
    assert len(examples) > 300
    wrong = [(schema, example) for schema, example in examples if not fits(spec, schema, example)]
    assert wrong == []


def bodies(spec: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Path, method, and the example of a whole body as JSON."""
    for path, methods in spec["paths"].items():
        for method, told in methods.items():
            content = told.get("requestBody", {}).get("content", {}) if method != "parameters" else {}
            if "application/json" in content:
                yield path.removeprefix("/api/v1"), method, json.dumps(content["application/json"]["example"])


def test_every_example_of_a_body_is_accepted(
    ada: Any, app: Flask, ready_bots: list[str], arena: Arena
) -> None:
    """With bots that are there in place of those that the document made up."""
    for bot in [*ready_bots[:2] * 2, ready_bots[0]]:
        ada.upload(f"/bots/{bot}/versions")
    with arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    spec = {"name": "A", "entrants": ready_bots[1:], "players": 3, "start_at": "manual"}
    ids = {"tournament_id": ada.post("/tournaments", spec).get_json()["id"], "bot_id": ready_bots[0]}
    real = dict(zip((each.partition(":")[0] for each in ENTRANTS), ready_bots, strict=True))
    real['"ada"'] = '"adele"'
    accepted = 0
    for path, method, body in sorted(bodies(app.extensions["openapi"])):
        told = json.loads(re.sub("|".join(real), lambda found: real[found[0]], body))
        answer = getattr(ada, method)(path.format(**ids), told)
        assert answer.status_code in (200, 201), (path, answer.text)
        accepted += 1
    assert accepted == 8


def test_what_writes_says_that_it_needs_a_token(app: Flask) -> None:
    open_to_all = {
        told["operationId"]
        for path in app.extensions["openapi"]["paths"].values()
        for verb, told in path.items()
        if verb in ("post", "patch", "delete") and "security" not in told
    }
    assert open_to_all == {"register"}


def test_every_operation_answers_as_documented(
    http: FlaskClient, contract: Any, ada: Any, cup: dict[str, Any], make_spec: Any, arena: Arena
) -> None:
    """The client of these tests holds each answer against the document; here are all of them."""
    bot, other, tournament = cup["entrants"][0]["bot_id"], cup["entrants"][1]["bot_id"], cup["id"]
    pool = http.get("/api/v1/rankings/pools").get_json()["items"][0]["rules"]
    for path in (
        "accounts/me",
        "bots",
        f"bots/{bot}",
        f"bots/{bot}/versions/1",
        f"bots/{bot}/versions/1/code",
        f"bots/{bot}/versions/1/faults",
        f"bots/{bot}/rating",
        "tournaments",
        f"tournaments/{tournament}",
        f"tournaments/{tournament}/standings",
        f"tournaments/{tournament}/crosstable",
        f"tournaments/{tournament}/fairness",
        f"tournaments/{tournament}/matches",
        f"matches/{tournament}-0",
        f"matches/{tournament}-0/record",
        "rankings",
        "rankings/pools",
        f"rankings/compare?rules={pool}&a={bot}&b={other}",
        "rules",
        "rules/korean",
        "limits",
    ):
        assert ada.get(f"/{path}").status_code == 200, path
    events = http.get(f"/api/v1/tournaments/{tournament}/events", buffered=True)
    assert events.status_code == 200
    contract.judge("GET", events)
    made = ada.post(
        "/tournaments", make_spec([each["bot_id"] for each in cup["entrants"]], start_at="manual")
    ).get_json()
    assert ada.patch(f"/tournaments/{made['id']}", {"format": "ladder"}).status_code == 200
    assert ada.delete(f"/tournaments/{made['id']}/entrants/{bot}").status_code == 204
    assert ada.post(f"/tournaments/{made['id']}/entrants", {"entrant": bot}).status_code == 200
    for verb in ("start", "pause", "resume", "stop"):
        assert ada.post(f"/tournaments/{made['id']}/{verb}").status_code == 200
    pair = {"a": cup["entrants"][0]["bot_id"], "b": cup["entrants"][1]["bot_id"]}
    compared = ada.post("/comparisons", pair).get_json()
    for path in ("comparisons", f"comparisons/{compared['id']}"):
        assert ada.get(f"/{path}").status_code == 200
    assert ada.post(f"/comparisons/{compared['id']}/cancel").status_code == 200
    again = make_spec([each["bot_id"] for each in cup["entrants"]], start_at="manual")
    made = ada.post("/tournaments", again).get_json()
    out = ada.post(f"/tournaments/{made['id']}/entrants/{bot}/disqualify", {"reason": "copied"})
    assert out.status_code == 200
    assert ada.post(f"/tournaments/{made['id']}/cancel").status_code == 200
    assert ada.upload(f"/bots/{bot}/versions").status_code == 201
    token = ada.post("/accounts/me/tokens", {"label": "second", "scopes": ["author"]}).get_json()["id"]
    assert ada.get("/accounts/me/tokens").status_code == 200
    assert ada.delete(f"/accounts/me/tokens/{token}").status_code == 204
    assert ada.patch(f"/bots/{bot}", {"description": "counts"}).status_code == 200
    assert ada.delete(f"/bots/{bot}").status_code == 204
    operations = {
        told["operationId"]
        for path in contract.spec["paths"].values()
        for verb, told in path.items()
        if verb != "parameters"
    }
    assert contract.seen == operations


def test_the_guide_tells_of_every_operation_and_asks_no_other_host(http: FlaskClient, app: Flask) -> None:
    page = http.get("/docs")
    assert page.status_code == 200
    for path, told in app.extensions["openapi"]["paths"].items():
        for verb in set(told) - {"parameters"}:
            assert f"{verb.upper()} {path}" in page.text
    wanted = set(re.findall(r'href="#([^"]+)"', page.text))
    assert wanted <= set(re.findall(r'id="([^"]+)"', page.text))
    assert {"shape-Entrant", "shape-Progress", "shape-Version", "create_tournament"} <= wanted
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page.text)
    assert all('src="/assets/' in tag for tag in re.findall(r"<script[^>]*>", page.text))
