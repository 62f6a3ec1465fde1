"""A whole tournament of 24 variants of the house bots, played for real, and what its numbers say.

    python -m loadtests.tournament_report [DEALS]

Planned, claimed, recorded, verified and added up by the service on a database of its own; the bots play in
this process, without sandboxes. They depend on nothing but what they are shown and their seeds, so workers
would give in the same records. Tables of two play a third of the deals.
"""

import random
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import asdict
from itertools import combinations
from types import ModuleType
from typing import Any

import structlog
from sqlalchemy import update

from api import shown
from engine.bots import source
from engine.rules import RuleSet
from engine.table import LocalPlayer, play
from loadtests import singly
from service import (
    accounts,
    bots,
    folds,
    inquiry,
    matches,
    plans,
    rankings,
    refit,
    results,
    schema,
    sources,
    tables,
    tournaments,
)
from service.accounts import Account
from service.audit import Audit
from service.jobs import InlineQueue
from service.settings import Settings
from service.sheet import Spent
from service.standings import Result
from service.work import Arena

COUNTERS = [f"{share:.2f}" for share in (0.45, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0, 1.1)]
CAUTIOUS = [str(rank) for rank in (5, 7, 8, 9, 10, 11, 12, 13, 14, 15)]
RANDOM = ["random a", "random b", "random c"]


def variants() -> dict[str, str]:
    """24 bots by name: counters of different boldness, more or less cautious ones, three random ones."""
    found = {
        f"counter {each}": source("counter").replace("0.75 * strength", f"{each} * strength")
        for each in COUNTERS
    }
    found |= {f"cautious {each}": source("cautious").replace(">= 13", f">= {each}") for each in CAUTIOUS}
    found |= {name: f"{source('random')}\n# {name}\n" for name in RANDOM}
    assert len(set(found.values())) == 24
    return found


def open_arena(folder: str) -> tuple[Arena, Account]:
    """A service's database, and an account with the variants as bots that passed their check."""
    roomy = {"RAGE_MAX_BOTS": "30", "RAGE_UPLOADS_PER_HOUR": "60"}
    settings = Settings.from_environment({"RAGE_DATA_DIR": folder, **roomy})
    schema.migrate(settings)
    arena = Arena.open(settings, InlineQueue())
    who = accounts.register(arena, name="report")[0]
    for name, code in variants().items():
        bots.submit(arena, who, name=name, filename="bot.py", content=code.encode())
    with arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    return arena, who


def play_all(arena: Arena, total: int, title: str) -> float:
    """Play whatever is planned; seconds it took."""
    modules: dict[str, ModuleType] = {}
    began, done = time.perf_counter(), 0
    held = singly.claim(arena, "report-0")
    with shown.bar(title) as bar:
        while held is not None:
            players = [LocalPlayer.of(_bot(arena, version, modules)) for version in held.versions]
            rules = RuleSet.parse(held.rules, len(players))
            began_match = time.process_time()
            outcome = play(rules, players, seed=held.seed, bot_seeds=held.bot_seeds)
            cpu = int(1000 * (time.process_time() - began_match) / len(players))
            spent = [Spent(cpu, cpu, 0)] * len(players)
            worker = f"report-{done % 2}"
            _, held = singly.finish_and_claim(arena, held, outcome, spent, mode="-", worker=worker, more=True)
            done += 1
            bar.at(done, total)
    return time.perf_counter() - began


def _bot(arena: Arena, version: str, modules: dict[str, ModuleType]) -> ModuleType:
    if version not in modules:
        modules[version] = ModuleType("bot")
        exec(sources.stored(arena, version).content, modules[version].__dict__)  # noqa: S102 - our own house bots
    return modules[version]


def report(arena: Arena, who: Account, players: int, deals: int) -> None:
    """One tournament at tables of `players`, from its plan to its numbers."""
    names = list(variants())
    ids = {bot.name: bot.id for bot in bots.bots(arena, owner="report", limit=100).items}
    told = {"name": f"Report {players}", "entrants": [ids[name] for name in names], "players": players}
    told |= {"deals": deals, "seed": "report"}
    plan = plans.plan(arena, who, told)
    made = tournaments.create(arena, who, told)
    seconds = play_all(arena, plan.matches, f"tables of {players}")
    each = 1000 * seconds / plan.matches
    print(f"\n== 24 entrants, tables of {players}, {deals} deals a table, duplicate ==")
    print(f"{plan.matches} matches on {plan.groups} deals in {seconds:.0f} s ({each:.0f} ms each)")
    assert plan.balance is not None and plan.precision is not None
    balance, sure = plan.balance, plan.precision.rating
    print(f"planned: games {_span(balance.games)}, in a seat {_span(balance.seats)}, "
          f"pairs together {_span(balance.pairs)}; ratings to ±{sure:.0f} Elo")  # fmt: skip
    played = _results(arena, made.id)
    spread(played)
    table(arena, made.id)
    ratings(arena, made.id, players, plan.precision.rating)
    print(f"audit: {audited(arena, made.id)}")
    for check in inquiry.fairness_of(arena, made.id).checks:
        p = "-" if check.adjusted is None else f"{check.adjusted:.3f}"
        print(f"fairness: {check.name:<14} p {p}  {check.text}")
    variances(played, players)


