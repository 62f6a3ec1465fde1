"""How long writers wait for SQLite: `python -m loadtests.bench_writers`.

Threads of one process, as the API's, and three processes, as workers and the desk are, write without much
pause; in turn as the service lets them (`service/turn.py`) and as SQLite does by itself. For each way: how
much was written, how many threads were turned away when their patience ended, how long the others waited.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from multiprocessing.pool import AsyncResult
from statistics import quantiles

from sqlalchemy import Connection, insert, update

from service import log, schema, turn
from service.errors import Unavailable
from service.jobs import InlineQueue
from service.settings import Settings
from service.tables import pulse
from service.work import HASTY, PATIENT, Arena

PROCESSES = 3
WAYS = ("in turn", "by itself")


@dataclass(slots=True)
class Waits:
    """Milliseconds of each that wrote, and how many did not."""

    ms: list[float] = field(default_factory=list)
    turned_away: int = 0


@dataclass(frozen=True, slots=True)
class Bench:
    """`writing` is how long a transaction lasts on average, seconds."""

    folder: str
    way: str
    writing: float
    seconds: float

    def arena(self, patience: float) -> Arena:
        """A look at the database that waits in this way."""
        settings = Settings.from_environment({"RAGE_DATA_DIR": self.folder})
        opened = Arena.open(settings, InlineQueue(), patience=patience)
        if self.way == WAYS[0]:
            return opened
        turn.begin = _by_itself
        return replace(opened, turn=nullcontext)

    def write(self, arena: Arena, number: int, pause: float) -> Waits:
        """Write and pause until the time is over."""
        dice, waits, end = random.Random(number), Waits(), time.monotonic() + self.seconds
        while time.monotonic() < end:
            began = time.monotonic()
            try:
                with arena.work() as work:
                    waits.ms.append(1000 * (time.monotonic() - began))
                    work.db.execute(update(pulse).values(watched_ms=number))
                    time.sleep(dice.uniform(0, 2 * self.writing))
            except Unavailable:
                waits.turned_away += 1
            time.sleep(dice.expovariate(1 / pause))
        return waits

    def alone(self, number: int) -> Waits:
        """A process of one writer."""
        log.setup("error")
        with closing(self.arena(PATIENT)) as arena:
            return self.write(arena, number, pause=0.01)


def _by_itself(connection: Connection, patience: float) -> None:
    connection.exec_driver_sql(turn.BEGIN)


def measured(bench: Bench, threads: int) -> Iterator[tuple[str, Waits]]:
    """The threads' and the processes' waits."""
    with get_context("spawn").Pool(PROCESSES) as crowd, closing(bench.arena(HASTY)) as arena:
        crowd.map(abs, range(PROCESSES))  # until all are there
        beside: list[AsyncResult[Waits]] = [
            crowd.apply_async(bench.alone, (number,)) for number in range(PROCESSES)
        ]
        with ThreadPoolExecutor(threads) as pool:
            numbers = range(PROCESSES, PROCESSES + threads)
            yield "threads", joined(pool.map(lambda number: bench.write(arena, number, pause=0.05), numbers))
        yield "processes", joined(each.get() for each in beside)


def joined(all_waits: Iterator[Waits]) -> Waits:
    """Those of several."""
    joint = Waits()
    for each in all_waits:
        joint.ms += each.ms
        joint.turned_away += each.turned_away
    return joint


def main(argv: Sequence[str]) -> int:
    """Both ways, each in a process that knows no other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=12)
    parser.add_argument("--ms", type=float, default=3.0, help="a transaction's time, on average")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each turn")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each way")
    told = parser.parse_args(argv)
    log.setup("error")
    print(f"{'SQLite, writers':<28} {'written':>8} {'turned away':>12} {'p50, ms':>8} {'p95':>6} {'p99':>6}")
    with tempfile.TemporaryDirectory(prefix="rage-writers-") as folder:
        schema.migrate(Settings.from_environment({"RAGE_DATA_DIR": folder}))
        with closing(Bench(folder, WAYS[0], 0, 0).arena(PATIENT)) as arena, arena.work() as work:
            work.db.execute(insert(pulse).values(id=1, at=work.now, watched_ms=0))
        usual = turn.begin
        for way in WAYS * told.rounds:
            turn.begin = usual
            for who, waits in measured(Bench(folder, way, told.ms / 1000, told.seconds), told.threads):
                cuts = quantiles(waits.ms, n=100)
                print(
                    f"{f'{way}: {who}':<28} {len(waits.ms):>8,} {waits.turned_away:>12}"
                    f" {cuts[49]:>8,.1f} {cuts[94]:>6,.0f} {cuts[98]:>6,.0f}",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
