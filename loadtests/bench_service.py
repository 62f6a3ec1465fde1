"""How much of a machine's time goes into matches when the whole service plays them.

    python -m loadtests.bench_service [--rounds 3] [--deals 24] [--chunk-ms 250] [--peer PYTHON]
    python -m loadtests.bench_service --matches 10000

The first uploads house bots over HTTP and has one tournament played by a service with one worker, by one with
two, in a plain loop without a service and by a plain pool of processes: the same matches on the same cards in
the same sandbox, turn by turn in one run, and every way must come to the same scores. `--peer` is a Python
that has kaggle-environments; its rock, paper, scissors between agents that answer at once is played beside
our bots that do. The second plays that many tiny matches and watches the memory of the API and the workers.
Ends with status 1 if a bar is missed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from loadtests import fresh
from loadtests.bars import Bar, Row, show, status, table
from loadtests.played import QUIET_SECONDS, TABLE, Played, Went

ROOT = Path(__file__).parents[1]
PEER = """
import json, sys, time
from loadtests.peers import kaggle_rps
play = kaggle_rps()
play(1)
began, spent = time.perf_counter(), time.process_time()
decisions = sum(play(1) for _ in range(5))
wall, cpu = time.perf_counter() - began, time.process_time() - spent
print(json.dumps({"decisions": decisions, "wall": wall, "cpu": cpu}))
"""
BARS = {
    "one worker / plain loop, matches/s": Bar(at_least=0.95),
    "two workers / one, matches/s": Bar(at_least=1.8),
    "decisions/s, bots that answer at once / kaggle-environments' rps": Bar(at_least=20),
    "memory of the API, end / first tenth": Bar(at_most=1.1),
    "memory of a worker, end / first tenth": Bar(at_most=1.1),
}
QUICK, PEERS = "two workers, bots that answer at once", "kaggle-environments' rps"
BESIDE = ("engine", QUICK, PEERS)  # other matches than the rest
TINY = {"preset": "fundex", "hand_sizes": [1]}
READ_EVERY = 0.5  # seconds between two looks at the pages of the API while its memory is watched


def main(argv: Sequence[str]) -> int:
    """Measure, print, judge."""
    told = read(argv)
    if told.matches:
        rows = remember(told.matches)
        show(f"memory over {told.matches:,} matches", rows)
        return status(rows)
    return throughput(told.rounds, told.deals, told.chunk_ms, told.peer)


def read(argv: Sequence[str]) -> argparse.Namespace:
    """What is wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="turns of each way to play")
    parser.add_argument("--deals", type=int, default=24, help="of the tournament; four matches each")
    parser.add_argument("--chunk-ms", type=int, default=250, help="of one job")
    parser.add_argument("--peer", help="a Python that has kaggle-environments")
    parser.add_argument("--matches", type=int, help="watch the memory over so many tiny matches instead")
    return parser.parse_args(argv)


# matches a second


def throughput(rounds: int, deals: int, chunk_ms: int, peer: str | None) -> int:
    """All ways in turns; medians."""
    chunk = {"RAGE_CHUNK_MS": str(chunk_ms)}
    with ExitStack() as stack:
        one, two = [
            Played(stack.enter_context(fresh.fresh(workers=count, **chunk)), deals, bytes(range(32)))
            for count in (1, 2)
        ]
        went: dict[str, list[Went]] = {}
        made = ""
        for number in range(-1, rounds):  # the first is for warming up
            say(f"round {number + 1} of {rounds}" if number >= 0 else "warming up")
            made, found = _round(one, two, made, number, peer)
            if number >= 0:
                for name, each in found.items():
                    went.setdefault(name, []).append(each)
        facts = one.facts(made)
    assert len({each.digest for name, some in went.items() if name not in BESIDE for each in some}) == 1
    return tell(went, facts)


def _round(one: Played, two: Played, made: str, number: int, peer: str | None) -> tuple[str, dict[str, Went]]:
    """Every way once, each round in another order; the first plays the tournament the others take over."""
    if not made:
        made, _ = one.play()
    ways: list[tuple[str, Callable[[], Went]]] = [
        ("one worker", lambda: one.play()[1]),
        ("plain loop", lambda: without(one, made, "loop")),
        ("two workers", lambda: two.play()[1]),
        ("pool of two", lambda: without(one, made, "pool", "--processes", "2")),
        ("worker without Celery", lambda: without(one, made, "workshop")),
        ("engine", lambda: without(one, made, "engine")),
        (QUICK, lambda: two.play(two.quick)[1]),
    ]
    if peer:
        ways.append((PEERS, lambda: _peer(peer)))
    turn = number % len(ways)
    return made, {name: play() for name, play in ways[turn:] + ways[:turn]}


def without(played: Played, tournament_id: str, *how: str) -> Went:
    """The same matches in `loadtests.plain`."""
    folder = str(played.service.settings.data_dir)
    command = [sys.executable, "-m", "loadtests.plain", folder, tournament_id, *how]
    told = json.loads(
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.splitlines()[-1]
    )
    return Went(told["wall"], told["cpu"], told["digest"], {"decisions": told.get("decisions", 0)})


def _peer(python: str) -> Went:
    found = subprocess.run([python, "-c", PEER], cwd=ROOT, check=True, capture_output=True)
    told = json.loads(found.stdout.splitlines()[-1])
    return Went(told["wall"], told["cpu"], "", {"decisions": told["decisions"]})


