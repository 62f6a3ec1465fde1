"""Several machines rehearsed on one: they join and leave; one is cut off and comes back late with a result.

Each has a directory and a host name of its own and reaches database and broker over a link that can be cut.
"""

import os
import select as polling
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from service import (
    accounts,
    bots,
    counts,
    house,
    incidents,
    presence,
    progress,
    rerate,
    schema,
    tournaments,
    valkey,
)
from service.jobs import CeleryQueue
from service.progress import LEASED
from service.settings import Settings
from service.tables import match, seat
from service.work import Arena

pytestmark = [pytest.mark.story, pytest.mark.sandbox, pytest.mark.slow, pytest.mark.timeout(300)]
ADMIN = str(Path(sys.executable).parent / "rage-admin")
LEASE = 5


@dataclass(slots=True)
class Link:
    """What one machine reaches a server by: a port of its own that leads to the server's socket."""

    server: str
    listener: socket.socket = field(init=False)
    pairs: list[tuple[socket.socket, socket.socket]] = field(default_factory=list)
    whole: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.whole.set()
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def cut(self) -> None:
        """Whatever is under way breaks off, and nothing gets through."""
        self.whole.clear()
        for pair in self.pairs:
            for end in pair:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        self.pairs.clear()

    def mend(self) -> None:
        self.whole.set()

    def close(self) -> None:
        self.cut()
        self.listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.socket(socket.AF_UNIX)
                if not self.whole.is_set():
                    near.close()
                    continue
                far.connect(self.server)
                self.pairs.append((near, far))
                threading.Thread(target=_carry, args=(near, far), daemon=True).start()


def _carry(near: socket.socket, far: socket.socket) -> None:
    with near, far, suppress(OSError):
        while True:
            for end in polling.select([near, far], [], [])[0]:
                told = end.recv(1 << 16)
                if not told:
                    return
                (far if end is near else near).sendall(told)


@dataclass(slots=True)
class Host:
    """A machine that plays one match at a time."""

    name: str
    links: list[Link]
    program: "subprocess.Popen[bytes]"

    def cut_off(self) -> None:
        for link in self.links:
            link.cut()

    def reconnect(self) -> None:
        for link in self.links:
            link.mend()

    def leave(self) -> int:
        """In good order; its exit status."""
        self.program.send_signal(signal.SIGTERM)
        return self.program.wait(30)


@dataclass(slots=True)
class World:
    """The servers, the machines, and eyes that look straight into the database."""

    folder: Path
    arena: Arena
    sockets: tuple[str, str]
    stack: ExitStack

    def start(self, name: str, program: str = "players") -> Host:
        """One more machine."""
        links = [Link(server) for server in self.sockets]
        for link in links:
            self.stack.callback(link.close)
        machine = {
            **os.environ,
            "RAGE_DATA_DIR": str(self.folder / name),
            "RAGE_DATABASE_URL": f"postgresql://postgres@127.0.0.1:{links[0].port}/postgres",
            "RAGE_REDIS_URL": f"redis://127.0.0.1:{links[1].port}/0",
            "RAGE_WORKERS": "1",
            "RAGE_LEASE_SECONDS": str(LEASE),
            "RAGE_REAP_SECONDS": "1",
            "RAGE_STOP_SECONDS": "5",
        }
        own = ["unshare", "--uts", "sh", "-c", f'hostname {name}; exec "$@"', "-"]
        log = os.open(self.folder / f"{name}.log", os.O_WRONLY | os.O_CREAT)
        self.stack.callback(os.close, log)
        started = subprocess.Popen([*own, ADMIN, "run", program], env=machine, stdout=log, stderr=log)
        self.stack.callback(_end, started)
        return Host(name, links, started)

    def until(self, seen: Callable[[], Any], what: str, seconds: float = 60.0) -> Any:
        end = time.monotonic() + seconds
        while not (found := seen()):
            assert time.monotonic() < end, f"in {seconds} s: {what}"
            time.sleep(0.05)
        return found

    def played(self) -> int:
        with self.arena.read() as db:
            return progress.in_all(db).done

    def held_by(self, host: Host) -> Any:
        """What it plays now."""
        with self.arena.read() as db:
            mine = (LEASED, match.c.lease_worker.like(f"{host.name}-%"))
            return db.execute(select(match.c.number, match.c.attempts).where(*mine)).first()

    def waits_at(self, host: Host) -> list[Path]:
        """Results on its disk."""
        return list((self.folder / host.name / "spool").glob("*.json"))

    def there(self, host: Host) -> bool:
        with self.arena.read() as db:
            heard = presence.workers(db, self.arena.clock())
        return any(presence.host(each.name) == host.name for each in heard)


