"""How strong the house bots are, over duplicate deals: `python -m loadtests.house_table`.

Each deal is played once from every rotation of the seats, so everybody holds every hand; a deal is one
observation, and the intervals (95 %) are those of its mean. Bots play in this process, with the CPU limits
they are told on a server.
"""

import argparse
import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from rich.progress import track

from engine import bots
from engine.rules import PRESETS
from engine.table import LocalPlayer, play

LIMITS = {"decision_ms": 1000, "decision_cpu_ms": 1000, "match_cpu_ms": 5000}
FIELDS = (
    ("random", "cautious", "counter", "montecarlo"),
    ("montecarlo", "counter", "counter", "counter"),
    ("counter", "cautious", "cautious", "cautious"),
    ("cautious", "random", "random", "random"),
)


@dataclass(frozen=True, slots=True)
class Deal:
    """What one deal gave each place of a field, on average over its rotations."""

    points: tuple[float, ...]
    wins: tuple[float, ...]
    exact: tuple[float, ...]
    faults: int


def dealt(field: Sequence[str], number: int) -> Deal:
    """One deal, from every rotation."""
    size, seed = len(field), number.to_bytes(32, "big")
    played = [_match(field, seed, turn) for turn in range(size)]
    columns = [
        tuple(statistics.fmean(game[row][place] for game in played) for place in range(size))
        for row in range(3)
    ]
    return Deal(columns[0], columns[1], columns[2], sum(game[3][0] for game in played))


def _match(field: Sequence[str], seed: bytes, turn: int) -> list[list[float]]:
    """Points, wins (shared ones in part) and exact bids by place in the field, and the match's faults."""
    size = len(field)
    order = [(seat + turn) % size for seat in range(size)]
    players = [LocalPlayer.of(bots.load(field[place])) for place in order]
    dice = [int.from_bytes(seed[-4:], "big") * 64 + turn * size + seat for seat in range(size)]
    outcome = play(PRESETS["fundex"], players, seed=seed, limits=LIMITS, bot_seeds=dice)
    best = outcome.places.count(1)
    rows = [
        outcome.counted,
        [(place == 1) / best for place in outcome.places],
        outcome.exact_bids,
    ]
    return [[row[order.index(place)] for place in range(size)] for row in rows] + [[len(outcome.faults)]]


def report(field: Sequence[str], deals: Sequence[Deal]) -> None:
    """A line for each bot of the field; equal neighbours are taken together."""
    print(f"\n{' '.join(field)}: {len(deals)} deals, {len(deals) * len(field)} matches")
    print(f"{'bot':12} {'points':>8} {'over the table':>18} {'wins':>7} {'exact bids':>11}")
    for name in dict.fromkeys(field):
        places = [place for place, each in enumerate(field) if each == name]
        points = [statistics.fmean(deal.points[place] for place in places) for deal in deals]
        over = [own - statistics.fmean(deal.points) for own, deal in zip(points, deals, strict=True)]
        margin = 1.96 * statistics.stdev(over) / len(over) ** 0.5
        wins = statistics.fmean(deal.wins[place] for deal in deals for place in places)
        exact = statistics.fmean(deal.exact[place] for deal in deals for place in places)
        mean, gained = statistics.fmean(points), f"{statistics.fmean(over):+.1f} ± {margin:.1f}"
        print(f"{name:12} {mean:8.1f} {gained:>18} {wins:7.1%} {exact:11.2f}")
    print(f"faults: {sum(deal.faults for deal in deals)}")


def played(field: Sequence[str], deals: int, jobs: int) -> Iterator[Deal]:
    """The deals of one field, in order."""
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(dealt, [field] * deals, range(deals))


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--deals", type=int, default=400, help="deals for each field (400)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    told = parser.parse_args()
    for field in FIELDS:
        deals = track(played(field, told.deals, told.jobs), " ".join(field), total=told.deals)
        report(field, list(deals))


if __name__ == "__main__":
    main()
