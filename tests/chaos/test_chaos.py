"""One tournament during which everything that can go wrong does, again and again, by a script with a seed.

Short in every run; long, on both databases, by hand: `python -m pytest -m chaos --chaos long -s`.
"""

import importlib.util
import json
import os
import random
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

from engine.rules import RuleSet
from engine.table import LocalPlayer, play
from loadtests import singly
from service import (
    accounts,
    archive,
    bots,
    folds,
    refit,
    schema,
    sources,
    stages,
    tables,
    tournaments,
)
from service.jobs import InlineQueue
from service.settings import Settings
from service.sheet import Spent
from service.supervisor import Supervisor
from service.work import Arena

spec = importlib.util.spec_from_file_location("world", Path(__file__).with_name("world.py"))
assert spec and spec.loader
world_of = importlib.util.module_from_spec(spec)
sys.modules["world"] = world_of
spec.loader.exec_module(world_of)
World = Any

pytestmark = [pytest.mark.chaos, pytest.mark.story, pytest.mark.sandbox]
SEED = int(os.environ.get("CHAOS_SEED", "20261130"))
SPENT = ("cpu_ms", "wall_ms", "waited_ms", "memory_kb")  # what a machine took for it
RULES = {"preset": "fundex", "hand_sizes": [2, 1]}
BOTS = {
    "zero": "def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n",
    "high": "def bid(view):\n    return max(view['legal'])\n\n\n"
    "def play(view):\n    return view['legal'][-1]\n",
    "dice": "import random\n\n\n"
    "def start(info):\n    global dice\n    dice = random.Random(info['seed'])\n\n\n"
    "def bid(view):\n    return dice.choice(view['legal'])\n\n\n"
    "def play(view):\n    return dice.choice(view['legal'])\n",
    "sums": "def bid(view):\n    return len(view['hand']) // 2\n\n\n"
    "def play(view):\n    return view['legal'][sum(map(ord, ''.join(view['hand']))) % len(view['legal'])]\n",
}


def settings_of(data: Path, url: str | None, **more: str) -> Settings:
    environment = {
        "RAGE_DATA_DIR": str(data),
        "RAGE_PORT": "0",
        "RAGE_WORKERS": "2",
        "RAGE_LEASE_SECONDS": str(world_of.LEASE),
        "RAGE_REAP_SECONDS": "1",
        "RAGE_STOP_SECONDS": "3",
        **({"RAGE_DATABASE_URL": url} if url else {}),
    }
    return Settings.from_environment(environment | more)


Opener = Callable[[], AbstractContextManager[Any]]


@contextmanager
def opened(settings: Settings) -> Iterator[Arena]:
    arena = Arena.open(settings, InlineQueue())
    try:
        yield arena
    finally:
        arena.close()


def planned(arena: Arena, deals: int) -> str:
    """A tournament of 12 * `deals` matches, not begun."""
    keeper, _ = accounts.register(arena, name="organiser")
    ids = [
        bots.submit(arena, keeper, name=name, filename="bot.py", content=code.encode()).id
        for name, code in BOTS.items()
    ]
    with arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    told = {"name": "Storm", "entrants": ids, "players": 2, "deals": deals, "rules": RULES}
    return tournaments.create(arena, keeper, {**told, "seed": str(SEED), "start_at": "manual"}).id


def undisturbed(settings: Settings, backup: Path, tournament_id: str) -> dict[str, Any]:
    """The same tournament, with the same secret, played by the same bots in this one process, in peace."""
    settings.data_dir.mkdir(parents=True)
    schema.migrate(settings)
    with opened(settings) as arena:
        archive.restore(arena, backup)
        assert stages.begin(arena, tournament_id)
        held = singly.claim(arena, "peace")
        while held is not None:
            seats = [LocalPlayer.of(author(arena, each)) for each in held.versions]
            rules = RuleSet.parse(held.rules, len(seats))
            outcome = play(rules, seats, seed=held.seed, limits=held.limits, bot_seeds=held.bot_seeds)
            spent = [Spent(1, 1, 1, 1)] * len(seats)
            _, held = singly.finish_and_claim(
                arena, held, outcome, spent, mode="A", worker="peace", more=True
            )
        refit.settle(arena, tournament_id)
        return results(arena, tournament_id)


def author(arena: Arena, version_id: str) -> Any:
    """A bot's functions, made anew for every match."""
    module = type(sys)("bot")
    exec(sources.stored(arena, version_id).content, module.__dict__)  # one of the four above
    return module


def results(arena: Arena, tournament_id: str) -> dict[str, Any]:
    """All that may not differ: records and seats of every match, standings, crosstable, ratings."""
    of_it = tables.match.c.tournament_id == tournament_id
    seats = [column for column in tables.seat.c if column.name not in SPENT]
    with arena.read() as db:
        columns = (tables.match.c[name] for name in ("number", "status", "record", "faults"))
        query = select(*columns)
        matches = [tuple(row) for row in db.execute(query.where(of_it).order_by(tables.match.c.number))]
        listed = select(*seats).where(tables.seat.c.tournament_id == tournament_id)
        sat = [tuple(row) for row in db.execute(listed.order_by(tables.seat.c.number, tables.seat.c.seat))]
        newest = select(tables.snapshot.c.body).order_by(tables.snapshot.c.id.desc()).limit(1)
        ratings = db.scalar(newest)
    return {
        "matches": matches,
        "seats": sat,
        "standings": [repr(row) for row in folds.standings_of(arena, tournament_id)],
        "crosstable": [repr(row) for row in folds.crosstable_of(arena, tournament_id)],
        "ratings": json.dumps(ratings),
    }


