"""A tournament's matches once more without a service, for `bench_service`: same bots, cards and sandbox.

    python -m loadtests.plain DATA_DIR TOURNAMENT loop|pool|workshop|engine [--processes N]

`loop` plays one after the other in this process, `pool` hands them to so many. `workshop` does what a worker
does, leases and results included, in a database of its own and without Celery. `engine` is the table alone,
with players that take in their news and answer at once. One line of JSON on standard output.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, update

from engine.rules import RuleSet
from engine.table import play
from loadtests.engine_loops import Watcher
from loadtests.fresh import cpu
from service import accounts, bots, schedule, schema, tables, tournaments
from service.jobs import InlineQueue
from service.limits import Limits
from service.settings import Settings
from service.work import Arena
from workers import cores, playing
from workers.match import play_match
from workers.sandbox import BotCode, Sandbox
from workers.workshop import Workshop, fetch

WARMING = 4  # matches before the clock starts: every seat's parent is warm, as a worker's are
Digest = dict[int, tuple[int, ...]]  # scores by match


@dataclass(frozen=True, slots=True)
class Dealt:
    """One match as it was played."""

    number: int
    rules: RuleSet
    limits: Limits
    seed: bytes
    bot_seeds: tuple[int, ...]
    bots: tuple[BotCode, ...]


def dealt(arena: Arena, tournament_id: str) -> list[Dealt]:
    """The matches of a tournament in the order of their schedule."""
    match, entrant = tables.match, tables.entrant
    with arena.read() as db:
        of = db.execute(select(tables.tournament).where(tables.tournament.c.id == tournament_id)).one()
        found = db.execute(
            select(match).where(match.c.tournament_id == tournament_id).order_by(match.c.number)
        )
        rows = found.all()
        entered = db.execute(select(entrant).where(entrant.c.tournament_id == tournament_id)).all()
    code = {each.number: fetch(arena, each.version_id) for each in entered}
    return [
        Dealt(
            row.number,
            RuleSet.parse(of.rules, len(row.entrants)),
            Limits.parse(of.limits),
            schedule.group_seed(of.secret, row.deal_group),
            tuple(schedule.bot_seed(of.secret, row.number, seat) for seat in range(len(row.entrants))),
            tuple(code[number] for number in row.entrants),
        )
        for row in rows
    ]


def once(match: Dealt, sandbox: Sandbox) -> tuple[int, ...]:
    """Plays it; its scores."""
    played = play_match(
        match.rules,
        match.bots,
        seed=match.seed,
        bot_seeds=match.bot_seeds,
        limits=match.limits,
        sandbox=sandbox,
    )
    played.outcome.record.pack()
    return played.outcome.scores


def loop(matches: Sequence[Dealt]) -> Any:
    """One after the other."""
    keep_to_a_core(0)
    with probed() as sandbox:
        for match in matches[:WARMING]:
            once(match, sandbox)
        return timed(lambda: {each.number: once(each, sandbox) for each in matches})


_own: Sandbox  # of a process of the pool


def pool(matches: Sequence[Dealt], processes: int) -> Any:
    """Each to the next process that is free."""
    taken = multiprocessing.Value("i", 0)
    with multiprocessing.Pool(processes, _open, (taken, matches[:WARMING])) as crowd:
        crowd.map(_warm, range(4 * processes), chunksize=1)
        return timed(lambda: dict(crowd.imap_unordered(_once, matches, chunksize=1)))


def _open(taken: Any, warming: Sequence[Dealt]) -> None:
    global _own
    with taken.get_lock():
        number, taken.value = taken.value, taken.value + 1
    keep_to_a_core(number)
    _own = Sandbox.probe()
    for match in warming:
        once(match, _own)


def _warm(_: int) -> None:
    time.sleep(0.05)  # long enough that each process takes some


def _once(match: Dealt) -> tuple[int, tuple[int, ...]]:
    return match.number, once(match, _own)


def engine(matches: Sequence[Dealt]) -> Any:
    """The table alone."""
    keep_to_a_core(0)
    decisions = 0

    def run() -> Digest:
        nonlocal decisions
        for each in matches:
            record = play(each.rules, [Watcher() for _ in each.bots], seed=each.seed).record
            decisions += len(record.moves)
            record.pack()
        return {}

    return {**timed(run), "decisions": decisions}


def workshop(arena: Arena, tournament_id: str) -> Any:
    """As a worker does it, job after job, with nobody to send them."""
    keep_to_a_core(0)
    with tempfile.TemporaryDirectory(prefix="rage-load-") as folder:
        settings = replace(
            arena.settings, data_dir=Path(folder), database_url=f"sqlite:///{folder}/rage.sqlite3"
        )
        schema.migrate(settings)
        shop = Workshop(settings, 0)
        shop.arena = replace(shop.arena, queue=InlineQueue())
        try:
            again(arena, tournament_id, shop.arena)
            shop.sandbox()
            for match in dealt(shop.arena, _only(shop.arena))[:WARMING]:
                once(match, shop.sandbox())

            def run() -> Digest:
                while not over(shop.arena):
                    playing.play_for_a_while(shop)
                return scores(shop.arena, _only(shop.arena))

            return timed(run)
        finally:
            shop.close()


def again(arena: Arena, tournament_id: str, there: Arena) -> None:
    """The same tournament, started, in another database."""
    with arena.read() as db:
        of = db.execute(select(tables.tournament).where(tables.tournament.c.id == tournament_id)).one()
        entered = db.execute(
            select(tables.entrant).where(tables.entrant.c.tournament_id == tournament_id).order_by("number")
        ).all()
    owner, _ = accounts.register(there, name="bench")
    code = [fetch(arena, each.version_id) for each in entered]
    ids = [
        bots.submit(there, owner, name=f"bot {n}", filename=each.name, content=each.content).id
        for n, each in enumerate(code)
    ]
    with there.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    told = {"name": of.name, "entrants": ids, "players": of.players, "deals": of.deals, "seed": of.seed}
    made = tournaments.create(there, owner, {**told, "rules": of.rules, "start_at": "manual"})
    with_secret(there, made.id, of.secret)
    tournaments.start(there, owner, made.id)


def with_secret(arena: Arena, tournament_id: str, secret: bytes) -> None:
    """Has all deals of a tournament follow from this secret, so that it can be played twice."""
    with arena.work() as work:
        this = tables.tournament.c.id == tournament_id
        work.db.execute(update(tables.tournament).where(this).values(secret=secret))


def scores(arena: Arena, tournament_id: str) -> Digest:
    """What came of each match."""
    seat = tables.seat
    query = select(seat).where(seat.c.tournament_id == tournament_id).order_by(seat.c.number, seat.c.seat)
    found: dict[int, list[int]] = {}
    with arena.read() as db:
        for row in db.execute(query):
            found.setdefault(row.number, []).append(row.score)
    return {number: tuple(each) for number, each in found.items()}


def over(arena: Arena) -> bool:
    """Whether nothing is left to be played."""
    with arena.read() as db:
        return not db.scalar(select(func.count()).where(tables.match.c.status != "done"))


def _only(arena: Arena) -> str:
    with arena.read() as db:
        return str(db.scalar(select(tables.tournament.c.id)))


def keep_to_a_core(number: int) -> None:
    """As a worker's process of that number does."""
    if core := cores.own(number):
        os.sched_setaffinity(0, core)


