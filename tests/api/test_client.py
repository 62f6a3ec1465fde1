"""The client against the real application over real HTTP."""

import http.client
import http.server
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.client import Client, ClientError, ProblemError, TookTooLong, Unreachable
from engine.record import verify
from service.jobs import InlineQueue
from service.work import Arena

CODE = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"


@pytest.fixture
def client(server: str) -> Client:
    made = Client(server)
    made.register("ada")
    return made


@pytest.fixture
def entrants(client: Client, arena: Arena) -> list[str]:
    ids = [client.submit(f"bot {number}", "bot.py", CODE)["id"] for number in range(4)]
    assert isinstance(arena.queue, InlineQueue)
    arena.queue.run()
    return ids


def test_an_author_uploads_waits_and_plays(
    client: Client, entrants: list[str], make_spec: Any, play_all: Any, arena: Arena
) -> None:
    assert client.wait_ready(entrants[0])["status"] == "ready"
    made = client.create_tournament(**make_spec(entrants))
    play_all()
    assert isinstance(arena.queue, InlineQueue)
    arena.queue.run()
    assert client.wait_over(made["id"])["status"] == "finished"
    assert len(client.standings(made["id"])) == 4
    assert len(client.crosstable(made["id"])) == 6
    pool = client.get("/rankings/pools")["items"][0]
    assert client.wait_rated(entrants, rules=pool["rules"])["matches"] == 8
    matches = list(client.matches(made["id"], limit=3))
    assert [match["number"] for match in matches] == list(range(8))
    assert verify(client.record(matches[0]["id"])) is None
    assert client.match(matches[0]["id"])["status"] == "done"
    events = list(client.events(made["id"]))
    assert sum(event["type"] == "result" for event in events) == 8
    assert list(client.events(made["id"], after=events[-1]["id"])) == []


def test_it_gives_orders_to_a_tournament(client: Client, entrants: list[str], make_spec: Any) -> None:
    made = client.create_tournament(**make_spec(entrants, start_at="manual"))
    for verb, status in [
        ("start", "running"),
        ("pause", "paused"),
        ("resume", "running"),
        ("cancel", "cancelled"),
    ]:
        assert getattr(client, verb)(made["id"])["status"] == status
    assert [each["id"] for each in client.tournaments(status="cancelled")] == [made["id"]]


def test_a_bot_goes_its_way(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "spy.py"
    file.write_bytes(CODE)
    bot = client.submit_file(file, description='counts "trumps"\n', public_source=True)
    assert (bot["name"], bot["description"], bot["public_source"]) == ("spy", 'counts "trumps"\n', True)
    assert client.add_version(bot["id"], "spy.py", CODE + b"#")["number"] == 2
    assert client.code(bot["id"], 2) == CODE + b"#"
    assert list(client.faults(bot["id"], 1)) == []
    assert client.rating_history(bot["id"]) == []
    client.retire(bot["id"])
    assert [each["status"] for each in client.bots(owner="ada")] == ["retired"]


def test_lists_are_read_to_their_end(client: Client) -> None:
    for number in range(5):
        client.submit(f"bot {number}", "bot.py", CODE)
    assert [bot["name"] for bot in client.bots(limit=2)] == [f"bot {number}" for number in (4, 3, 2, 1, 0)]


def test_a_refusal_names_fields(client: Client) -> None:
    with pytest.raises(ProblemError) as caught:
        client.create_tournament(name="x", entrants=["bot_x", 1])
    assert (caught.value.status, caught.value.title) == (422, "Unprocessable Entity")
    assert "entrants.1: must be text" in str(caught.value)


def test_a_refusal_reaches_who_is_still_sending(server: str) -> None:
    for size in (4 << 20, 12 << 20):
        with pytest.raises(ProblemError) as caught:
            Client(server, "rage_wrong").submit("spy", "bot.py", b"#" * size)
        assert caught.value.status == 401
    client = Client(server)
    client.register("eve")
    with pytest.raises(ProblemError) as caught:
        client.submit("spy", "bot.py", b"#" * (12 << 20))
    assert caught.value.status == 413


def test_a_body_in_chunks_has_a_bound_too(server: str) -> None:
    connection = http.client.HTTPConnection(server.removeprefix("http://"))
    for size, status in ((10, 201), (2 << 20, 413)):
        parts = iter([b'{"name": "eve"', b" " * size, b"}"])
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/api/v1/accounts", parts, headers, encode_chunked=True)
        answer = connection.getresponse()
        assert (answer.status, answer.read()[:1]) == (status, b"{")
        connection.close()


def test_waiting_has_an_end(client: Client) -> None:
    bot = client.submit("spy", "bot.py", CODE)
    with pytest.raises(TookTooLong):
        client.wait_ready(bot["id"], seconds=0)


@pytest.mark.parametrize("url", ["", "ftp://x", "http://", "http:///path"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ClientError):
        Client(url)


def test_a_server_that_is_away_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.transport.PATIENCE", 0.3)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: refuses
        with pytest.raises(Unreachable):
            Client(f"127.0.0.1:{taken.getsockname()[1]}").bots().__next__()


class Odd(http.server.BaseHTTPRequestHandler):
    """A server that is no Rage Arena; the path says what it should answer."""

    asked: list[tuple[str, str, str | None]]

    def do_GET(self) -> None:
        self.asked.append((self.command, self.path, self.headers["Authorization"]))
        status = 503 if self.path.endswith("/busy") and len(self.asked) < 3 else 200
        if self.path.endswith("/moved"):
            status = 302
        self.send_response(status)
        self.send_header("Location", f"http://localhost:{self.server.server_port}/stolen")  # type: ignore[attr-defined]
        self.end_headers()
        self.wfile.write(b"{}" if self.path.endswith("/busy") else b"<html>")

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


@pytest.fixture
def odd() -> Iterator[str]:
    Odd.asked = []
    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listener.server_port}"
    listener.shutdown()
    listener.server_close()


def test_a_read_is_tried_again_a_write_is_not(odd: str) -> None:
    assert Client(odd).get("/busy") == {}
    assert len(Odd.asked) == 3
    Odd.asked = []
    with pytest.raises(ProblemError):
        Client(odd).post("/busy")
    assert len(Odd.asked) == 1


def test_a_token_does_not_follow_a_redirection(odd: str) -> None:
    with pytest.raises(ProblemError) as caught:
        Client(odd, "rage_secret").get("/moved")
    assert caught.value.status == 302
    assert Odd.asked == [("GET", "/api/v1/moved", "Bearer rage_secret")]


def test_an_answer_that_is_not_ours_is_said_so(odd: str) -> None:
    with pytest.raises(ClientError, match="is this a Rage Arena"):
        Client(odd).get("/rules")
