"""What claims, results, renewals, fits and reads cost, measured in a minute, for `loadtests.capacity`."""

import json
import platform
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sqlalchemy import text
from werkzeug.test import Client

from api.app import create_app
from engine import bots as house
from engine.record import Record
from engine.rules import PRESETS
from engine.table import Outcome
from loadtests import bench_scale, claimers, fresh, ledger, pooler, singly
from service import leases, matches, presence, reap, upload
from service.leases import Assignment
from service.limits import Limits
from service.sheet import Sheet, Spent
from service.work import Arena
from workers.match import play_match
from workers.sandbox import BotCode, Sandbox, SandboxError, SandboxUnavailable

SIZES = (1, 4, 16)  # of batches
WAITING = 8_000  # matches in each tournament
LEASED = 63 * SIZES[-1]  # matches held while the growth of a claim is measured
TIMES, WARMING = 30, 8  # prepared after five
TABLE = ("counter", "cautious", "random", "counter")  # the house bots of the match that is measured
STORED = "'match', 'seat', 'fault', 'counted'"


@dataclass(frozen=True, slots=True)
class Measured:
    """Costs in CPU milliseconds, sizes in bytes; `origin` says where and when they were measured."""

    origin: str
    mode: str  # of the sandbox
    match: float  # of the worker's machine, four house bots, sandbox included
    batch_worker: float  # giving in a batch of results and claiming the next, whatever is in it
    batch_database: float
    each_worker: float  # what each match in it adds
    each_database: float
    lease_worker: float  # what each match that anybody holds adds to a batch
    lease_database: float
    pooled: float  # times so much of the database behind PgBouncer, for nothing is prepared; 0: not measured
    pooler: float  # of PgBouncer itself, a batch
    renew_database: float
    present_database: float
    pass_database: float  # the watch's, without leases
    pass_lease: float  # what each adds
    rankings_warm: float  # of the API, 500 bots
    rankings_cold: float
    read_database: float  # a match's page
    match_bytes: float  # in the database, indexes included


def known(path: Path) -> Measured:
    """A file that `--write` left."""
    told = json.loads(path.read_text())
    missing = {each.name for each in fields(Measured)} ^ set(told)
    if missing:
        sys.exit(f"{path}: {', '.join(sorted(missing))} missing or unknown; write it with --write")
    return Measured(**told)


