"""The embedded server: found, started on a socket of our own, its data kept over a kill."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kombu.connection import Connection
from redis import Redis

from service import valkey
from service.settings import Settings
from service.valkey import ServerUnavailable, answers, arguments, program


def settings(data: Path, **variables: str) -> Settings:
    return Settings.from_environment({"RAGE_DATA_DIR": str(data), **variables})


def eventually(holds: Callable[[], bool], seconds: float = 20) -> bool:
    limit = time.monotonic() + seconds
    while not holds() and time.monotonic() < limit:
        time.sleep(0.02)
    return holds()


@contextmanager
def running(made: Settings) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(arguments(made), stdout=subprocess.DEVNULL) as server:
        try:
            assert eventually(lambda: answers(made.client_url))
            yield server
        finally:
            server.terminate()


def test_both_client_libraries_reach_it_whatever_the_directory_is_called(tmp_path: Path) -> None:
    made = settings(tmp_path / "50% né?x #y")
    broker = Connection(made.broker_url)  # type: ignore[no-untyped-call]
    with (
        running(made),
        Redis.from_url(made.client_url) as client,
        broker,
        broker.SimpleQueue("matches") as sent,
    ):
        sent.put({"match": "m1"})
        assert client.llen("matches") == 1
        assert sent.get(timeout=60).payload == {"match": "m1"}


def test_it_listens_on_a_socket_for_its_owner_alone_and_on_no_port(tmp_path: Path) -> None:
    made = settings(tmp_path)
    with running(made), Redis.from_url(made.client_url, decode_responses=True) as client:
        assert client.config_get("port") == {"port": "0"}
        assert made.socket.stat().st_mode & 0o777 == 0o700
        assert made.socket.parent.stat().st_mode & 0o777 == 0o700


def test_what_it_was_told_survives_a_kill(tmp_path: Path) -> None:
    made = settings(tmp_path)
    with running(made) as server, Redis.from_url(made.client_url) as client:
        client.rpush("matches", *range(1000))
        server.kill()
    with running(made), Redis.from_url(made.client_url) as client:
        assert client.llen("matches") == 1000


def test_it_never_throws_away_work_to_save_memory(tmp_path: Path) -> None:
    made = settings(tmp_path)
    with running(made), Redis.from_url(made.client_url, decode_responses=True) as client:
        kept = {
            name: client.config_get(name)[name] for name in ("appendonly", "appendfsync", "maxmemory-policy")
        }
    assert kept == {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction"}


def test_a_long_data_directory_still_gets_a_socket(tmp_path: Path) -> None:
    made = settings(tmp_path / ("d" * 100))
    with running(made):
        assert len(os.fsencode(made.socket)) < 100
    made.socket.parent.rmdir()


def test_a_socket_directory_of_someone_else_is_refused(tmp_path: Path) -> None:
    made = settings(tmp_path / ("d" * 100))
    made.socket.parent.symlink_to(tmp_path)
    try:
        with pytest.raises(ServerUnavailable, match="shorter --data-dir"):
            arguments(made)
    finally:
        made.socket.parent.unlink()


def test_nothing_answers_where_nothing_runs(tmp_path: Path) -> None:
    assert not answers(settings(tmp_path).client_url)
    assert not answers("redis://127.0.0.1:1/0")


def test_the_operators_own_program_comes_first(tmp_path: Path) -> None:
    own = tmp_path / "my-valkey"
    own.symlink_to(program(settings(tmp_path)))
    assert program(settings(tmp_path, RAGE_VALKEY_SERVER=str(own))) == own


def test_an_operators_program_that_is_none_is_refused_by_its_variable(tmp_path: Path) -> None:
    with pytest.raises(ServerUnavailable, match="RAGE_VALKEY_SERVER names"):
        program(settings(tmp_path, RAGE_VALKEY_SERVER=str(tmp_path)))


def test_without_the_wheel_one_on_the_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = program(settings(tmp_path))
    (tmp_path / "redis-server").symlink_to(real)
    monkeypatch.setattr(valkey, "_wheel", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program(settings(tmp_path)) == tmp_path / "redis-server"


def test_with_no_program_anywhere_the_person_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valkey, "_wheel", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerUnavailable, match=r"apt-get install redis-server.*RAGE_REDIS_URL"):
        program(settings(tmp_path))