def tell(went: Mapping[str, Sequence[Went]], facts: tuple[int, int, float]) -> int:
    """Print all of it; the status to end with."""
    matches, decisions, bots = facts
    lines = [("way", "matches/s", "decisions/s", "CPU a match, ms")]
    for name, some in went.items():
        wall, spent = (statistics.median(getattr(each, what) for each in some) for what in ("wall", "cpu"))
        asked = statistics.median(each.by["decisions"] or decisions for each in some)
        rate = f"{asked / wall:,.0f}"
        own = (f"{matches / wall:.2f}", rate, f"{1000 * spent / matches:.1f}")
        lines.append((name, *(("", rate, "") if name == PEERS else own)))
    print(f"\n{matches} matches of {len(TABLE)}, {decisions / matches:.0f} decisions each")
    table(lines)
    print("\nwhere the CPU of a match goes, one worker")
    table(shares(went, matches, decisions, bots))
    rows = ratios(went)
    show("throughput", rows)
    return status(rows)


def ratios(went: Mapping[str, Sequence[Went]]) -> list[Row]:
    """Each round's own ratio, so that a busy machine slows both sides; the median of the rounds."""

    def ratio(above: str, below: str, what: str = "wall") -> float:
        pairs = zip(went[above], went[below], strict=True)
        return statistics.median(getattr(under, what) / getattr(over, what) for over, under in pairs)

    def decided(name: str) -> float | None:
        pairs = zip(went[name], went.get(PEERS, []), strict=False)
        rates = [a.by["decisions"] / a.wall / (b.by["decisions"] / b.wall) for a, b in pairs]
        return statistics.median(rates) if rates else None

    loop, pair = "one worker / plain loop, matches/s", "two workers / one, matches/s"
    quick = "decisions/s, bots that answer at once / kaggle-environments' rps"
    why = "" if PEERS in went else "--peer names a Python that has it"
    return [
        Row(loop, ratio("one worker", "plain loop"), BARS[loop]),
        Row("the same by CPU a match", ratio("one worker", "plain loop", "cpu")),
        Row(pair, ratio("two workers", "one worker"), BARS[pair]),
        Row("the same by CPU a match, twice", 2 * ratio("two workers", "one worker", "cpu")),
        Row("pool of two / plain loop, matches/s", ratio("pool of two", "plain loop")),
        Row("two workers / pool of two, matches/s", ratio("two workers", "pool of two")),
        Row("the same by CPU a match", ratio("two workers", "pool of two", "cpu")),
        Row(quick, decided(QUICK), BARS[quick], why),
        Row("decisions/s, house bots / the same", decided("two workers"), note=why),
    ]


def shares(
    went: Mapping[str, Sequence[Went]], matches: int, decisions: int, bots: float
) -> list[tuple[str, ...]]:
    """What each layer adds to the one below; milliseconds of CPU a match."""

    def spent(name: str) -> float:
        return 1000 * statistics.median(each.cpu for each in went[name]) / matches

    def program(*names: str) -> float:
        return (
            1000 * statistics.median(sum(each.by[n] for n in names) for each in went["one worker"]) / matches
        )

    table_alone = (
        spent("engine") * decisions * len(went["engine"]) / sum(e.by["decisions"] for e in went["engine"])
    )
    own, whole = 1000 * bots / matches, spent("one worker")
    parts = {
        "bots, as their clocks counted": own,
        "engine: the table without players": table_alone,
        "sandbox: starts, pipes, clocks": spent("plain loop") - own - table_alone,
        "database: leases, results, counts": spent("worker without Celery") - spent("plain loop"),
        "Celery in the worker": program("players") - spent("worker without Celery"),
        "broker": program("valkey"),
        "desk and beat: ratings, lost work": program("desk", "beat"),
        "API": program("api"),
    }
    rows = [(name, f"{each:.2f} ms", f"{100 * each / whole:.1f} %") for name, each in parts.items()]
    return [("part", "CPU a match", "share"), *rows, ("all", f"{whole:.2f} ms", "")]


# memory


def remember(matches: int) -> list[Row]:
    """Memory when a tenth was played and when all was; somebody reads all the while."""
    with fresh.fresh(workers=2) as service:
        played = Played(service, 1, bytes(range(32)))
        marks = dict(watched(played, matches))
    rows = []
    for who, name in (("api", "the API"), ("worker", "a worker")):
        first, last = (marks[at][who] for at in (matches // 10, matches))
        what = f"memory of {name}, end / first tenth"
        if first is None or last is None:
            rows.append(Row(what, None, BARS[what], "/proc does not say"))
        else:
            note = f"{first / (1 << 20):.1f} MB, then {last / (1 << 20):.1f} MB"
            rows.append(Row(what, last / first, BARS[what], note))
    return rows


def watched(played: Played, matches: int) -> Iterator[tuple[int, Mapping[str, int | None]]]:
    """After how many matches; how much each program has to itself."""
    done, began, marks = 0, time.monotonic(), [matches // 10, matches]
    each = matches // 10
    while marks:
        made = played.create(played.quick[:2], deals=each // 2, rules=TINY)
        played.start(made)
        while not played.finished(made):
            played.read(made)
            time.sleep(READ_EVERY)
        done += each
        say(f"{done:,} of {matches:,} matches, {done / (time.monotonic() - began):.0f} a second")
        if done >= marks[0]:
            time.sleep(QUIET_SECONDS)
            yield marks.pop(0), fresh.kept(played.service)


def say(words: str) -> None:
    """A line on standard error."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
