"""What waits for long outlives a restart of the server."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from api.client import Client, ProblemError, Unreachable
from api.patience import Patience
from service.settings import Settings

CODE = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"


@contextmanager
def serving(settings: Settings, port: int) -> Iterator[None]:
    """The real server as a process of its own, killed at the end."""
    words = ["--interface", "wsgi", "--factory", "--port", str(port), "api.app:create_app"]
    environment = {**os.environ, **settings.environment()}
    with open(settings.data_dir / "server.log", "ab") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", "granian", *words],
            env=environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            yield
        finally:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()


def test_watching_a_tournament_outlives_a_restart(
    arena: Any, make_spec: Any, ready_bots: Any, later_port: int
) -> None:
    settings, port = arena.settings, later_port
    url = f"http://127.0.0.1:{port}"
    client = Client(url)
    with serving(settings, port):
        Patience().ask(lambda: client.get("/rules"))
        client.register("eve")
        made = client.create_tournament(**make_spec(ready_bots, start_at="manual"))
        words = ["--url", url, "tournament", "watch", made["id"]]
        watching = subprocess.Popen(
            [sys.executable, "-m", "api.cli", *words],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert watching.stderr is not None
        assert "rage tournament start" in watching.stderr.readline()
    assert "server is away, waiting ...\n" in iter(watching.stderr.readline, "")  # after how far it is
    with serving(settings, port):
        assert watching.stderr.readline() == "server is back\n"
        client.cancel(made["id"])
        _, said = watching.communicate(timeout=60)
    assert said.splitlines()[-1] == "Error: it was cancelled by eve"
    assert watching.returncode == 1


@pytest.fixture
def said() -> list[str]:
    return []


def test_it_is_said_once_that_the_server_is_away(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.patience.PAUSE", 0.0)
    answers = iter([Unreachable("x"), ProblemError(503, "", "", {}), ProblemError(502, "", "", {}), "here"])

    def look() -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    assert Patience(said.append).ask(look) == "here"
    assert said == ["server is away, waiting ...", "server is back"]


def test_patience_has_an_end_and_is_not_for_refusals(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def look() -> None:
        raise error

    monkeypatch.setattr("api.patience.PAUSE", 0.0)
    error: Exception = ProblemError(404, "", "no such thing", {})
    with pytest.raises(ProblemError):
        Patience(said.append).ask(look)
    assert said == []
    monkeypatch.setattr("api.patience.PATIENCE", -1.0)
    error = Unreachable("x")
    with pytest.raises(Unreachable):
        Patience(said.append).ask(look)
    assert said == ["server is away, waiting ..."]