def measure() -> Measured:
    """On this machine, with a PostgreSQL of its own."""
    now = (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, Python {platform.python_version()}, PostgreSQL"
    )
    mode, played = _match()
    with claimers.database(WAITING) as arena:
        outcome = _outcome()
        turn = _Turn(arena, outcome)
        worker, database = zip(*(turn.cost(lambda size=size: turn.go(size)) for size in SIZES), strict=True)
        times, pooler_ms = _pooled(arena, outcome, sum(database))
        renewed = turn.cost(lambda: singly.renew(arena, turn.held[0]))
        here = turn.cost(lambda: presence.here(arena, "host-0-0-1", "A", {}))
        quiet = turn.cost(lambda: reap.reap(arena, lambda _: None), 5)
        read = turn.cost(lambda: matches.match(arena, f"{turn.held[0].tournament_id}-0"))
        alone = turn.cost(lambda: turn.go(1))
        share = claimers.sharing(arena, SIZES[-1])
        held = [leases.claim_some(arena, f"host{n}-0-0-1", share) for n in range(LEASED // SIZES[-1])]
        assert sum(map(len, held)) == LEASED
        crowded, watching = (
            turn.cost(lambda: turn.go(1)),
            turn.cost(lambda: reap.reap(arena, lambda _: None), 5),
        )
        warm, cold = _rankings(arena)
        stored = _bytes(arena)
    (each_worker, batch_worker), (each_database, batch_database) = _line(worker), _line(database)
    return Measured(
        origin=now,
        mode=mode,
        match=played,
        batch_worker=batch_worker,
        batch_database=batch_database,
        each_worker=each_worker,
        each_database=each_database,
        lease_worker=max(crowded[0] - alone[0], 0.0) / LEASED,
        lease_database=max(crowded[1] - alone[1], 0.0) / LEASED,
        pooled=times,
        pooler=pooler_ms,
        renew_database=renewed[1],
        present_database=here[1],
        pass_database=sum(quiet),
        pass_lease=max(sum(watching) - sum(quiet), 0.0) / LEASED,
        rankings_warm=warm,
        rankings_cold=cold,
        read_database=read[1],
        match_bytes=stored,
    )


def _line(costs: Sequence[float]) -> tuple[float, float]:
    """What each match adds and what a batch costs without any: the line through those of `SIZES`."""
    each, batch = np.polyfit(SIZES, costs, 1)
    return max(float(each), 0.0), max(float(batch), 0.0)


def _outcome() -> Outcome:
    game = ledger.play(ledger.dice(1))
    told = (game.scores, game.counted, game.places, game.exact)
    return Outcome(Record.unpack(game.record), *told, faults=(), out=())


def _pooled(arena: Arena, outcome: Outcome, usual: float) -> tuple[float, float]:
    """How many times as much the same batches cost the database behind PgBouncer, and PgBouncer each."""
    if pooler.PROGRAM is None:
        return 0.0, 0.0
    url = arena.database.url.render_as_string(hide_password=False)
    with pooler.pooler(url, 4) as between, closing(ledger.joined(between.url, pooled=True)) as other:
        turn, before = _Turn(other, outcome), fresh.cpu(between.pid)
        found = sum(turn.cost(lambda size=size: turn.go(size))[1] for size in SIZES)
        each = 1000 * (fresh.cpu(between.pid) - before) / (len(SIZES) * (TIMES + WARMING))
        turn.leave()
    return found / usual, each


class _Turn:
    """A worker that plays in no time."""

    def __init__(self, arena: Arena, outcome: Outcome) -> None:
        self._arena, self._outcome = arena, outcome
        self._size, self._share = 1, claimers.sharing(arena, 1)
        self.held = self._claim(1)

    def _claim(self, size: int) -> list[Assignment]:
        held = leases.claim_some(self._arena, "host-0-0-1", claimers.sharing(self._arena, size))
        assert held, "too few matches wait"
        return held

    def go(self, size: int) -> None:
        """Give in what is held and claim so many matches."""
        if self._size != size:
            self._share, self._size = claimers.sharing(self._arena, size), size
        _, following = leases.give_in_all(self._arena, self._sheets(), worker="host-0-0-1", share=self._share)
        self.held = following or self._claim(size)

    def leave(self) -> None:
        """Give in what is held."""
        leases.give_in_all(self._arena, self._sheets(), worker="host-0-0-1")

    def _sheets(self) -> list[Sheet]:
        spent = [Spent(20, 60, 9000, 0, 40) for _ in self.held[0].entrants]
        return [Sheet.of(each, self._outcome, spent, mode="A", took_ms=60) for each in self.held]

    def cost(self, act: Callable[[], object], times: int = TIMES) -> tuple[float, float]:
        """CPU milliseconds of this process and of the database's: the mean."""
        for _ in range(WARMING):
            act()
        mine, all_ = time.process_time(), bench_scale.cpu(self._arena)
        for _ in range(times):
            act()
        mine, all_ = time.process_time() - mine, bench_scale.cpu(self._arena) - all_
        return 1000 * mine / times, 1000 * max(all_ - mine, 0.0) / times


def _match() -> tuple[str, float]:
    """The sandbox's mode, and CPU milliseconds of a match of house bots, all in all; the least of five."""
    try:
        sandbox = Sandbox.probe(python=None, interpreters={})
    except (SandboxUnavailable, SandboxError) as error:
        sys.exit(f"no sandbox here: {error}; take costs that were measured elsewhere (--measured)")
    codes = [_code(name) for name in TABLE]
    took = []
    for number in range(5):
        began = time.process_time()
        played = play_match(PRESETS["fundex"], codes, seed=bytes([number]) * 32, bot_seeds=(1, 2, 3, 4),
                            limits=Limits(), sandbox=sandbox)  # fmt: skip
        bots = sum(each.cpu_ms + each.start_cpu_ms for each in played.usage)
        took.append(1000 * (time.process_time() - began) + bots)
    sandbox.close()
    return sandbox.mode, min(took)


def _code(name: str) -> BotCode:
    content = house.source(name).encode()
    return BotCode(name=f"{name}.py", kind=upload.inspect(f"{name}.py", content, None), content=content)


def _rankings(arena: Arena) -> tuple[float, float]:
    """CPU milliseconds of `/rankings`: as it was asked before, and as it was not."""
    client = Client(create_app(arena=arena))
    warm = _each(lambda n: client.get("/api/v1/rankings?limit=20"))
    cold = _each(lambda n: client.get(f"/api/v1/rankings?limit={20 + n}"))
    return warm, cold


def _each(act: Callable[[int], object], times: int = TIMES) -> float:
    act(100)
    began = time.process_time()
    for n in range(times):
        act(n)
    return 1000 * (time.process_time() - began) / times


def _bytes(arena: Arena) -> float:
    size = f"SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname IN ({STORED})"  # noqa: S608
    with arena.read() as db:
        total, done = (
            db.scalar(text(size)),
            db.scalar(text("SELECT count(*) FROM match WHERE status = 'done'")),
        )
    return float(total or 0) / max(int(done or 0), 1)
