"""Whatever a client sends is answered, and never with a 500."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from api.app import create_app
from service import accounts, schema
from service.jobs import InlineQueue
from service.settings import Settings
from service.work import Arena
from tests.databases import OwnDatabase

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
names = st.sampled_from(
    [
        "name",
        "entrants",
        "rules",
        "players",
        "deals",
        "duplicate",
        "meetings",
        "seed",
        "start_at",
        "limits",
        "format",
    ]
)
rules = st.dictionaries(
    st.sampled_from(["preset", "deck", "hand_sizes", "teams", "scoring", "change", "secret_bids"]),
    anything | st.sampled_from(["fundex", "2+2", "strict"]),
)
tournaments = st.dictionaries(
    names, anything | rules | st.sampled_from(["manual", "9999-12-31T23:59:59-23:59"])
)
paths = st.sampled_from(
    ["bots", "tournaments", "rankings", "bots/x", "tournaments/x/standings", "tournaments/x/matches"]
)
queries = st.dictionaries(
    st.sampled_from(["limit", "cursor", "status", "owner", "name", "rules", "players", "at", "format"]),
    st.text() | st.integers().map(str),
)
headers = st.dictionaries(
    st.sampled_from(
        ["Authorization", "Idempotency-Key", "If-None-Match", "Last-Event-ID", "X-Request-ID", "Range"]
    ),
    st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_categories=["Cc"])),
)
often = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def open_http(tmp_path_factory: pytest.TempPathFactory, own_database: OwnDatabase) -> Iterator[FlaskClient]:
    """One application for all examples, with an author's token in `environ_base`."""
    directory: Path = tmp_path_factory.mktemp("anything")
    with own_database() as told:
        own = Settings.from_environment({"RAGE_DATA_DIR": str(directory), **told})
        schema.migrate(own)
        arena = Arena.open(own, InlineQueue())
        client = create_app(arena=arena).test_client()
        token = accounts.register(arena, name="ada")[1]
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"
        yield client
        arena.close()


@often
@given(body=anything | tournaments)
def test_any_json_for_a_tournament(open_http: FlaskClient, body: Any) -> None:
    answer = open_http.post("/api/v1/tournaments", data=json.dumps(body), content_type="application/json")
    assert answer.status_code == 422
    assert answer.get_json(force=True)["errors"]


@often
@given(body=st.binary())
def test_any_bytes_for_an_account(open_http: FlaskClient, body: bytes) -> None:
    answer = open_http.post("/api/v1/accounts", data=body, content_type="application/json")
    assert answer.status_code in (400, 422)


@often
@given(name=st.text(), description=st.text(), filename=st.text(), code=st.binary())
def test_any_upload(open_http: FlaskClient, name: str, description: str, filename: str, code: bytes) -> None:
    form = {"name": name, "description": description, "code": (io.BytesIO(code), filename or "x")}
    answer = open_http.post("/api/v1/bots", data=form, content_type="multipart/form-data")
    assert answer.status_code in (201, 409, 422)


@often
@given(body=st.binary(), boundary=st.sampled_from(["", "; boundary=x", "; boundary=", '; boundary="\x01"']))
def test_any_bytes_for_a_form(open_http: FlaskClient, body: bytes, boundary: str) -> None:
    for content in (body, b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n' + body):
        answer = open_http.post("/api/v1/bots", data=content, content_type=f"multipart/form-data{boundary}")
        assert answer.status_code in (400, 413, 415, 422)


@often
@given(path=paths, query=queries, sent=headers)
def test_any_parameters_and_headers(
    open_http: FlaskClient, path: str, query: dict[str, str], sent: dict[str, str]
) -> None:
    answer = open_http.get(f"/api/v1/{path}", query_string=query, headers=sent)
    assert answer.status_code in (200, 304, 401, 404, 422)


@often
@given(path=st.text(st.characters(exclude_categories=["Cs"])))
@example(path="/a..b")
def test_any_path(open_http: FlaskClient, path: str) -> None:
    """Given as a server gives it: the test client would take what follows two slashes for a host."""
    for prefix in ("/", "/api/v1/bots/", "/api/v1/matches/", "/api/v1/tournaments/", "/static/"):
        asked = (prefix + path).encode().decode("latin-1")
        assert open_http.get("/", environ_overrides={"PATH_INFO": asked}).status_code < 500
