"""The README's lines for many machines, as they stand there, on a PostgreSQL and a Redis of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

from api.client import Client
from service import valkey
from service.settings import Settings

pytestmark = [pytest.mark.story, pytest.mark.sandbox, pytest.mark.timeout(200)]
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent


def lines() -> list[str]:
    """The commands, without what is said about them."""
    (block,) = [each for each in README.split("```")[1::2] if "run players" in each]
    return [line.partition("#")[0].strip() for line in block.strip().splitlines()]


@pytest.fixture
def world(
    tmp_path: Path, later_port: int, open_postgres: Callable[[], AbstractContextManager[Any]]
) -> Iterator[dict[str, str]]:
    """A database server, a Redis, and the environment that every machine would have."""
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path / "redis")})
    redis = subprocess.Popen(valkey.arguments(settings), stdout=subprocess.DEVNULL)
    with open_postgres() as server:
        yield {
            **os.environ,
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "RAGE_DATABASE_URL": server.get_uri(),
            "RAGE_REDIS_URL": settings.client_url,
            "RAGE_PORT": str(later_port),
            "RAGE_WORKERS": "1",
            "RAGE_STOP_SECONDS": "5",
        }
    redis.terminate()
    redis.wait(60)


def at_once(line: str, env: Mapping[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-euc", line], env=env, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def ended(program: "subprocess.Popen[bytes]") -> None:
    program.send_signal(signal.SIGTERM)
    assert program.wait(60) == 0, program.args


def test_a_service_of_many_machines_plays_a_tournament(world: dict[str, str], tmp_path: Path) -> None:
    once, lasting = lines()[:2], lines()[2:]
    assert [line.split()[-1] for line in lasting] == ["players", "desk", "beat", "api"]
    admin = ""
    for line in once:
        admin = at_once(line.replace("NAME", "ada"), world | {"RAGE_DATA_DIR": str(tmp_path / "once")})
    with ExitStack() as running:
        for number, line in enumerate(lasting):
            machine = world | {"RAGE_DATA_DIR": str(tmp_path / f"machine-{number}")}
            log = running.enter_context(open(tmp_path / f"{number}.log", "wb"))
            running.callback(ended, subprocess.Popen(line.split(), env=machine, stdout=log, stderr=log))
        author = Client(f"http://127.0.0.1:{world['RAGE_PORT']}", admin)
        house = patiently(author)[:2]
        cup = author.create_tournament(name="cup", entrants=house, players=2, deals=1)
        assert author.wait_over(cup["id"], seconds=60)["status"] == "finished"
    assert (tmp_path / "machine-0/run/alive").is_dir(), "players give signs of life"
    for number in range(len(lasting)):
        said = [json.loads(line)["event"] for line in (tmp_path / f"{number}.log").read_text().splitlines()]
        assert any("shutdown" in each for each in said) or number > 1, "a worker's end is logged"


def patiently(author: Client) -> list[str]:
    """The house bots, once the API listens."""
    until = time.monotonic() + 120
    while True:
        try:
            return [bot["id"] for bot in author.bots(owner="house")]
        except Exception:
            if time.monotonic() > until:
                raise
            time.sleep(0.3)
