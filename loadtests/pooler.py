"""PgBouncer before a PostgreSQL of our own: many clients on few connections, handed out by transaction."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import make_url

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
START_SECONDS = 10.0
CONFIGURED = """
[databases]
{database} = host={host} port={port} user={user} dbname={database}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = {clients}
"""


@dataclass(frozen=True, slots=True)
class Pooler:
    """One that runs: the database's address behind it, and its process."""

    url: str
    pid: int


@contextmanager
def pooler(url: str, connections: int, clients: int = 2_000) -> Iterator[Pooler]:
    """`url`'s database behind a PgBouncer that has so many connections to it, for so many clients."""
    assert PROGRAM is not None, "pgbouncer is not installed"
    there = make_url(url)
    host, listen = str(there.query.get("host", there.host)), _free_port()
    told = {"host": host, "port": there.port or 5432, "user": there.username, "database": there.database}
    with tempfile.TemporaryDirectory(prefix="rage-pooler-") as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - started by root it runs as the server's user
        file = Path(folder, "pgbouncer.ini")
        file.write_text(CONFIGURED.format(**told, listen=listen, connections=connections, clients=clients))
        file.chmod(0o644)
        with Path(folder, "log").open("wb") as log:
            argv = [PROGRAM, *_as_owner(host), str(file)]
            program = subprocess.Popen(argv, stderr=log, stdout=log, cwd=folder)
        try:
            _wait(program, listen, Path(folder, "log"))
            yield Pooler(f"postgresql://{there.username}@127.0.0.1:{listen}/{there.database}", program.pid)
        finally:
            program.terminate()
            program.wait()


def _as_owner(host: str) -> list[str]:
    """PgBouncer refuses to be root; whoever has the server's socket may connect to it."""
    return ["-u", Path(host).owner()] if os.getuid() == 0 and host.startswith("/") else []


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def _wait(program: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while program.poll() is None and time.monotonic() < until:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError(f"pgbouncer does not answer: {log.read_text()}")
