"""Server-Sent Events of a tournament."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from api import events
from tests.databases import ON_EACH


def told(text: str) -> list[dict[str, Any]]:
    """Events out of a whole stream."""
    found = []
    for block in text.split("\n\n"):
        parts = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in parts:
            found.append({**parts, "data": json.loads(parts["data"])})
    return found


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LOOK_EVERY", 0.01)


@ON_EACH
def test_every_result_is_told_once_then_the_end(cup: dict[str, Any], http: FlaskClient) -> None:
    answer = http.get(f"/api/v1/tournaments/{cup['id']}/events")
    assert answer.mimetype == "text/event-stream"
    found = told(answer.text)
    assert [each["data"]["number"] for each in found if each["event"] == "result"] == list(range(8))
    assert found[-1]["data"]["status"] == "finished"


@ON_EACH
def test_it_goes_on_after_the_last_event_that_was_seen(cup: dict[str, Any], http: FlaskClient) -> None:
    path = f"/api/v1/tournaments/{cup['id']}/events"
    results = [each for each in told(http.get(path).text) if each["event"] == "result"]
    rest = told(http.get(path, headers={"Last-Event-ID": results[4]["id"]}).text)
    assert [each["data"]["number"] for each in rest if each["event"] == "result"] == [5, 6, 7]


@ON_EACH
def test_who_knows_all_is_told_not_to_come_again(cup: dict[str, Any], http: FlaskClient) -> None:
    path = f"/api/v1/tournaments/{cup['id']}/events"
    last = told(http.get(path).text)[-1]["id"]
    assert http.get(path, headers={"Last-Event-ID": last}).status_code == 204


def test_an_event_id_that_is_none_is_refused(cup: dict[str, Any], http: FlaskClient) -> None:
    path = f"/api/v1/tournaments/{cup['id']}/events"
    assert http.get(path, headers={"Last-Event-ID": "nonsense"}).status_code == 422


@ON_EACH
def test_results_are_told_while_it_is_played(
    ada: Any, http: FlaskClient, ready_bots: list[str], make_spec: Any, play_all: Callable[..., None]
) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots)).get_json()
    stream = iter(http.get(f"/api/v1/tournaments/{made['id']}/events").response)
    opening = next(stream).decode() + next(stream).decode()
    assert [each["event"] for each in told(opening)] == ["stage", "progress", "status"]
    playing = threading.Thread(target=play_all)
    playing.start()
    rest = told(b"".join(bytes(part) for part in stream).decode())
    playing.join()
    assert sorted(each["data"]["number"] for each in rest if each["event"] == "result") == list(range(8))
    assert rest[-1]["data"]["status"] == "finished"


def test_a_silent_line_is_kept_alive(
    ada: Any, http: FlaskClient, ready_bots: list[str], make_spec: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_EVERY", 0.02)
    made = ada.post("/tournaments", make_spec(ready_bots, start_at="manual")).get_json()
    answer = http.get(f"/api/v1/tournaments/{made['id']}/events")
    stream: Iterator[Any] = iter(answer.response)
    assert [next(stream) for _ in range(3)][2].startswith(b":")
    answer.close()


def test_listeners_have_a_bound_and_make_room_when_they_leave(
    ada: Any, http: FlaskClient, ready_bots: list[str], make_spec: Any
) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots, start_at="manual")).get_json()
    path = f"/api/v1/tournaments/{made['id']}/events"
    listening = [http.get(path) for _ in range(events.MOST_EACH)]
    try:
        refused = http.get(path)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, str(events.TRY_AGAIN))
    finally:
        for each in listening:
            each.close()
    again = http.get(path)
    assert again.status_code == 200
    again.close()


def test_no_address_takes_every_listeners_place() -> None:
    room = events.Room()
    greedy = [room.enter("a") for _ in range(events.MOST_EACH + 1)]
    assert greedy == [True] * events.MOST_EACH + [False]
    others = [room.enter(f"b {number}") for number in range(events.MOST_STREAMS)]
    assert others.count(True) == events.MOST_STREAMS - events.MOST_EACH
    room.leave("a")
    assert room.enter("c") and not room.enter("d")
