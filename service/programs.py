"""The programs of a small installation as data: what is started, in which order, when it is ready.

Only names cross over to the API and the workers; this package imports neither.
"""

import http.client
import json
import sys
from pathlib import Path

from service import valkey
from service.checks import environment
from service.crew import Child
from service.settings import Settings

NAMES = ("players", "api", "desk", "beat")


def broker(settings: Settings) -> list[Child]:
    """The embedded server, unless another was named."""
    if settings.redis_url is not None:
        return []
    return [
        Child("valkey", valkey.arguments(settings), environment(settings),
              ready=lambda: valkey.answers(settings.client_url), grace=2.0)
    ]  # fmt: skip


def commands(settings: Settings) -> dict[str, list[str]]:
    """What each of our programs is called with, by name: here, in a container, on many machines.

    -P: never import from the directory a person happens to be in.
    """
    python = [sys.executable, "-P", "-m"]
    # As root, which sandboxes are best made by, Celery warns of it before there is a log.
    unwarned = [*python[:-1], "-W", "ignore:You're running the worker", "-m"]
    celery = [*unwarned, "celery", "--quiet", "-A"]
    worker = [
        "workers.app",
        "worker",
        "--without-gossip",
        "--without-mingle",
        "--loglevel",
        settings.log_level,
    ]
    players = ["-Q", "checks,matches", "-c", str(settings.workers), "-P", "prefork", "-n", "players@%h"]
    desk = ["-Q", "desk", "-c", "1", "-P", "solo", "-n", "desk@%h"]
    beat = ["service.clock", "beat", "--pidfile=", "--loglevel", settings.log_level]
    api = [
        *python, "granian", "--interface", "wsgi", "--http", "1", "--log-level", settings.log_level,
        "--log-config", str(Path(__file__).with_name("granian.json")),
        "--host", settings.host, "--port", str(settings.port), "--workers", "1",
        "--blocking-threads", "128", "--workers-kill-timeout", "2", "--factory", "api.app:create_app",
    ]  # fmt: skip
    return {
        "players": [*celery, *worker, *players],
        "api": api,
        "desk": [*celery, *worker, *desk],
        "beat": [*celery, *beat],
    }


def programs(settings: Settings, address: str) -> list[Child]:
    """The programs of ours, in the order they start; they stop in the reverse one.

    Workers get Celery's warm stop, which ends with the last running job; its soft one sleeps its whole time
    out, however little there is to wait for.
    """
    called, env = commands(settings), environment(settings)
    return [
        Child("players", called["players"], env, grace=settings.stop_seconds + 1.0),
        Child("api", called["api"], env, ready=lambda: serves(address), grace=2.5),
        Child("desk", called["desk"], env, grace=2.5),
        Child("beat", called["beat"], env, grace=1.5),
    ]


def serves(address: str) -> bool:
    """Whether the API at `address` says that it can serve and that it has seen workers."""
    host = address.removeprefix("http://")
    try:
        connection = http.client.HTTPConnection(host, timeout=2)
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status == 200 and bool(json.loads(answer.read()).get("workers"))
    except (OSError, http.client.HTTPException, ValueError, AttributeError):
        return False