def _end(program: "subprocess.Popen[bytes]") -> None:
    if program.poll() is None:
        program.terminate()
        with suppress(subprocess.TimeoutExpired):
            program.wait(15)
            return
        program.kill()
        program.wait(10)


@pytest.fixture
def world(tmp_path: Path, open_postgres: Callable[[], AbstractContextManager[Any]]) -> Iterator[World]:
    """A database server and a broker that nobody plays for yet."""
    if os.geteuid() != 0:
        pytest.skip("machines have host names of their own, which takes root")
    near = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path / "broker")})
    with ExitStack() as stack:
        broker = subprocess.Popen(valkey.arguments(near), stdout=subprocess.DEVNULL)
        stack.callback(_end, broker)
        server = stack.enter_context(open_postgres())
        settings = replace(near, database_url=server.get_uri(), redis_url=near.client_url)
        schema.migrate(settings)
        arena = Arena.open(settings, CeleryQueue.of(settings))
        stack.callback(arena.close)
        facts = server.get_postmaster_info()
        place = str(facts.socket_dir / f".s.PGSQL.{facts.port or 5432}")
        house.ensure(arena)
        yield World(tmp_path, arena, (place, str(near.socket)), stack)


def test_machines_come_and_go_and_one_that_was_cut_off_is_judged_by_its_lease(world: World) -> None:
    world.start("clock", "beat")
    world.start("watch", "desk")
    first, second = world.start("first"), world.start("second")
    organiser, _ = accounts.register(world.arena, name="Ada")
    house = [each.id for each in bots.bots(world.arena, owner="house").items][:4]
    told = {"name": "Cup", "entrants": house, "players": 4, "deals": 30}
    cup = tournaments.create(world.arena, organiser, told)

    world.until(lambda: world.played() >= 6, "machines play")
    third = world.start("third")
    assert first.leave() == 0
    world.until(lambda: world.there(third) and world.played() >= 12, "one joins, one leaves")

    world.until(lambda: world.held_by(second), "the second one plays")
    second.cut_off()  # for less than its lease
    time.sleep(1.5)
    second.reconnect()
    world.until(lambda: world.held_by(second), "it goes on after a short while")

    number, attempt = _cut_in_the_midst(world, second)
    world.until(
        lambda: _attempts(world, cup.id, number) > attempt, "what it held is played by another", 6 * LEASE
    )
    second.reconnect()
    world.until(lambda: _status(world, cup.id) == "finished", "the tournament ends", 150)
    world.until(lambda: not world.waits_at(second), "what waited on its disk was given in", 30)

    assert rerate.rerate(world.arena).wrong == []
    with world.arena.read() as db:
        assert progress.of_tournaments(db, [cup.id])[cup.id].done == cup.progress.total == 120
        assert db.scalar(select(func.count()).select_from(seat)) == 4 * 120
        assert sum(line.matches for line in counts.stored_lines(db, cup.id)) == 120
        assert incidents.counts(db)[incidents.LATE] >= 1, "it came too late, and was told so"
        workers = set(db.scalars(select(match.c.lease_worker).where(match.c.tournament_id == cup.id)))
    assert {presence.host(each) for each in workers} >= {"first", "second", "third"}


def _cut_in_the_midst(world: World, host: Host) -> tuple[int, int]:
    """Cut a machine off from a match that it plays; the match's number and how often it was claimed."""
    while True:
        held = world.until(lambda: world.held_by(host), f"{host.name} plays")
        host.cut_off()
        time.sleep(0.3)  # what was on its way has arrived
        if world.held_by(host) == held:
            return held.number, held.attempts
        host.reconnect()


def _attempts(world: World, cup: str, number: int) -> int:
    with world.arena.read() as db:
        this = (match.c.tournament_id == cup, match.c.number == number)
        return db.scalar(select(match.c.attempts).where(*this)) or 0


def _status(world: World, cup: str) -> str:
    return tournaments.tournament(world.arena, cup).status