@contextmanager
def probed() -> Iterator[Sandbox]:
    """The sandbox of this machine."""
    sandbox = Sandbox.probe()
    try:
        yield sandbox
    finally:
        sandbox.close()


def timed(run: Callable[[], Digest]) -> dict[str, Any]:
    """Seconds of wall and of CPU, of this process and all it started; a digest of the results."""
    before, began = cpu(os.getpid()), time.perf_counter()
    found = run()
    wall = time.perf_counter() - began
    return {"wall": wall, "cpu": cpu(os.getpid()) - before, "digest": digest(found)}


def digest(found: Digest) -> str:
    """The same for the same scores."""
    return hashlib.sha256(json.dumps(sorted(found.items())).encode()).hexdigest()[:16]


def main(argv: Sequence[str]) -> None:
    """Play, and say how long it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data_dir")
    parser.add_argument("tournament")
    parser.add_argument("way", choices=("loop", "pool", "workshop", "engine"))
    parser.add_argument("--processes", type=int, default=1)
    told = parser.parse_args(argv)
    arena = Arena.open(Settings.from_environment({"RAGE_DATA_DIR": told.data_dir}), InlineQueue())
    if told.way == "workshop":
        found = workshop(arena, told.tournament)
    else:
        matches = dealt(arena, told.tournament)
        arena.close()
        ways = {"loop": loop, "engine": engine, "pool": lambda some: pool(some, told.processes)}
        found = ways[told.way](matches)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
