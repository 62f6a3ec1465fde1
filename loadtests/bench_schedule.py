"""What planning costs: the search for a schedule, a stage of each format, the start of a large tournament.

    python -m loadtests.bench_schedule

CPU seconds of this process; a start's longest write transaction is told as well, in wall time.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from sqlalchemy import insert

from service import accounts, design, schema, tables, tournaments
from service.formats import FORMATS, Field
from service.formats import base as formats
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
    print("start of 100,800 matches        CPU s  longest write transaction, s")
    for name, portion in (("in portions", formats.PORTION), ("all at once", 1 << 30)):
        formats.PORTION = portion
        seconds, longest = _start()
        print(f"{name:31} {seconds:5.2f}  {longest:.2f}")


def _timed(act: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    found = act()
    return found, time.process_time() - begun


def _start(entrants: int = 100) -> tuple[float, float]:
    """CPU seconds to make and begin a tournament, and how long its longest transaction held the database."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.from_environment({"RAGE_DATA_DIR": folder})
        schema.migrate(settings)
        arena = Watched.open(settings, InlineQueue())
        owner, _ = accounts.register(arena, name="bench")
        with arena.work() as work:
            for number in range(entrants):
                _bot(work, owner.id, f"bot_{number}")
        HELD.clear()
        told = {"name": "large", "entrants": [f"bot_{n}" for n in range(entrants)], "deals": 28}
        made, seconds = _timed(partial(tournaments.create, arena, owner, told))
        arena.close()
    assert made.progress.total == 100_800
    return seconds, max(HELD)


HELD: list[float] = []


class Watched(Arena):
    """An arena that notes how long each write took."""

    @contextmanager
    def work(self) -> Iterator[Work]:
        with super().work() as work:
            begun = time.perf_counter()
            yield work
            HELD.append(time.perf_counter() - begun)


def _bot(work: Work, owner_id: str, bot_id: str) -> None:
    row = {"id": bot_id, "owner_id": owner_id, "name": bot_id, "name_key": bot_id, "created_at": work.now}
    work.db.execute(insert(tables.bot).values(**row, description="", public_source=False, house=False))
    code = {"kind": "file", "filename": "bot.py", "sha256": "", "size": 0, "code": b"", "status": "ready"}
    version = {"id": f"{bot_id}:1", "bot_id": bot_id, "number": 1, "created_at": work.now}
    work.db.execute(insert(tables.version).values(**version, **code))


if __name__ == "__main__":
    main()
