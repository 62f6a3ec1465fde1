"""A long past for a database: bots, and tournaments of several formats, written in minutes instead of played.

    python -m loadtests.ledger --database sqlite:////tmp/ledger.sqlite3 --bots 500 --matches 1000000

Some hundred matches are really played; every other is a copy of one of them under its own entrants, times and
seats, so each stored result is what its record gives, and counts and rankings are what comes of the results.
Only the deals do not follow from the tournaments' secrets. The last tournaments are still being played.
`loadtests.seed` plays every match, which takes a hundred times as long.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from rich.progress import Progress
from sqlalchemy import Connection, Table

from engine.match import Match
from engine.record import Record
from engine.scoring import counted
from loadtests.ledger_rows import (
    RULES,
    SEATS,
    Cup,
    Game,
    counted_row,
    entrant_row,
    fault_row,
    lines,
    match_row,
    seat_rows,
    stage_row,
    tournament_row,
)
from loadtests.seed import submit
from service import accounts, counts, house, names, progress, refit, schema, tables
from service.jobs import InlineQueue
from service.settings import Settings
from service.tables import EPOCH, MICROSECOND
from service.work import Arena

GAMES = 400  # really played
EACH = 2_000  # matches of a tournament
LIVE = 2  # tournaments still under way
AHEAD = 500  # matches of each of those that wait, unless told otherwise
FAULTY = 0.01  # of the matches
FORMATS = ("round_robin", "swiss", "round_robin", "gauntlet", "ladder")
ENTRANTS = 140  # of a tournament
STEP = 101  # bots between the first of one and the first of the next
Tell = Callable[[int], None]


def main(argv: Sequence[str]) -> None:
    """Write it, and show how far it is."""
    told = read(argv)
    arena = opened(told.database)
    try:
        show(arena, told.bots, told.matches, told.seed, told.waiting)
    finally:
        arena.close()


def show(arena: Arena, many: int, matches: int, seed: int = 1, waiting: int = AHEAD) -> None:
    """`fill` with a bar."""
    with Progress() as shown:
        task = shown.add_task(f"{matches:,} matches", total=matches)
        tell = partial(shown.update, task)
        fill(arena, many, matches, seed, waiting, lambda done: tell(completed=done))


def dice(seed: int) -> random.Random:
    """All dice but numpy's."""
    return random.Random(seed)


