"""What many read: as many queries however much there is to tell, squeezed, and not sent twice."""

import gzip
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.squeezed import REMEMBERED, WORTH_IT, squeeze

READ = {  # paths and the queries they take at most, however many lines there are
    "/api/v1/tournaments": 4,
    "/api/v1/tournaments/CUP": 5,
    "/api/v1/tournaments/CUP/standings": 5,
    "/api/v1/tournaments/CUP/crosstable": 5,
    "/api/v1/tournaments/CUP/matches": 5,
    "/api/v1/matches/CUP-0": 8,
    "/api/v1/matches/CUP-0/record": 6,
    "/api/v1/bots": 3,
    "/": 20,
    "/rankings": 10,
    "/tournaments": 4,
    "/tournaments/CUP": 17,
    "/tournaments/CUP/matches": 10,
    "/matches/CUP-0": 22,
}


@pytest.fixture
def twice(ada: Any, cup: dict[str, Any], make_spec: Any, play_all: Any) -> dict[str, str]:
    """The cup, and a larger one of the same bots."""
    bots = [each["bot_id"] for each in cup["entrants"]]
    large = ada.post("/tournaments", make_spec(bots, deals=6)).get_json()["id"]
    play_all()
    return {"small": cup["id"], "large": large}


def test_a_reader_costs_as_many_queries_however_much_there_is(
    http: FlaskClient, twice: dict[str, str], queries: list[str]
) -> None:
    asked: dict[str, list[int]] = {}
    for number, size in enumerate(["small", "large", "small", "large"], 1):
        for path in READ:  # each time in other words, so that nothing is just repeated from memory
            queries.clear()
            assert http.get(f"{path.replace('CUP', twice[size])}?{'&' * number}").status_code == 200
            asked.setdefault(path, []).append(len(queries))
    assert {path: counts for path, counts in asked.items() if counts[2] != counts[3]} == {}
    assert {path: counts for path, counts in asked.items() if counts[3] > READ[path]} == {}


def test_who_has_it_is_told_so(http: FlaskClient, cup: dict[str, Any]) -> None:
    for path in READ:
        path = path.replace("CUP", cup["id"])
        tag = http.get(path).headers["ETag"]
        known = http.get(path, headers={"If-None-Match": tag})
        assert (known.status_code, known.data) == (304, b""), path


def test_what_is_long_is_squeezed_for_strangers_alone(
    http: FlaskClient, ada: Any, twice: dict[str, str]
) -> None:
    wants, long = {"Accept-Encoding": "gzip"}, 0
    for path in READ:
        path = path.replace("CUP", twice["large"])
        plain, squeezed = http.get(path), http.get(path, headers=wants)
        assert "Accept-Encoding" in plain.vary, path
        assert "Accept-Encoding" in squeezed.vary, path
        if path.startswith("/api/"):
            assert "Content-Encoding" not in http.get(path, headers={**wants, **ada.headers}).headers
        if len(plain.data) > WORTH_IT:
            long += 1
            assert gzip.decompress(squeezed.data) == plain.data
            assert squeezed.get_etag() == (plain.get_etag()[0], True)
    assert long > len(READ) / 2


@pytest.mark.parametrize(("size", "again"), [(REMEMBERED, True), (REMEMBERED + 1, False)])
def test_only_what_is_small_is_remembered_squeezed(size: int, again: bool) -> None:
    content = b"x" * size
    first, second = squeeze(content), squeeze(content)
    assert gzip.decompress(first) == content and first == second
    assert (first is second) is again
