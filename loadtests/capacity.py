"""What an installation carries, what gives way first and what helps: a model of measured costs.

    python -m loadtests.capacity                        # measure here, a minute or two, then the tables
    python -m loadtests.capacity --write measured.json  # keep what was measured, with where and when
    python -m loadtests.capacity --measured measured.json --database-cores 16 --api-cores 8

Costs are CPU time, so a busy machine matters little. A worker is a core that plays match after match. The
model: each batch costs its worker and the database something, each match in it something more, and each match
that anybody holds, up to a thousand, a little of every claim; each worker costs renewals and signs of life
every few seconds, each match held a look at every pass of the watch. A part is full at `FULL` of its time,
for what is fuller answers late. Each line adds a remedy to those before.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import ceil
from pathlib import Path

from loadtests.measured import Measured, known, measure
from service.settings import Settings
from service.turns import SAMPLE, Share

FULL = 0.7
WORKERS = (100, 1_000, 10_000)
LONG_BATCH = 2_000.0  # ms: results a little later, for fewer transactions
LONGER = 1_000.0  # ms of CPU: a match of bots that think
REDIS = 70_000  # commands/s of one server, measured unpipelined over a socket
PER_JOB = 6  # Redis commands of a message: sent, popped, looked for
WAITS = 3.0  # a transaction lasts so many times its CPU: round trips, and the disk at its commit
MOST_PARTS = 1_000
ASSUMED = (
    f"a part is full at {FULL:.0%}; Redis answers {REDIS:,} commands a second, {PER_JOB} a job;"
    f" a transaction lasts {WAITS:g} times its CPU; a PgBouncer has a core; a replica takes all reads;"
    " organisers, and with them workers and readers, spread evenly over installations; what a batch costs"
    " does not change with the number of cores or of batches at once"
)


@dataclass(frozen=True, slots=True)
class Size:
    """What there is beside the workers, and how it is used."""

    database_cores: float
    api_cores: float
    connections: int
    match_ms: float
    reads: float = 200.0  # a second that reach the database
    batch_ms: float = 0.0  # of the short matches that are claimed together
    poolers: int = 0  # PgBouncers before the database
    replica: bool = False  # reads go elsewhere
    parts: int = 1  # installations, each with a database, a Redis and its share of the workers

    @property
    def batch(self) -> int:
        """Matches under one lease."""
        return Share(self.batch_ms, {"": self.match_ms}).fits("")


def main(argv: Sequence[str]) -> int:
    """Measure or read, then say what follows."""
    told = read(argv)
    measured = known(told.measured) if told.measured else measure()
    if told.write:
        told.write.write_text(json.dumps(asdict(measured), indent=1) + "\n")
    costs(measured)
    for match_ms in (told.match_ms,) if told.match_ms else (measured.match, LONGER):
        show(measured, Size(told.database_cores, told.api_cores, told.connections, match_ms, told.reads))
    reads(measured, told.api_cores)
    return 0


def read(argv: Sequence[str]) -> argparse.Namespace:
    """What is wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--measured", type=Path, metavar="FILE", help="costs that were measured before")
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the costs measured now")
    parser.add_argument("--database-cores", type=float, default=4)
    parser.add_argument("--api-cores", type=float, default=2)
    parser.add_argument("--connections", type=int, default=400, help="that the database allows")
    parser.add_argument("--reads", type=float, default=200, help="a second that reach the database")
    parser.add_argument("--match-ms", type=float, help="CPU of a match; unset: as measured, and a second")
    return parser.parse_args(argv)


@dataclass(frozen=True, slots=True)
class Load:
    """What so many workers ask of each part, as a share of what it has."""

    workers: int
    matches: float  # a second, if nothing else is full
    parts: dict[str, float]

    @property
    def first(self) -> str:
        """What gives way first."""
        return max(self.parts, key=lambda part: self.parts[part])

    @property
    def carried(self) -> float:
        """Matches a second that get through."""
        return self.matches * min(1.0, 1 / max(self.parts.values()))


