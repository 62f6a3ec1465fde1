"""What an installation of a given size carries, and what gives way first: a model of measured costs.

    python -m loadtests.capacity                        # measure here, a minute, then the table
    python -m loadtests.capacity --write measured.json  # keep what was measured, with where and when
    python -m loadtests.capacity --measured measured.json --database-cores 16 --api-cores 8

Costs are CPU time, so a busy machine matters little. A worker is a core that plays match after match. The
model: matches/s = workers / (CPU of a match + the worker's side of claim and finish); each match costs the
database its side, which grows with the leases that a claim counts; each worker costs it renewals and signs of
life every few seconds, each lease a look at every pass of the watch. A part is full at `FULL` of its time,
for what is fuller answers late.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from loadtests.measured import Measured, known, measure
from service.settings import Settings

FULL = 0.7
WORKERS = (100, 1_000, 10_000)
LONGER = 1_000.0  # ms of CPU: a match of bots that think
REDIS = 70_000  # commands/s of one server, measured unpipelined over a socket
PER_JOB = 6  # Redis commands of a message: sent, popped, looked for


@dataclass(frozen=True, slots=True)
class Size:
    """What there is beside the workers."""

    database_cores: float
    api_cores: float
    connections: int
    match_ms: float


def main(argv: Sequence[str]) -> int:
    """Measure or read, then say what follows."""
    told = read(argv)
    measured = known(told.measured) if told.measured else measure()
    if told.write:
        told.write.write_text(json.dumps(asdict(measured), indent=1) + "\n")
    costs(measured)
    for match_ms in (told.match_ms,) if told.match_ms else (measured.match, LONGER):
        show(measured, Size(told.database_cores, told.api_cores, told.connections, match_ms))
    reads(measured, told.api_cores)
    return 0


def read(argv: Sequence[str]) -> argparse.Namespace:
    """What is wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--measured", type=Path, metavar="FILE", help="costs that were measured before")
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the costs measured now")
    parser.add_argument("--database-cores", type=float, default=4)
    parser.add_argument("--api-cores", type=float, default=2)
    parser.add_argument("--connections", type=int, default=400, help="that the database or PgBouncer allows")
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
    """The model."""
    settings = Settings.from_environment({})
    matches = 1000 * workers / (size.match_ms + costs.finish_worker + costs.finish_lease_worker * workers)
    finish = costs.finish_database + costs.finish_lease * workers
    idle = 3 / settings.lease_seconds * costs.renew_database * min(1.0, size.match_ms / 5_000)
    idle += costs.present_database / 5
    watch = (costs.pass_database + costs.pass_lease * workers) / settings.reap_seconds
    chunk = max(settings.chunk_ms / size.match_ms, 1.0)
    room = FULL * 1000
    return Load(workers, matches, {
        "database": (matches * finish + workers * idle + watch) / (room * size.database_cores),
        "watch": watch / room,
        "connections": workers / size.connections,
        "Redis": PER_JOB * matches / chunk / (FULL * REDIS),
    })  # fmt: skip


REMEDIES = {
    "database": "more cores, longer matches; then an installation for each group of organisers",
    "watch": "a longer RAGE_REAP_SECONDS and RAGE_LEASE_SECONDS",
    "connections": "PgBouncer, transaction pooling (see k8s/README.md)",
    "Redis": "a longer RAGE_CHUNK_MS; then a Redis for each group of workers",
}


def costs(measured: Measured) -> None:
    """What the rest is worked out of."""
    print(f"Measured {measured.origin}, sandbox mode {measured.mode}; CPU ms:")
    for each in fields(Measured)[2:]:
        print(f"  {each.name.replace('_', ' '):<22}{getattr(measured, each.name):12.4f}")


def show(measured: Measured, size: Size) -> None:
    """What workers get done, and what each part has to do for it."""
    print(
        f"\nMatches of {size.match_ms:.0f} ms; a database of {size.database_cores:g} cores,"
        f" {size.connections} connections; full at {FULL:.0%}:"
    )
    print(f"{'workers':>8}{'matches/s':>11}{'a day':>14}{'GB a day':>10}  shares of what there is")
    for each in rows(measured, size):
        parts = ", ".join(f"{part} {share:.0%}" for part, share in each.parts.items())
        day = 86_400 * each.carried
        stored = day * measured.match_bytes / 1e9
        print(f"{each.workers:8,}{each.carried:11,.0f}{day:14,.0f}{stored:10,.1f}  {parts}")
        if each.parts[each.first] > 1:
            cores = size.database_cores * each.parts["database"]
            print(f"{'':8}{each.first} gives way first: {REMEDIES[each.first]}")
            print(f"{'':8}(all {each.matches:,.0f} matches/s would take a database of {cores:,.0f} cores)")


def reads(measured: Measured, cores: float) -> None:
    """What the API answers."""
    full = FULL * 1000 * cores
    warm, cold = full / measured.rankings_warm, full / measured.rankings_cold
    print(f"\nRankings a second on {cores:g} cores of the API: {warm:,.0f} warm, {cold:,.0f} cold")


def rows(costs: Measured, size: Size) -> Iterator[Load]:
    """One for each number of workers."""
    yield from (load(costs, size, workers) for workers in WORKERS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
