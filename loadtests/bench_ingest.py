"""Results given in together beside one by one: `python -m loadtests.bench_ingest`.

The same matches' sheets on a fresh database of each kind, in turn a single one a transaction and a hundred;
results a second, and how many times as many together. Ends with status 1 where a bar is missed.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.record import Record
from engine.table import Outcome
from loadtests import claimers, ledger, singly
from service import leases
from service.sheet import Sheet, Spent
from service.work import Arena

BARS = {"sqlite": 2.5, "postgresql": 5.0}


def main(argv: Sequence[str]) -> int:
    """Both kinds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=int, default=2_000, help="of each way")
    told = parser.parse_args(argv)
    missed = False
    with tempfile.TemporaryDirectory(prefix="rage-ingest-") as folder:
        arena = ledger.opened(f"sqlite:///{Path(folder)}/rage.sqlite3")
        ledger.fill(arena, 200, 4_000, waiting=2 * told.results)
        missed |= beside(arena, told.results)
        arena.close()
    with claimers.database(2 * told.results) as arena:
        missed |= beside(arena, told.results)
    return int(missed)


def beside(arena: Arena, results: int) -> bool:
    """Ten blocks of each way in turn; whether the bar was missed."""
    game, block = ledger.play(ledger.dice(1)), results // 10
    told = (game.scores, game.counted, game.places, game.exact)
    outcome = Outcome(Record.unpack(game.record), *told, faults=(), out=())
    alone = together = 0.0
    for _ in range(10):
        sheets = list(claimed(arena, outcome, block))
        began = time.perf_counter()
        assert all(leases.give_in(arena, each, worker="bench")[0] for each in sheets)
        alone += time.perf_counter() - began
        sheets = list(claimed(arena, outcome, block))
        began = time.perf_counter()
        assert all(leases.give_in_all(arena, sheets, worker="bench")[0])
        together += time.perf_counter() - began
    kind, ratio, done = arena.database.dialect.name, alone / together, 10 * block
    bar = BARS[kind]
    print(f"{kind:<12} one by one {done / alone:8,.0f}/s   together {done / together:8,.0f}/s"
          f"   {ratio:.1f} times, bar {bar}{'' if ratio >= bar else ': missed'}", flush=True)  # fmt: skip
    return ratio < bar


def claimed(arena: Arena, outcome: Outcome, many: int) -> Iterator[Sheet]:
    """Sheets of matches that were just claimed."""
    for _ in range(many):
        held = singly.claim(arena, "bench-0-0-1")
        assert held is not None, "too few matches wait"
        yield Sheet.of(held, outcome, [Spent(20, 60, 9000, 0, 40) for _ in held.entrants], mode="A")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
