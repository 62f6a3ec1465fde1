"""How many readers the API carries, held against the smallest Flask application there is.

    python -m loadtests.bench_api [--rounds 5] [--seconds 2] [--only ratios|busy]

The first part drives `/rankings` (20 lines, on SQLite) and a bare hello on the same server, and the hello on
gunicorn, in turns. The second reads a whole service at a steady pace, while its workers rest and while all of
them play, in turns. Ends with status 1 if a bar is missed.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from api.client import Client
from loadtests import fresh, seed
from loadtests.bars import Bar, Row, show, status, table
from loadtests.servers import HOST, RANKINGS, ROOT, Server, granian, gunicorn, serving
from loadtests.wire import Seen, get
from service import log, schema
from service.jobs import InlineQueue
from service.settings import Settings
from service.work import Arena

CONNECTIONS = 16
BOTS, MATCHES = 40, 640  # in the rankings, of which 20 lines are asked for
BARS = {
    "warm": Bar(at_least=0.85),
    "304": Bar(at_least=0.9),
    "cold": Bar(at_least=0.30),
    "warm / hello under gunicorn": Bar(at_least=1.8),
    "client's share of a core": Bar(at_most=0.85),
    "p99 busy / idle": Bar(at_most=3),
}
PACE = 25.0  # requests a second of the readers of a busy service: a third of what it can do


@dataclass(frozen=True, slots=True)
class Drive:
    """One run: a second's requests, and the server's CPU for one in microseconds."""

    rate: float
    cpu_us: float
    client: float


def main(argv: Sequence[str]) -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="turns of each")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each turn")
    parser.add_argument("--only", choices=("ratios", "busy"))
    told = parser.parse_args(argv)
    log.setup("warning")
    rows = []
    if told.only != "busy":
        rows += ratios(told.rounds, told.seconds)
    if told.only != "ratios":
        rows += busy(told.rounds, 2 * told.seconds)
    show("reading", rows)
    return status(rows)


# rankings beside a bare hello


def ratios(rounds: int, seconds: float) -> list[Row]:
    """All contestants in turns."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rage-load-"))
        arena_settings = seeded(Path(folder))
        ours = stack.enter_context(serving("rankings", granian(arena_settings, "api.app:create_app"), folder))
        bare = stack.enter_context(
            serving("hello", granian(arena_settings, "loadtests.hello:create_app"), folder)
        )
        peer = stack.enter_context(serving("gunicorn", gunicorn(), folder))
        contestants = {
            "hello": (bare, [get(HOST, "/")]),
            "hello under gunicorn": (peer, [get(HOST, "/")]),
            "warm": (ours, [get(HOST, RANKINGS)]),
            "304": (ours, [get(HOST, RANKINGS, f"If-None-Match: {tag(ours)}\r\n")]),
            "cold": (ours, [get(HOST, path) for path in unheard_of()]),
            "warm, gzip": (ours, [get(HOST, RANKINGS, "Accept-Encoding: gzip\r\n")]),
        }
        found: dict[str, list[Drive]] = {name: [] for name in contestants}
        for number in range(-1, rounds):  # the first is for warming up
            order = list(contestants.items())
            for name, (server, requests) in order[number % len(order) :] + order[: number % len(order)]:
                driven = drive(server, requests, seconds if number >= 0 else 0.5)
                if number >= 0:
                    found[name].append(driven)
    return judged(found)


def judged(found: Mapping[str, Sequence[Drive]]) -> list[Row]:
    """Each round's own ratio, the median of the rounds."""

    def ratio(name: str, floor: str) -> float:
        return statistics.median(a.rate / b.rate for a, b in zip(found[name], found[floor], strict=True))

    def by_cpu(name: str, floor: str) -> str:
        pairs = zip(found[name], found[floor], strict=True)
        return f"{statistics.median(b.cpu_us / a.cpu_us for a, b in pairs):.2f} by CPU"

    lines = [("", "requests/s", "server's CPU, us", "client's share of a core")]
    for name, some in found.items():
        rate, spent, client = (statistics.median(getattr(each, what) for each in some)
                               for what in ("rate", "cpu_us", "client"))  # fmt: skip
        lines.append((name, f"{rate:,.0f}", f"{spent:.0f}", f"{client:.2f}"))
    print()
    table(lines)
    rows = [
        Row(f"/rankings {name} / hello, same server", ratio(name, "hello"), BARS[name], by_cpu(name, "hello"))
        for name in ("warm", "304", "cold")
    ]
    gzip = Row(
        "/rankings warm, gzip / hello", ratio("warm, gzip", "hello"), note=by_cpu("warm, gzip", "hello")
    )
    other, peer = "warm / hello under gunicorn", "hello under gunicorn"
    busiest = max(each.client for some in found.values() for each in some)
    return [
        *rows,
        gzip,
        Row(f"/rankings {other}", ratio("warm", peer), BARS[other], by_cpu("warm", peer)),
        Row("client's share of a core, at most", busiest, BARS["client's share of a core"]),
    ]