def read(argv: Sequence[str]) -> argparse.Namespace:
    """What is wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--database", required=True, help="as RAGE_DATABASE_URL; it must be empty")
    parser.add_argument("--bots", type=int, default=500)
    parser.add_argument("--matches", type=int, default=10_000)
    parser.add_argument("--waiting", type=int, default=AHEAD, help="in each tournament under way")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(argv)


def opened(url: str) -> Arena:
    """The database at the newest schema, without quotas; its data directory is a temporary one."""
    arena = joined(url)
    schema.migrate(arena.settings)
    return arena


def joined(url: str, *, pooled: bool = False) -> Arena:
    """The same, of a database that is at the newest schema already, `pooled` behind PgBouncer."""
    told = {"RAGE_DATABASE_URL": url, "RAGE_DATABASE_POOLED": str(pooled)}
    environment = {"RAGE_DATA_DIR": tempfile.gettempdir(), **told}
    settings = replace(
        Settings.from_environment(environment),
        uploads_per_hour=1_000_000,
        max_bots=1_000_000,
        queued_matches=100_000_000,
    )
    return Arena.open(settings, InlineQueue())


def fill(
    arena: Arena,
    many: int,
    matches: int,
    seed: int = 1,
    waiting: int = AHEAD,
    tell: Tell = lambda done: None,
) -> None:
    """So many bots and at least so many matches that are done; `tell` is told how many are."""
    thrown, throw = dice(seed), np.random.default_rng(seed)
    house.ensure(arena)
    versions = [f"{bot_id}:1" for bot_id in submit(arena, many)]
    owner, _ = accounts.register(arena, name=f"organiser {seed}")
    games, done = [play(thrown) for _ in range(GAMES)], 0
    for cup in cups(versions, matches, waiting, throw):
        with arena.work() as work:
            write(work.db, cup, owner.id, games, throw)
        done += cup.done
        tell(done)
    with arena.work() as work:
        counts.open_pool(work, RULES.key(), SEATS)
        progress.put_faults(work.db)
    analyse(arena)
    refit.refit(arena, RULES.key(), SEATS)


def analyse(arena: Arena) -> None:
    """What a server does by itself before long: statistics for the planner."""
    with arena.database.execution_options(isolation_level="AUTOCOMMIT").connect() as db:
        db.exec_driver_sql("VACUUM ANALYZE" if db.dialect.name == "postgresql" else "ANALYZE")


def play(thrown: random.Random) -> Game:
    """A match of random moves."""
    game = Match(RULES, SEATS, thrown.randbytes(32))
    moves = 0
    while not game.over:
        game.advance(thrown.choice(game.legal()))
        moves += 1
    scores = game.scores()
    played = (scores, counted(scores, ()), game.places(), tuple(game.exact))
    return Game(Record.of(game).pack(), *played, decisions=moves)


def cups(versions: Sequence[str], matches: int, waiting: int, throw: np.random.Generator) -> Iterator[Cup]:
    """The tournaments, the first begun a year ago; the last ones are under way."""
    many = max(LIVE + 1, -(-matches // EACH))
    first = (datetime.now(UTC) - timedelta(days=365) - EPOCH) // MICROSECOND
    step = timedelta(days=364) // MICROSECOND // many
    for number in range(many):
        live, form = number >= many - LIVE, FORMATS[number % len(FORMATS)]
        size = min(ENTRANTS, len(versions))
        chosen = [versions[(number * STEP + i) % len(versions)] for i in throw.permutation(size)]
        done = EACH // SEATS * SEATS
        groups = (done + (waiting if live else 0)) // SEATS
        order = gauntlet(size, groups, throw) if form == "gauntlet" else lots(size, groups, throw)
        began = first + number * step
        yield Cup(number, names.new_id("t"), form, tuple(chosen), order, done, began, live)


def lots(size: int, groups: int, throw: np.random.Generator) -> np.ndarray:
    """Tables drawn by lot, everybody once before anybody twice."""
    rounds = [throw.permutation(size)[: size // SEATS * SEATS] for _ in range(-(-groups // (size // SEATS)))]
    return np.concatenate(rounds).reshape(-1, SEATS)[:groups]


def gauntlet(size: int, groups: int, throw: np.random.Generator) -> np.ndarray:
    """The first at every table."""
    others = lots(size - 1, groups, throw)[:, : SEATS - 1] + 1
    return np.concatenate([np.zeros((groups, 1), dtype=others.dtype), others], axis=1)


def write(db: Connection, cup: Cup, owner: str, games: Sequence[Game], throw: np.random.Generator) -> None:
    """All rows of a tournament."""
    chosen = throw.integers(len(games), size=cup.matches)
    faulty = throw.random(cup.done) < FAULTY
    pour(db, tables.tournament, [tournament_row(cup, owner)])
    pour(db, tables.entrant, [entrant_row(cup, n) for n in range(len(cup.versions))])
    pour(db, tables.stage, [stage_row(cup)])
    pour(db, tables.match, (match_row(cup, n, games[chosen[n]], faulty) for n in range(cup.matches)))
    pour(
        db, tables.seat, (row for n in range(cup.done) for row in seat_rows(cup, n, games[chosen[n]], faulty))
    )
    pour(db, tables.fault, (fault_row(cup, int(n)) for n in np.flatnonzero(faulty)))
    pour(db, tables.counted, [counted_row(cup, line) for line in lines(cup, games, chosen)])
    decisions = sum(games[each].decisions for each in chosen[: cup.done])
    told = {"done": cup.done, "faults": int(faulty.sum()), "decisions": decisions, "ended": cup.done}
    progress.put(db, cup.id, progress.Done(**told))


def pour(db: Connection, table: Table, rows: "Iterator[dict[str, Any]] | list[dict[str, Any]]") -> None:
    """Rows as they stand in the database, the fast way of each kind; all with the same columns."""
    listed = iter(rows)
    first = next(listed, None)
    if first is None:
        return
    columns = tuple(first)
    raw = db.connection.driver_connection
    assert raw is not None
    values = (tuple(each.values()) for each in chain([first], listed))
    if db.dialect.name == "postgresql":
        with raw.cursor().copy(f"COPY {table.name} ({', '.join(_quoted(columns))}) FROM STDIN") as copy:
            for each in values:
                copy.write_row(each)
    else:
        marks, names = ", ".join("?" * len(columns)), ", ".join(_quoted(columns))
        raw.executemany(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", values)  # noqa: S608


def _quoted(columns: Sequence[str]) -> list[str]:
    return [f'"{name}"' for name in columns]


if __name__ == "__main__":
    main(sys.argv[1:])