def torment(world: World, total: int, events: int) -> None:
    """Events spread over the tournament: the next when so many more matches are played, or time is up."""
    kinds = [kind for kind in world_of.EVENTS if kind != "disk full" or world.ballast is not None]
    script = [kinds[number % len(kinds)] for number in range(events)]
    world.dice.shuffle(script)
    for number, kind in enumerate(script):
        wait_for(world, int(total * number / (events + 1)), seconds=8.0)
        said = None
        while said is None:
            said = world_of.EVENTS[kind](world)
            time.sleep(0.0 if said else 0.2)
        world.done[kind] += 1
        world.say(f"{world.played():5} of {total}  {kind}: {said}")


def wait_for(world: World, played: int, *, seconds: float) -> None:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit and world.played() < played:
        world.look()
        time.sleep(0.05)
    world.look()


def until_over(world: World, tournament_id: str) -> None:
    limit = time.monotonic() + 240
    while tournaments.tournament(world.arena, tournament_id).status != "finished":
        assert time.monotonic() < limit, "it does not come to an end"
        world.look()
        time.sleep(0.2)


def until_settled(world: World, tournament_id: str, matches: int) -> None:
    """The last ratings are fitted by a job of their own, or by the next reaper."""
    limit = time.monotonic() + 30
    query = select(func.max(tables.snapshot.c.matches))
    while time.monotonic() < limit:
        with world.arena.read() as db:
            if db.scalar(query) == matches:
                return
        time.sleep(0.2)
    raise AssertionError("the ratings are not fitted")


def report(world: World, identical: bool, seconds: float) -> None:
    attempts = world.count(tables.match.c.attempts)
    told = world.incidents()
    states = world.count(tables.match.c.status)
    seats = world.count(tables.seat.c.number)
    print(f"\n{sum(world.done.values())} events in {seconds:.0f} s, seed {SEED}")
    for kind, number in sorted(world.done.items()):
        print(f"  {kind:<20} {number}")
    for kind, found in sorted(world.replays.items()):
        middle, worst = statistics.median(found), max(found)
        print(f"  {kind} to replayed: {len(found)} times, median {middle:.1f} s, longest {worst:.1f} s")
    print(f"  matches {sum(states.values())}, done {states.get('done', 0)}")
    print(f"  attempts {sum(n * times for n, times in attempts.items())}: {dict(sorted(attempts.items()))}")
    print(f"  incidents {told}")
    lost = sum(states.values()) - states.get("done", 0)
    doubled = sum(n != 2 for n in seats.values())
    print(f"  lost {lost}, doubled {doubled}, identical {'yes' if identical else 'NO'}", flush=True)


def left_behind(settings: Settings) -> list[str]:
    """Processes that name our directory, folders, control groups, sheets."""
    mine = str(settings.data_dir)
    found = [str(path) for path in (settings.data_dir / "spool").glob("*")]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if int(pid) != os.getpid() and f"RAGE_DATA_DIR={mine}\0" in words:
            found.append(f"process {pid}: {Path(f'/proc/{pid}/cmdline').read_bytes()!r}")
    return found


def storm(tmp_path: Path, kind: str, open_postgres: Opener, *, deals: int, events: int) -> None:
    total = 12 * deals
    with ExitStack() as stack:
        data = tmp_path / "data"
        ballast = stack.enter_context(world_of.small_disk(data))
        url = None
        if kind == "postgres":
            database = world_of.Postgres(stack.enter_context(open_postgres()))
            url = database.url
        else:
            database = world_of.Sqlite(data / "rage.sqlite3")
        settings = settings_of(data, url)
        schema.migrate(settings)
        arena = stack.enter_context(opened(settings))
        tournament_id = planned(arena, deals)
        archive.backup(arena, tmp_path / "backup")
        peace = undisturbed(settings_of(tmp_path / "peace", None), tmp_path / "backup", tournament_id)
        began = time.monotonic()
        with Supervisor(settings, house=False) as supervisor:
            world = world_of.World(
                settings, database, supervisor, arena, random.Random(SEED), ballast=ballast
            )
            assert stages.begin(arena, tournament_id)
            torment(world, total, events)
            world.settle()
            until_over(world, tournament_id)
            until_settled(world, tournament_id, total)
            seconds = time.monotonic() - began
        found = results(arena, tournament_id)
        identical = found == peace
        report(world, identical, seconds)
        assert sum(world.done.values()) == events
        states = world.count(tables.match.c.status)
        assert states == {"done": total}
        assert world.count(tables.match.c.lease_token) == {None: total}
        for part, wanted in peace.items():
            assert found[part] == wanted, part
        assert left_behind(settings) == []
        shutil.rmtree(tmp_path / "peace")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_storm_changes_nothing(
    tmp_path: Path, kind: str, pytestconfig: pytest.Config, open_postgres: Opener
) -> None:
    if pytestconfig.getoption("chaos") == "long":
        storm(tmp_path, kind, open_postgres, deals=70, events=205)
    elif kind == "sqlite":
        storm(tmp_path, kind, open_postgres, deals=34, events=25)
    else:
        pytest.skip("only in the long form: --chaos long")
