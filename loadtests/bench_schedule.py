"""What planning costs: the search for a schedule, a stage of each format, the start of a large tournament.

    python -m loadtests.bench_schedule

CPU seconds of this process. Last of the largest of each kind how long one transaction held the database.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from sqlalchemy import insert, select, update

from service import accounts, comparisons, design, schema, stages, tables, tournaments
from service.accounts import Account
from service.formats import FORMATS, Field
from service.jobs import InlineQueue
from service.settings import Settings
from service.work import Arena, Work

FIELDS = ((24, 4), (100, 4), (100, 11), (500, 4), (1000, 4), (1000, 11))


def main() -> None:
    """Print three tables."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    print("search          entrants seats  tables  spread  CPU s")
    for entrants, seats in FIELDS:
        found, seconds = _timed(partial(design.search, entrants, seats, 1))
        spread = design.spread(found, entrants)
        print(f"{entrants:24} {seats:5} {len(found) * entrants:7} {spread:7} {seconds:6.2f}")
    print("first stage     entrants seats  tables          CPU s")
    for name, form in FORMATS.items():
        field = Field(size=4, least=2, entrants=tuple(range(1000)), seed=b"bench", challenger=0)
        field = replace(field, prepared=form.prepare(field))
        stage, seconds = _timed(partial(form.stage, field, 1, []))
        print(f"{name:15} {1000:8} {4:5} {len(stage.tables):7} {seconds:14.2f}")
    print("longest write transaction   matches  CPU s of the start  of the rest  of an end half-way")
    for name, told in LARGEST.items():
        total, *longest = _longest(told)
        print(f"{name:27} {total:7}  {longest[0]:18.3f}  {longest[1]:11.3f}  {longest[2]:18.3f}", flush=True)


def _timed(act: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    found = act()
    return found, time.process_time() - begun


def _longest(told: dict[str, Any]) -> tuple[int, float, float, float]:
    """Matches of the largest there may be on SQLite, and how long one transaction held it at the most.

    That is what all others wait for. Its start; the reaper's further passes; and its end once most is played.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.from_environment({"RAGE_DATA_DIR": folder})
        schema.migrate(settings)
        arena = Watched.open(settings, InlineQueue())
        owner, _ = accounts.register(arena, name="bench")
        with arena.work() as work:
            for number in range(told["bots"]):
                _bot(work, owner.id, f"bot_{number}")
            _bot(work, owner.id, "house", house=True)
        bots = [f"bot_{n}" for n in range(told["bots"])]
        begun = _held(partial(_begin, arena, owner, bots, told["asked"]))
        made, total = _only(arena)
        with arena.database.begin() as db:
            db.execute(update(tables.match).where(tables.match.c.number < total // 2).values(PLAYED))
        rest = _held(partial(_write_all, arena, made))
        ended = _held(partial(_end, arena, owner, made))
        arena.close()
    return total, begun, rest, ended


def _begin(arena: Arena, owner: Account, bots: list[str], asked: dict[str, Any]) -> None:
    if "cap" in asked:
        comparisons.create(arena, owner, {"a": bots[0], "b": bots[1], "field": bots[2:], **asked})
    else:
        tournaments.create(arena, owner, {"name": "large", "entrants": bots, **asked})


def _only(arena: Arena) -> tuple[str, int]:
    with arena.read() as db:
        row = db.execute(select(tables.tournament)).one()
    return row.id, row.total


def _write_all(arena: Arena, tournament_id: str) -> None:
    """As if it were played as fast as it is written, up to half of it."""
    while stages.advance(arena, tournament_id):
        with arena.database.begin() as db:
            row = db.execute(select(tables.tournament)).one()
            if 2 * row.written > row.total:
                break
            db.execute(update(tables.match).where(tables.match.c.status == "planned").values(PLAYED))


def _end(arena: Arena, owner: Account, tournament_id: str) -> None:
    cancel = comparisons.cancel if tournament_id.startswith("c_") else tournaments.cancel
    cancel(arena, owner, tournament_id)


def _held(act: Callable[[], object]) -> float:
    HELD.clear()
    act()
    return max(HELD, default=0.0)


HELD: list[float] = []
PLAYED = {"status": "done", "decisions": 50}
MANY = {"players": 11, "rules": {"preset": "challenge", "hand_sizes": [1]}}
LARGEST: dict[str, dict[str, Any]] = {  # by the limits of the API, and of the settings as they are
    "comparison": {"bots": 32, "asked": {**MANY, "cap": 20_000}},
    "round robin": {"bots": 1_000, "asked": {"players": 4}},
    "round robin of eleven": {"bots": 1_000, "asked": {**MANY, "deals": 2}},
    "round robin at one table": {"bots": 2, "asked": {**MANY, "deals": 400, "meetings": 45}},
    "gauntlet": {"bots": 1_000, "asked": {"format": "gauntlet", "challenger": "bot_0", "deals": 300}},
    "swiss": {"bots": 100, "asked": {"format": "swiss", "deals": 4_000, "stages": 1}},
    "knockout": {"bots": 16, "asked": {"format": "knockout", "deals": 10_000}},
    "ladder": {"bots": 40, "asked": {"format": "ladder", "deals": 10_000}},
}


class Watched(Arena):
    """An arena that notes what each write cost while nobody else could: SQLite works in this thread."""

    @contextmanager
    def work(self) -> Iterator[Work]:
        with super().work() as work:
            begun = time.thread_time()
            yield work
        HELD.append(time.thread_time() - begun)


def _bot(work: Work, owner_id: str, bot_id: str, *, house: bool = False) -> None:
    row = {"id": bot_id, "owner_id": owner_id, "name": bot_id, "name_key": bot_id, "created_at": work.now}
    work.db.execute(insert(tables.bot).values(**row, description="", public_source=False, house=house))
    code = {"kind": "file", "filename": "bot.py", "sha256": "", "size": 0, "code": b"", "status": "ready"}
    version = {"id": f"{bot_id}:1", "bot_id": bot_id, "number": 1, "created_at": work.now}
    work.db.execute(insert(tables.version).values(**version, **code))


if __name__ == "__main__":
    main()
