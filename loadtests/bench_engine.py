"""The engine's speed beside other people's games: `python -m loadtests.bench_engine`.

Run it with an interpreter that has the peers (the engine itself needs the standard library only); a peer
that cannot be imported is named and left out. All contestants take turns in short rounds, each round is
measured in CPU time, and medians are compared, so that a busy machine slows them all alike.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from random import Random

import engine
from engine.match import Match
from engine.record import Record
from engine.rules import PRESETS, RuleSet
from loadtests import peers
from loadtests.bars import Bar, Row, show, status
from loadtests.engine_loops import (
    authors,
    cloned,
    observed,
    searched,
    stepped,
    stepped_from_deals,
    tabled,
    watchers,
)
from loadtests.peers import Play

SLICE = 0.12
"""CPU seconds of one contestant's turn, about."""


HEAVY = RuleSet.parse(
    {"preset": "challenge", "action_any_time": True, "change": "search", "deck": {"wild": 8}, "teams": "2+2"}
)
MINE = "engine, fundex, 4 players"
READY = "engine, fundex, deals drawn beforehand"
BEST = "OpenSpiel oh_hell, best loop"

CONTESTANTS: Mapping[str, Callable[[], Play]] = {
    MINE: stepped,
    READY: stepped_from_deals,
    BEST: peers.oh_hell_best,
    "OpenSpiel oh_hell, generic loop": peers.oh_hell_generic,
    "OpenSpiel oh_hell, documented loop": peers.oh_hell_documented,
    "pyohhell": peers.pyohhell,
    "rlcard uno": peers.rlcard_uno,
    "engine, 2 players": lambda: stepped(players=2),
    "engine, 8 players": lambda: stepped(players=8),
    "engine, challenge, 4 players": lambda: stepped("challenge"),
    "engine, challenge, 11 players": lambda: stepped("challenge", 11),
    "engine, heaviest rules": lambda: stepped(rules=HEAVY),
    "engine, recorded": lambda: observed(events_too=False),
    "engine, observed and recorded": observed,
    "table, told the news": lambda: tabled(watchers),
    "table, handed full views": lambda: tabled(authors),
    "kaggle-environments rps": peers.kaggle_rps,
    "sample and rollout": searched,
    "OpenSpiel resample and rollout": peers.oh_hell_resample,
    "clone of a round": cloned,
}

AS_GOOD = 1.3 if engine.COMPILED else 0.8
"""How much of the best loop's speed is wanted."""

BARS: tuple[tuple[str, str, float], ...] = (
    (MINE, BEST, AS_GOOD),  # ours shuffles and adds up matches, the best loop has its deals drawn beforehand:
    (READY, BEST, AS_GOOD),  # like beside like
    (MINE, "OpenSpiel oh_hell, generic loop", 1.3),
    (MINE, "OpenSpiel oh_hell, documented loop", 4),
    (MINE, "pyohhell", 10),
    (MINE, "rlcard uno", 10),
    ("table, told the news", "kaggle-environments rps", 100),
    ("sample and rollout", "OpenSpiel resample and rollout", 0.8),
    ("engine, observed and recorded", MINE, 1 / 2.2),
    ("engine, 2 players", MINE, 1 / 1.5),
    ("engine, 8 players", MINE, 1 / 1.5),
    ("engine, challenge, 11 players", MINE, 1 / 1.5),
    ("engine, heaviest rules", MINE, 1 / 1.5),
)
"""Whose decisions a CPU second over whose, and what the quotient should be."""


def present() -> dict[str, Play]:
    """The contestants that can be imported here; the others are named."""
    ready = {}
    for name, make in CONTESTANTS.items():
        try:
            ready[name] = make()
        except ImportError as missing:
            print(f"left out: {name} ({missing})")
    return ready


def measured(contestants: Mapping[str, Play], rounds: int) -> dict[str, float]:
    """Median microseconds of CPU a decision, from interleaved rounds."""
    counts = {name: _count(run) for name, run in contestants.items()}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            began = time.process_time()
            decisions = run(counts[name])
            times[name].append((time.process_time() - began) / decisions * 1e6)
    return {name: statistics.median(each) for name, each in times.items()}


def _count(run: Play) -> int:
    """How many games fill a turn."""
    count, used = 1, 0.0
    while used < SLICE / 4:
        began = time.process_time()
        run(count)
        used = time.process_time() - began
        count *= 2
    return max(1, round(count / 2 * SLICE / used))


def record_sizes(players: int = 4, matches: int = 100) -> dict[str, tuple[float, int]]:
    """Mean and greatest size of a packed record by rule set, random legal play."""
    sizes = {}
    for preset in PRESETS:
        dice, lengths = Random(4), []
        for _ in range(matches):
            match = Match(PRESETS[preset], players, dice.randbytes(32))
            while not match.over:
                match.advance(dice.choice(match.legal()))
            lengths.append(len(Record.of(match).pack()))
        sizes[preset] = (statistics.mean(lengths), max(lengths))
    return sizes


def report(times: Mapping[str, float]) -> list[Row]:
    """Prints what a decision costs, and quotients beside their bars; returns the latter."""
    print(f"\n{'microseconds of CPU a decision':42} {'us':>9}")
    for name, each in times.items():
        print(f"{name:42} {each:9.2f}")
    rows = [
        Row(
            f"{this}  /  {that}",
            times[that] / times[this] if {this, that} <= times.keys() else None,
            Bar(bar),
        )
        for this, that, bar in BARS
    ]
    show("speed of this, in units of that", rows)
    return rows


def main() -> int:
    """Measure, print, and tell whether a bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="turns of each contestant (9)")
    rounds = parser.parse_args().rounds
    built = "compiled" if engine.COMPILED else "plain Python"
    print(f"engine {engine.VERSION}, {built}; Python {sys.version.split()[0]}")
    rows = report(measured(present(), rounds))
    print(f"\n{'bytes of a packed record, 4 random players':42} {'mean':>6} {'most':>6}")
    for preset, (mean, most) in record_sizes().items():
        print(f"{preset:42} {mean:6.0f} {most:6}")
    return status(rows)


if __name__ == "__main__":
    sys.exit(main())