def seeded(folder: Path) -> Settings:
    """A database with played tournaments."""
    settings = Settings.from_environment(
        {**fresh.UNHINDERED, "RAGE_DATA_DIR": str(folder), "RAGE_LOG_LEVEL": "warning"}
    )
    schema.migrate(settings)
    arena = Arena.open(replace(settings, queued_matches=10_000_000), InlineQueue())
    try:
        seed.fill(arena, BOTS, MATCHES, random.Random(1))
    finally:
        arena.close()
    return settings


def tag(server: Server) -> str:
    """The ETag of the rankings."""
    with urlopen(Request(f"http://{HOST}:{server.port}{RANKINGS}"), timeout=5) as answer:
        return str(answer.headers["ETag"])


def unheard_of() -> list[str]:
    """The same question spelt in more ways than the server keeps answers."""
    spelt = [(letter, f"%{ord(letter):02x}") for letter in "fundex" + "limit"]
    return [
        "/api/v1/rankings?rules=" + "".join(letters[:6]) + "&players=4&" + "".join(letters[6:]) + "=20"
        for letters in product(*spelt)
    ]


def drive(server: Server, requests: Sequence[bytes], seconds: float) -> Drive:
    """One turn of one contestant."""
    before = fresh.cpu(server.pid)
    seen = client(server.port, requests, seconds, CONNECTIONS)
    spent = fresh.cpu(server.pid) - before
    assert set(seen.statuses) <= {"200", "304"}, seen.statuses
    return Drive(seen.requests / seen.wall, 1e6 * spent / seen.requests, seen.cpu / seen.wall)


def client(port: int, requests: Sequence[bytes], seconds: float, connections: int, *rate: float) -> Seen:
    """`loadtests.wire`, in a process of its own."""
    words = [HOST, str(port), str(seconds), str(connections), *map(str, rate)]
    told = json.dumps([each.hex() for each in requests]).encode()
    command = [sys.executable, "-m", "loadtests.wire", *words]
    return Seen(
        **json.loads(subprocess.run(command, cwd=ROOT, input=told, check=True, capture_output=True).stdout)
    )


# reading while all workers play


def busy(rounds: int, seconds: float) -> list[Row]:
    """A steady reader of a service whose workers rest and play in turns."""
    with fresh.fresh(workers=len(os.sched_getaffinity(0)), RAGE_LOG_LEVEL="warning") as service:
        organiser = Client(service.address)
        organiser.register("organiser")
        requests = [get(HOST, path) for path in watched(organiser)]
        cup = organiser.create_tournament(**spec(organiser, deals=100_000 // 16))["id"]
        took: dict[str, list[list[float]]] = {"idle": [], "busy": []}
        for number in range(2 * rounds + 2):
            name = ("busy", "idle")[number % 2]
            (organiser.resume if name == "busy" else organiser.pause)(cup)
            time.sleep(1.0)  # matches that are being played come to their end
            seen = client(service.settings.port, requests, seconds, 8, PACE)
            assert set(seen.statuses) == {"200"}, seen.statuses
            if number > 1:
                took[name].append(seen.took)
        organiser.cancel(cup)
    return judged_busy(took)


def judged_busy(took: Mapping[str, Sequence[Sequence[float]]]) -> list[Row]:
    """Quantiles over all turns."""
    lines = [("at a steady pace", "p50, ms", "p95, ms", "p99, ms", "requests")]
    p99 = {}
    for name, turns in took.items():
        every = sorted(each for turn in turns for each in turn)
        marks = statistics.quantiles(every, n=100)
        p99[name] = marks[98]
        lines.append((name, *(f"{1000 * marks[at]:.1f}" for at in (49, 94, 98)), f"{len(every):,}"))
    print()
    table(lines)
    return [Row("p99 of reads, all workers busy / idle", p99["busy"] / p99["idle"], BARS["p99 busy / idle"])]


def spec(organiser: Client, **told: Any) -> dict[str, Any]:
    """A tournament of the house bots."""
    house = [each["id"] for each in organiser.bots(owner="house")]
    return {"name": "Cup", "entrants": house[:4], "players": 4, "deals": 2, **told}


def watched(organiser: Client) -> list[str]:
    """What spectators read, of a tournament that is over and was rated."""
    cup = organiser.create_tournament(**spec(organiser))["id"]
    organiser.wait_over(cup)
    organiser.wait_rated(spec(organiser)["entrants"][:1])
    one, api = f"/tournaments/{cup}", "/api/v1"
    return [
        f"{api}/rankings?rules=fundex&players=4",
        *(f"{api}{one}{part}" for part in ("", "/standings", "/crosstable", "/matches")),
        *(f"{api}/matches/{cup}-0{part}" for part in ("", "/record")),
        *("/", "/rankings", one, f"/matches/{cup}-0"),
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
