"""How fast ratings are: `python -m loadtests.bench_ratings`, beside choix in one run.

    python -m loadtests.bench_ratings               # 1,000,000 four-player results of 100 bots, 1,000 bots
    python -m loadtests.bench_ratings --database    # /rankings on databases of 1,000 and 1,000,000 results
    python -m loadtests.bench_ratings --results 100000

choix (https://choix.lum.li) fits the same rankings; it gives no covariance. Times are of the CPU, the best
of three unless it is long; OPENBLAS_NUM_THREADS=1 keeps a busy machine from wasting more.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import event, insert

from service import accounts, counts, rankings, rating, rating_points, refit, results, schema, tables, tally
from service.jobs import InlineQueue
from service.settings import Settings
from service.tally import Ints, Tally
from service.work import Arena

SEATS = 4
TABLES = 900  # of a round robin of 100 in which each pair meets once; played with 20 deals
DEALS = 20


def main() -> None:
    """The figures, one a line."""
    parser = argparse.ArgumentParser(description="How fast ratings are")
    parser.add_argument("--results", type=int, default=1_000_000)
    parser.add_argument("--database", action="store_true", help="measure requests and fits on a database")
    told = parser.parse_args()
    if told.database:
        for count in (1_000, told.results):
            _database(count)
    else:
        _memory(told.results)


def made_up(results: int, bots: int, seed: int = 1) -> tuple[Ints, Ints, Ints]:
    """Seats, ranks and deals of so many matches: schedules of `TABLES` tables, each of `DEALS` deals."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 80, bots) * rating.Q
    several = -(-results // (TABLES * DEALS * SEATS))
    drawn = np.argsort(rng.random((several * TABLES, bots)), axis=1)[:, :SEATS]
    orders = np.repeat(drawn, DEALS, axis=0)
    turned = np.stack([np.roll(orders, turn, axis=1) for turn in range(SEATS)], axis=1)
    seats = turned.reshape(-1, SEATS)[:results]
    scores = strength[seats] + rng.gumbel(size=seats.shape)
    ranks = 1 + np.argsort(np.argsort(-scores, axis=1), axis=1)
    return seats, ranks, np.repeat(np.arange(len(orders)), SEATS)[:results]


def counted(matches: tuple[Ints, Ints, Ints], bots: int) -> Tally:
    """Matches in memory as a tally."""
    seats, ranks, deals = matches
    points = 10 * (SEATS - ranks)
    return Tally(tuple(range(bots)), (tally.tables(seats, ranks, deals, points=points, players=bots),))


def _memory(results: int) -> None:
    matches = made_up(results, 100)
    told, whole = _timed(lambda: counted(matches, 100), 1)
    _say(f"{results:,} results of 100 bots, counted ({len(told.tables[0].seats):,} tables)", whole)
    fitted, quick = _timed(lambda: rating.fit(told), 3)
    _say("  from counts: fit and covariance", quick)
    _say("  from counts: lines too", quick + _timed(fitted.rated, 3)[1])
    _say("  from counts: points", _timed(lambda: rating_points.fit(told), 3)[1])
    _say("  results to fit with covariance", whole + quick)
    _beside_choix(matches, whole + quick)
    apart = np.argsort(np.random.default_rng(2).random((results // SEATS, 100)), axis=1)[:, :SEATS]
    seats = np.repeat(apart, SEATS, axis=0)
    hardest, slow = _timed(lambda: counted((seats, matches[1][: len(seats)],
                                            np.repeat(np.arange(len(apart)), SEATS)), 100), 1)  # fmt: skip
    _say(f"the same with {len(hardest.tables[0].seats):,} tables, hardly two alike: counted", slow)
    _say("  from counts: fit and covariance", _timed(lambda: rating.fit(hardest), 3)[1])
    many = counted(made_up(results, 1000), 1000)
    large, seconds = _timed(lambda: rating.fit(many), 1)
    _say("1,000 bots, from counts: fit and covariance", seconds)
    _say("  lines too", seconds + _timed(large.rated, 1)[1])


def _beside_choix(matches: tuple[Ints, Ints, Ints], ours: float) -> None:
    import choix  # type: ignore[import-untyped]

    seats, ranks, _ = matches
    ordered = np.take_along_axis(seats, np.argsort(ranks, axis=1), axis=1).tolist()
    _, theirs = _timed(lambda: choix.ilsr_rankings(100, ordered, alpha=1e-6), 1)
    _say("  choix.ilsr_rankings, the same results", theirs)
    print(f"  choix takes {theirs / ours:.1f} times as long as ours with covariance")


def _database(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.from_environment({"RAGE_DATA_DIR": folder})
        schema.migrate(settings)
        arena = Arena.open(settings, InlineQueue())
        seed(arena, count)
        size = sum(file.stat().st_size for file in Path(folder).glob("*.sqlite3"))
        print(f"{count:,} results in SQLite ({size >> 20} MiB)")
        with arena.work() as work:
            _say("  ledger to counts", _timed(lambda: _count(work), 1)[1])
        _say("  counts to snapshots of all models", _timed(lambda: refit.refit(arena, "fundex", SEATS), 1)[1])
        with arena.read() as db:
            _say("  reading the counts", _timed(lambda: counts.load(db, "fundex", SEATS), 3)[1])
        queries = list[str]()
        event.listen(arena.database, "before_cursor_execute", lambda *told: queries.append(told[2]))
        _say("  a page of the rankings", _timed(lambda: rankings.rankings(arena, limit=50), 20)[1])
        asked = sum(query.startswith("SELECT") for query in queries) // 20
        print(f"  queries a request: {asked}")
        arena.close()


def seed(arena: Arena, count: int, bots: int = 100) -> None:
    """A database in which so many matches were played."""
    seats, ranks, deals = made_up(count, bots)
    author, _ = accounts.register(arena, name="author")
    now = datetime(2030, 1, 1, tzinfo=UTC)
    size = TABLES * DEALS * SEATS
    with arena.work() as work:
        work.db.execute(insert(tables.bot), [_bot(number, author.id, now) for number in range(bots)])
        work.db.execute(insert(tables.version), [_version(number, now) for number in range(bots)])
        for cup, start in enumerate(range(0, count, size)):
            some = slice(start, min(start + size, count))
            _tournament(work.db, f"t{cup}", author.id, now + timedelta(days=cup), some.stop - start)
            work.db.execute(insert(tables.entrant), [_entrant(f"t{cup}", n) for n in range(bots)])
            _matches(work.db, f"t{cup}", seats[some], ranks[some], deals[some] - deals[start], now)


def _bot(number: int, owner: str, now: datetime) -> dict[str, Any]:
    name = f"bot {number:03}"
    about = {"description": "", "public_source": False, "house": False, "created_at": now}
    return {"id": f"bot_{number:03}", "owner_id": owner, "name": name, "name_key": name, **about}


def _version(number: int, now: datetime) -> dict[str, Any]:
    code = {"kind": "py", "filename": "bot.py", "sha256": "", "size": 0, "code": b"", "status": "ready"}
    return {"id": f"bot_{number:03}:1", "bot_id": f"bot_{number:03}", "number": 1, "created_at": now, **code}


def _entrant(cup: str, number: int) -> dict[str, Any]:
    bot = f"bot_{number:03}"
    return {"tournament_id": cup, "number": number, "bot_id": bot, "version_id": f"{bot}:1"}


def _tournament(db: Any, name: str, owner: str, now: datetime, total: int) -> None:
    rules = {"rules": {"preset": "fundex"}, "rules_key": "fundex", "players": SEATS, "deals": DEALS}
    times = {"created_at": now, "started_at": now, "finished_at": now}
    told = {"duplicate": True, "meetings": 1, "limits": {}, "seed": "s", "secret": b"", "total": total}
    what = {"id": name, "owner_id": owner, "name": name, "format": "round_robin", "status": "finished"}
    db.execute(insert(tables.tournament).values(**what, **rules, **times, **told))


def _matches(db: Any, cup: str, seats: Ints, ranks: Ints, deals: Ints, now: datetime) -> None:
    columns = zip(seats.tolist(), ranks.tolist(), deals.tolist(), strict=True)
    matches, rows = [], []
    spent = {"out": False, "faults": 0, "cpu_ms": 1, "wall_ms": 1, "memory_kb": 1, "exact_bids": 0}
    for number, (who, places, deal) in enumerate(columns):
        key = {"tournament_id": cup, "number": number}
        matches.append({**key, "deal_group": deal, "rotation": number % SEATS, "entrants": who,
                        "status": "done", "finished_at": now})  # fmt: skip
        rows += [
            {**key, "seat": n, "entrant": each, "score": 40 - 10 * place, "counted": 40 - 10 * place,
             "place": place, **spent}
            for n, (each, place) in enumerate(zip(who, places, strict=True))
        ]  # fmt: skip
    db.execute(insert(tables.match), matches)
    db.execute(insert(tables.seat), rows)


def _count(work: Any) -> None:
    for row in work.db.execute(tables.tournament.select()).all():
        found = list(results.games(work.db, row.id))
        counts.replace(work, row.id, counts.lines_of(work.db, row.id, found))


def _timed(act: Callable[[], Any], times: int) -> tuple[Any, float]:
    best = float("inf")
    for _ in range(times):
        began = time.process_time()
        made = act()
        best = min(best, time.process_time() - began)
    return made, best


def _say(what: str, seconds: float) -> None:
    print(f"{what:<72} {1000 * seconds:>10,.1f} ms", flush=True)


if __name__ == "__main__":
    main()
