"""Rankings are asked for so often that they are kept in memory for a second."""

import gzip
from typing import Any

import pytest
from flask import Flask, Response, request
from flask.testing import FlaskClient

from api.front import KEPT, Front


class Watch:
    """Seconds that pass when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def noted() -> list[int]:
    return []


@pytest.fixture
def front(watch: Watch, asked: list[str], noted: list[int]) -> FlaskClient:
    """An application that counts how often it is asked, behind a front."""
    app = Flask("behind")

    @app.get("/", defaults={"path": ""})
    @app.get("/<path:path>")
    def tell(path: str) -> Response:
        asked.append(request.full_path)
        status = 422 if "wrong" in request.args else 200
        length = int(request.args.get("length", 0))
        text = f"answer {len(asked)}" + length * "."
        answer = Response(text, status, {"X-Request-ID": request.headers.get("X-Request-ID", "new")})
        if "cookie" in request.args:
            answer.set_cookie("who", "you")
        answer.add_etag()
        answer.make_conditional(request)
        return answer

    app.wsgi_app = Front(app.wsgi_app, note=lambda status, _: noted.append(status), clock=watch)  # type: ignore[method-assign]
    return app.test_client()


def test_within_a_second_it_is_asked_once(front: FlaskClient, asked: list[str], watch: Watch) -> None:
    first, again = front.get("/api/v1/rankings"), front.get("/api/v1/rankings")
    assert (first.text, again.text, len(asked)) == ("answer 1", "answer 1", 1)
    assert first.headers["X-Request-ID"] != again.headers["X-Request-ID"]
    assert len(again.headers.getlist("X-Request-ID")) == 1
    named = front.get("/api/v1/rankings", headers={"X-Request-ID": "mine"})
    assert (named.headers["X-Request-ID"], len(asked)) == ("mine", 1)
    watch.now += KEPT
    assert front.get("/api/v1/rankings").text == "answer 2"


def test_other_queries_and_paths_are_other_answers(front: FlaskClient, asked: list[str]) -> None:
    for path in ("rankings", "rankings?players=3", "bots", "bots", "rankings?wrong=1", "rankings?wrong=1"):
        front.get(f"/api/v1/{path}")
    assert len(asked) == 6


def test_who_shows_a_token_is_passed_on(front: FlaskClient, asked: list[str]) -> None:
    for _ in range(2):
        front.get("/api/v1/rankings", headers={"Authorization": "Bearer x"})
    assert len(asked) == 2
    front.head("/api/v1/rankings")
    assert len(asked) == 3


def test_who_has_it_is_told_so_from_memory(front: FlaskClient, asked: list[str], noted: list[int]) -> None:
    tag = front.get("/api/v1/rankings").headers["ETag"]
    known = front.get("/api/v1/rankings", headers={"If-None-Match": tag})
    other = front.get("/api/v1/rankings", headers={"If-None-Match": '"other"'})
    assert (known.status_code, known.data, other.status_code, len(asked)) == (304, b"", 200, 1)
    assert noted == [304, 200], "what the application answered it has counted itself"


def test_who_knows_an_old_answer_renews_it_for_all(
    front: FlaskClient, asked: list[str], watch: Watch
) -> None:
    tag = front.get("/api/v1/rankings").headers["ETag"]
    watch.now += KEPT
    known = {"If-None-Match": tag}
    answers = [front.get("/api/v1/rankings", headers=known).text for _ in range(3)]
    assert (answers, len(asked)) == (["answer 2"] * 3, 2)


def test_who_takes_gzip_gets_the_same_squeezed(front: FlaskClient, asked: list[str]) -> None:
    path, wants = "/api/v1/rankings?length=5000", {"Accept-Encoding": "br, gzip;q=0.8"}
    first, plain, again = front.get(path, headers=wants), front.get(path), front.get(path, headers=wants)
    assert len(asked) == 1
    assert gzip.decompress(first.data) == gzip.decompress(again.data) == plain.data
    assert (first.headers["Content-Encoding"], first.content_length) == ("gzip", len(first.data))
    assert "Content-Encoding" not in plain.headers
    assert first.headers["ETag"] == f"W/{plain.headers['ETag']}", "it is the same in content only"
    for tag in (first.headers["ETag"], plain.headers["ETag"]):
        assert front.get(path, headers={"If-None-Match": tag, **wants}).status_code == 304


@pytest.mark.parametrize("wants", ["", "identity", "gzip;q=0", "br", "gzip; q=0.0"])
def test_who_does_not_gets_it_as_it_is(front: FlaskClient, wants: str) -> None:
    answer = front.get("/api/v1/rankings?length=5000", headers={"Accept-Encoding": wants})
    assert "Content-Encoding" not in answer.headers
    assert answer.text.startswith("answer 1...")


def test_what_is_short_is_not_squeezed(front: FlaskClient) -> None:
    assert front.get("/api/v1/rankings", headers={"Accept-Encoding": "gzip"}).text == "answer 1"


@pytest.mark.parametrize("path", ["/", "/rankings"])
def test_pages_are_kept_for_strangers_and_by_host(front: FlaskClient, asked: list[str], path: str) -> None:
    texts = [front.get(path).text, front.get(path).text, front.get(path, base_url="http://other/").text]
    assert texts == ["answer 1", "answer 1", "answer 2"]
    front.set_cookie("rage_session", "x")
    assert [front.get(path).text for _ in range(2)] == ["answer 3", "answer 4"]
    assert len(asked) == 4


def test_what_gives_somebody_a_cookie_is_not_kept(front: FlaskClient, asked: list[str]) -> None:
    for _ in range(2):
        assert "Set-Cookie" in front.get("/?cookie=1").headers
        front.delete_cookie("who")
    assert len(asked) == 2


def test_no_more_is_kept_than_there_is_room_for(front: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.front.ROOM", 3000)
    for length in range(1000, 1010):
        front.get(f"/api/v1/rankings?length={length}")
    kept = front.application.wsgi_app
    assert isinstance(kept, Front)
    assert sum(len(each.content) for each in kept._kept.values()) <= 3000


def test_an_answer_from_memory_is_the_applications(http: FlaskClient, cup: dict[str, Any]) -> None:
    first, again = http.get("/api/v1/rankings"), http.get("/api/v1/rankings")
    assert first.data == again.data
    assert {name: value for name, value in first.headers if name != "X-Request-ID"} == {
        name: value for name, value in again.headers if name != "X-Request-ID"
    }
    assert 'endpoint="kept"' in http.get("/metrics").text