def load(costs: Measured, size: Size, workers: int) -> Load:
    """The model; `parts` is what one installation of several has to do, `matches` is of all."""
    settings, here, batch = Settings.from_environment({}), workers / size.parts, size.batch
    held, seen = here * batch, min(here * batch, SAMPLE)
    own = (costs.batch_worker + costs.lease_worker * seen) / batch + costs.each_worker
    asked = costs.batch_database / batch + costs.each_database
    asked *= costs.pooled if size.poolers else 1.0
    asked += costs.lease_database * seen / batch
    matches = 1000 * here / (size.match_ms + own)
    idle = 3 / settings.lease_seconds * costs.renew_database * min(1.0, size.match_ms / 5_000)
    idle += costs.present_database / 5
    watch = (costs.pass_database + costs.pass_lease * held) / settings.reap_seconds
    looked = 0.0 if size.replica else costs.read_database * size.reads / size.parts
    jobs = matches / max(settings.chunk_ms / size.match_ms, 1.0)
    room, busy = FULL * 1000, matches * (own + asked) * WAITS / 1000
    parts = {
        "database": (matches * asked + here * idle + watch + looked) / (room * size.database_cores),
        "watch": watch / room,
        "connections": (busy / FULL if size.poolers else here) / size.connections,
        "Redis": PER_JOB * jobs / (FULL * REDIS),
    }
    if size.poolers:
        parts["PgBouncer"] = matches / batch * costs.pooler / (room * size.poolers)
    return Load(workers, matches * size.parts, parts)


def remedies(costs: Measured, size: Size, workers: int) -> Iterator[tuple[str, Size]]:
    """What is done, each beside what was done before; as many PgBouncers and installations as it takes."""
    yield "one match a lease", size
    for batch_ms in (Settings.from_environment({}).batch_ms, LONG_BATCH):
        before, size = size, replace(size, batch_ms=batch_ms)
        if size.batch > before.batch:
            yield f"{size.batch} matches a lease", size
    if costs.pooled and workers > size.connections:
        size = replace(size, poolers=1)
        size = replace(size, poolers=ceil(load(costs, size, workers).parts["PgBouncer"]))
        yield f"{size.poolers} PgBouncers", size
    size = replace(size, replica=True)
    yield "a replica for reads", size
    while not _fits(costs, size, workers) and size.parts < MOST_PARTS:
        size = replace(size, parts=size.parts + 1, poolers=size.poolers and ceil(size.poolers / 2))
        needed = load(costs, size, workers).parts.get("PgBouncer", 0.0)
        size = replace(size, poolers=ceil(size.poolers * needed))
    if size.parts > 1:
        yield f"{size.parts} installations", size


def _fits(costs: Measured, size: Size, workers: int) -> bool:
    return max(load(costs, size, workers).parts.values()) <= 1.0


def costs(measured: Measured) -> None:
    """What the rest is worked out of."""
    print(f"Measured {measured.origin}, sandbox mode {measured.mode}; CPU ms:")
    for each in fields(Measured)[2:]:
        print(f"  {each.name.replace('_', ' '):<22}{getattr(measured, each.name):12.4f}")
    print(f"Assumed: {ASSUMED}.")


def show(measured: Measured, size: Size) -> None:
    """What workers get done, what gives way first, and what each remedy changes about that."""
    print(
        f"\nMatches of {size.match_ms:.0f} ms; a database of {size.database_cores:g} cores,"
        f" {size.connections} connections, {size.reads:g} reads/s; full at {FULL:.0%}:"
    )
    head = f"{'workers':>8}  {'with':<25}{'matches/s':>10}{'of':>9}{'GB a day':>10}"
    print(f"{head}  gives way first; shares of what there is")
    for workers in WORKERS:
        for number, (what, with_) in enumerate(remedies(measured, size, workers)):
            each = load(measured, with_, workers)
            parts = ", ".join(f"{part} {share:.0%}" for part, share in each.parts.items())
            first = each.first if each.parts[each.first] > 1 else "nothing"
            stored = 86_400 * each.carried * measured.match_bytes / 1e9
            about = f"{'' if number else f'{workers:,}':>8}  {('+ ' if number else '') + what:<25}"
            print(f"{about}{each.carried:10,.0f}{each.matches:9,.0f}{stored:10,.0f}  {first}; {parts}")


def reads(measured: Measured, cores: float) -> None:
    """What the API answers."""
    full = FULL * 1000 * cores
    warm, cold = full / measured.rankings_warm, full / measured.rankings_cold
    print(f"\nRankings a second on {cores:g} cores of the API: {warm:,.0f} warm, {cold:,.0f} cold")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
