"""Rankings are asked for so often that they are kept in memory for a second."""

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

    @app.get("/api/v1/<path:path>")
    def tell(path: str) -> Response:
        asked.append(request.full_path)
        status = 422 if "wrong" in request.args else 200
        answer = Response(f"answer {len(asked)}", status, {"X-Request-ID": f"r{len(asked)}"})
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
    assert noted == [304, 200]


def test_a_304_of_the_application_is_not_kept(front: FlaskClient, asked: list[str], watch: Watch) -> None:
    tag = front.get("/api/v1/rankings").headers["ETag"]
    watch.now += KEPT
    assert front.get("/api/v1/rankings", headers={"If-None-Match": tag}).text == "answer 2"
    assert front.get("/api/v1/rankings").text == "answer 2"


def test_an_answer_from_memory_is_the_applications(http: FlaskClient, cup: dict[str, Any]) -> None:
    first, again = http.get("/api/v1/rankings"), http.get("/api/v1/rankings")
    assert first.data == again.data
    assert {name: value for name, value in first.headers if name != "X-Request-ID"} == {
        name: value for name, value in again.headers if name != "X-Request-ID"
    }
    assert 'endpoint="kept"' in http.get("/metrics").text