def spread(played: list[Result]) -> None:
    """How often pairs met and entrants sat in each seat, counted from what was played."""
    pairs = Counter(pair for each in played for pair in combinations(sorted(each.entrants), 2))
    sat = Counter(place for each in played for place in enumerate(each.entrants))
    print(f"played: pairs together {min(pairs.values())} to {max(pairs.values())}, "
          f"in a seat {min(sat.values())} to {max(sat.values())}")  # fmt: skip


def table(arena: Arena, tournament_id: str) -> None:
    """Standings with luck and skill."""
    heads = f"{'points':>7} {'a match':>8} {'dealt':>7} {'earned':>7} {'swing':>6} {'won':>5} {'bids':>5}"
    print(f"{'place':>5} {'bot':<15} {heads}")
    for row in folds.standings_of(arena, tournament_id):
        print(f"{row.place:>5} {row.name:<15} {row.points:>7} {row.average:>8.2f} {row.dealt:>7.2f} "
              f"{row.earned:>+7.2f} {row.swing:>6.2f} {row.wins:>5} {row.bid_accuracy:>5.0%}")  # fmt: skip


def ratings(arena: Arena, tournament_id: str, players: int, forecast: float) -> None:
    """The half-widths that came out, beside the one that was forecast."""
    refit.settle(arena, tournament_id)
    items = rankings.rankings(arena, players=players).items
    halves = [(each.high - each.low) / 2 for each in items]
    first, last = items[0], items[-1]
    print(f"ratings: {first.bot} {first.rating:.0f} to {last.bot} {last.rating:.0f}, half-widths "
          f"{min(halves):.0f} to {max(halves):.0f} Elo; forecast for equals {forecast:.0f}")  # fmt: skip


def audited(arena: Arena, tournament_id: str) -> str:
    """What the audit says of all records, seats and standings."""
    told = asdict(tournaments.tournament(arena, tournament_id))
    audit = Audit(told)
    wrong = audit.begin()
    cursor: str | None = None
    while wrong is None:
        page = matches.matches(arena, tournament_id, limit=200, cursor=cursor)
        for each in page.items:
            wrong = wrong or audit.match(asdict(each), matches.record(arena, each.id))
        if (cursor := page.next) is None:
            break
    wrong = wrong or audit.end([asdict(row) for row in folds.standings_of(arena, tournament_id)])
    return wrong or f"{audit.matches} matches on {audit.groups} deals and the standings verified"


def variances(played: list[Result], players: int) -> None:
    """A pair's difference a game with independent deals and in duplicate groups, pooled over all pairs.

    Of each deal one match alone is a game on an independent deal; a group's mean, times its games, is a game
    of a duplicate deal.
    """
    by_table: defaultdict[tuple[int, ...], dict[int, list[Result]]] = defaultdict(dict)
    for each in played:
        by_table[tuple(sorted(each.entrants))].setdefault(each.group, []).append(each)
    for name, value in (("points", _lead), ("result", _won)):
        single, grouped = [], []
        for entrants, groups in by_table.items():
            for pair in combinations(entrants, 2):
                games = [[value(match, *pair) for match in group] for group in groups.values()]
                single += [statistics.variance(column) for column in zip(*games, strict=True)]
                grouped.append(players * statistics.variance([statistics.mean(each) for each in games]))
        apart, together = statistics.mean(single), statistics.mean(grouped)
        print(f"variance of a pair's {name} a game: independent {apart:.3f}, duplicate {together:.3f}, "
              f"ratio {apart / together:.2f}")  # fmt: skip


def _lead(match: Result, a: int, b: int) -> float:
    points = dict(zip(match.entrants, match.counted, strict=True))
    return points[a] - points[b]


def _won(match: Result, a: int, b: int) -> float:
    place = dict(zip(match.entrants, match.places, strict=True))
    return (place[a] < place[b]) + (place[a] == place[b]) / 2


def _results(arena: Arena, tournament_id: str) -> list[Result]:
    with arena.read() as db:
        return [each.result for each in results.of_tournament(db, tournament_id)]


def _span(span: Any) -> str:
    return f"{span.least} to {span.most}"


def main(deals: int) -> None:
    """Tables of four, then of two."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        arena, who = open_arena(folder)
        for players, of_it in ((4, deals), (2, max(2, deals // 3))):
            report(arena, who, players, of_it)
        arena.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
