"""What claims, results, renewals, fits and reads cost, measured in a minute, for `loadtests.capacity`."""

import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import text
from werkzeug.test import Client

from api.app import create_app
from engine import bots as house
from engine.record import Record
from engine.rules import PRESETS
from engine.table import Outcome
from loadtests import bench_scale, claimers, ledger
from service import leases, presence, reap, upload
from service.leases import Assignment
from service.limits import Limits
from service.sheet import Sheet, Spent
from service.work import Arena
from workers.match import play_match
from workers.sandbox import BotCode, Sandbox, SandboxError, SandboxUnavailable

LEASED = 1_000  # matches held while the growth of a claim is measured
TIMES = 30
TABLE = ("counter", "cautious", "random", "counter")  # the house bots of the match that is measured
STORED = "'match', 'seat', 'fault', 'counted'"


@dataclass(frozen=True, slots=True)
class Measured:
    """Costs in CPU milliseconds, sizes in bytes; `origin` says where and when they were measured."""

    origin: str
    mode: str  # of the sandbox
    match: float  # of the worker's machine, four house bots, sandbox included
    finish_worker: float  # a result and the next claim
    finish_database: float
    finish_lease: float  # what each lease adds to that, on the database's side
    finish_lease_worker: float
    renew_database: float
    present_database: float
    pass_database: float  # the watch's, without leases
    pass_lease: float  # what each adds
    rankings_warm: float  # of the API, 500 bots
    rankings_cold: float
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
    with claimers.database(4_000) as arena:
        game = ledger.play(ledger.dice(1))
        told = (game.scores, game.counted, game.places, game.exact)
        turn = _Turn(arena, Outcome(Record.unpack(game.record), *told, faults=(), out=()))
        alone, renewed = turn.cost(turn.go), turn.cost(lambda: leases.renew(arena, turn.held))
        here = turn.cost(lambda: presence.here(arena, "host-0-0-1", "A", {}))
        quiet = turn.cost(lambda: reap.reap(arena, lambda _: None), 5)
        others = [leases.claim(arena, f"host{n}-0-0-1") for n in range(LEASED)]
        assert all(others)
        crowded, watching = turn.cost(turn.go), turn.cost(lambda: reap.reap(arena, lambda _: None), 5)
        warm, cold = _rankings(arena)
        stored = _bytes(arena)
    return Measured(
        origin=now,
        mode=mode,
        match=played,
        finish_worker=alone[0],
        finish_database=alone[1],
        finish_lease=max(crowded[1] - alone[1], 0.0) / LEASED,
        finish_lease_worker=max(crowded[0] - alone[0], 0.0) / LEASED,
        renew_database=renewed[1],
        present_database=here[1],
        pass_database=sum(quiet),
        pass_lease=max(sum(watching) - sum(quiet), 0.0) / LEASED,
        rankings_warm=warm,
        rankings_cold=cold,
        match_bytes=stored,
    )


class _Turn:
    """A worker that plays in no time."""

    def __init__(self, arena: Arena, outcome: Outcome) -> None:
        self._arena, self._outcome = arena, outcome
        self.held: Assignment = self._claim()

    def _claim(self) -> Assignment:
        held = leases.claim(self._arena, "host-0-0-1")
        assert held is not None, "too few matches wait"
        return held

    def go(self) -> None:
        """Give in a result and claim the next match."""
        spent = [Spent(20, 60, 9000, 0, 40) for _ in self.held.entrants]
        sheet = Sheet.of(self.held, self._outcome, spent, mode="A")
        _, following = leases.give_in(self._arena, sheet, worker="host-0-0-1", more=True)
        self.held = following or self._claim()

    def cost(self, act: Callable[[], object], times: int = TIMES) -> tuple[float, float]:
        """CPU milliseconds of this process and of the database's: the mean."""
        for _ in range(3):
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
