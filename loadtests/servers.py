"""The servers that `bench_api` drives: started, awaited, ended."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.request import urlopen

from loadtests import fresh
from service import checks
from service.programs import commands
from service.settings import Settings

ROOT = Path(__file__).parents[1]
HOST = "127.0.0.1"
RANKINGS = "/api/v1/rankings?rules=fundex&players=4&limit=20"
GUNICORN = ("-k", "gthread", "--threads", "64", "--workers", "1", "--log-level", "warning")


@dataclass(frozen=True, slots=True)
class Server:
    """A program that listens."""

    name: str
    port: int
    pid: int


def granian(settings: Settings, application: str) -> list[str]:
    """The default server's own command, for whatever application."""
    free = replace(settings, host=HOST, port=checks.free_port(HOST, 0))
    return [*commands(free)["api"][:-1], application]


def gunicorn() -> list[str]:
    """The peer."""
    port = checks.free_port(HOST, 0)
    return [
        sys.executable,
        "-m",
        "gunicorn",
        *GUNICORN,
        "--bind",
        f"{HOST}:{port}",
        "loadtests.hello:create_app()",
    ]


@contextmanager
def serving(name: str, command: Sequence[str], folder: str) -> Iterator[Server]:
    """The program, once it answers; ended afterwards."""
    at = command.index("--port") + 1 if "--port" in command else command.index("--bind") + 1
    port = int(command[at].rpartition(":")[2])
    env = {**os.environ, "RAGE_DATA_DIR": folder, "RAGE_LOG_LEVEL": "warning", "PYTHONPATH": str(ROOT)}
    env |= fresh.UNHINDERED
    log = Path(folder, f"{name}.log")
    with log.open("wb") as out:
        program = subprocess.Popen(command, env=env, cwd=folder, stdout=out, stderr=out)
    try:
        path = RANKINGS if name == "rankings" else "/"
        _until_answers(f"http://{HOST}:{port}{path}", program, log)
        yield Server(name, port, program.pid)
    finally:
        program.terminate()
        program.wait(10)


def _until_answers(url: str, program: "subprocess.Popen[bytes]", log: Path) -> None:
    limit = time.monotonic() + 30
    while True:
        try:
            urlopen(url, timeout=5).read()  # noqa: S310 - our own
            return
        except OSError:
            if program.poll() is not None or time.monotonic() > limit:
                raise RuntimeError(f"it does not answer:\n{log.read_text()[-2000:]}") from None
        time.sleep(0.05)
