"""Rankings: a snapshot of ratings for each pool (rule set, table size), fitted anew from all its results."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import Row, func, insert, select

from service import rating as numbers
from service import results
from service.errors import NotFound
from service.tables import account, bot, rating, snapshot, tournament, version
from service.tally import Game
from service.work import Arena, Work

log = structlog.get_logger(__name__)
MODEL = "elo-1"
REFIT_EVERY = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A line of the rankings. `place` numbers the newest versions of active bots whose rating is settled.

    `low` and `high` bound the rating at 95 %; `rank_range` are the places it may really have,
    None while it is provisional.
    """

    place: int | None
    bot_id: str
    bot: str
    version: int
    owner: str
    house: bool
    rating: float
    low: float
    high: float
    matches: int
    groups: int
    rank_range: tuple[int, int] | None
    provisional: bool


@dataclass(frozen=True, slots=True)
class Ranking:
    """A pool's rankings as of one snapshot; all empty before its first result."""

    rules: str
    players: int
    model: str
    snapshot: str | None
    at: datetime | None
    matches: int
    items: list[Ranked]


@dataclass(frozen=True, slots=True)
class Pool:
    """Matches that may be compared: one rule set, one table size."""

    rules: str
    players: int
    matches: int


@dataclass(frozen=True, slots=True)
class RatingPoint:
    """A version's rating in one snapshot."""

    at: datetime
    rules: str
    players: int
    version: int
    rating: float
    low: float
    high: float
    matches: int
    provisional: bool


def rankings(arena: Arena, *, rules: str = "fundex", players: int = 4, at: datetime | None = None) -> Ranking:
    """The newest rankings of a pool, or those of the time `at`. Reads a snapshot, never results."""
    query = _newest(rules, players)
    if at is not None:
        query = query.where(snapshot.c.created_at <= at)
    with arena.read() as db:
        row = db.execute(query).first()
        if row is None:
            return Ranking(rules, players, MODEL, None, None, 0, [])
        names = {each.id: each for each in db.execute(_names([line["version_id"] for line in row.body]))}
    items = _numbered([(line, names[line["version_id"]]) for line in row.body])
    return Ranking(rules, players, row.model, str(row.id), row.created_at, row.matches, items)


def pools(arena: Arena) -> list[Pool]:
    """Every pool with a snapshot, the busiest first."""
    newest = select(func.max(snapshot.c.id)).group_by(snapshot.c.rules_key, snapshot.c.players)
    query = (
        select(snapshot).where(snapshot.c.id.in_(newest)).order_by(snapshot.c.matches.desc(), snapshot.c.id)
    )
    with arena.read() as db:
        return [Pool(row.rules_key, row.players, row.matches) for row in db.execute(query)]


def history(arena: Arena, bot_id: str) -> list[RatingPoint]:
    """A bot's ratings over time, all versions and pools, oldest first."""
    query = (
        select(rating, snapshot.c.created_at, snapshot.c.rules_key, snapshot.c.players, version.c.number)
        .join(snapshot, snapshot.c.id == rating.c.snapshot_id)
        .join(version, version.c.id == rating.c.version_id)
        .where(version.c.bot_id == bot_id)
        .order_by(snapshot.c.id)
    )
    with arena.read() as db:
        if db.scalar(select(bot.c.id).where(bot.c.id == bot_id)) is None:
            raise NotFound(f"no bot {bot_id}")
        return [_point(row) for row in db.execute(query)]


def settle(arena: Arena, tournament_id: str) -> bool:
    """Fit the pool of a tournament anew; False if nothing came in since its last snapshot."""
    query = select(tournament.c.rules_key, tournament.c.players).where(tournament.c.id == tournament_id)
    with arena.read() as db:
        pool = db.execute(query).one()
    return refit(arena, pool.rules_key, pool.players)


def settle_running(arena: Arena) -> int:
    """Fit anew the pools that are being played in, each at most every few seconds; how many were."""
    query = (
        select(tournament.c.rules_key, tournament.c.players)
        .where(tournament.c.status.in_(("running", "paused")))
        .distinct()
    )
    with arena.read() as db:
        running = db.execute(query).all()
        stale = [pool for pool in running if _stale(arena, db.execute(_newest(*pool)).first())]
    return sum(refit(arena, pool.rules_key, pool.players) for pool in stale)


def refit(arena: Arena, rules_key: str, players: int) -> bool:
    """Fit a pool to all its whole deal groups and keep the snapshot, unless nothing came in."""
    with arena.read() as db:
        games = [game for found in results.of_pool(db, rules_key, players) for game in _games(*found)]
        last = db.execute(_newest(rules_key, players)).first()
    if len(games) == (last.matches if last else 0):
        return False
    lines = [_line(rated) for rated in numbers.elo(games)]
    with arena.work() as work:
        newest = work.db.execute(_newest(rules_key, players)).first()
        if (newest and newest.id) != (last and last.id):
            return False  # somebody else was quicker
        _store(work, rules_key, players, len(games), lines)
    log.info("ratings_fitted", rules=rules_key, players=players, matches=len(games), bots=len(lines))
    return True


def _games(tournament_id: str, found: list[results.Seated]) -> list[Game]:
    return [Game((tournament_id, each.result.group), each.versions, each.result.places) for each in found]


def _store(work: Work, rules_key: str, players: int, matches: int, lines: list[dict[str, Any]]) -> None:
    row = {"rules_key": rules_key, "players": players, "model": MODEL, "matches": matches, "body": lines}
    made = work.db.execute(insert(snapshot).values(**row, created_at=work.now))
    (snapshot_id,) = made.inserted_primary_key or (None,)
    kept = ("version_id", "rating", "low", "high", "matches", "provisional")
    points = [{"snapshot_id": snapshot_id, **{name: line[name] for name in kept}} for line in lines]
    if points:  # a pool may have lost all it had
        work.db.execute(insert(rating), points)


def _line(rated: numbers.Rated) -> dict[str, Any]:
    same = ("rating", "low", "high", "groups", "rank_range", "provisional", "p_better_next")
    kept = {name: getattr(rated, name) for name in same}
    return {"version_id": rated.player, "matches": rated.games, **kept}


def _newest(rules_key: str, players: int) -> Any:
    of_it = (snapshot.c.rules_key == rules_key, snapshot.c.players == players)
    return select(snapshot).where(*of_it).order_by(snapshot.c.id.desc()).limit(1)


def _stale(arena: Arena, last: "Row[Any] | None") -> bool:
    return last is None or arena.clock() - last.created_at >= REFIT_EVERY


def _names(version_ids: list[str]) -> Any:
    each = version.alias("each")
    newest = (
        select(func.max(each.c.number))
        .where(each.c.bot_id == bot.c.id, each.c.status == "ready")
        .scalar_subquery()
    )
    return (
        select(version.c.id, version.c.number, version.c.bot_id, bot.c.name, bot.c.house, bot.c.retired_at)
        .add_columns(account.c.name.label("owner"), newest.label("newest"))
        .join(bot, bot.c.id == version.c.bot_id)
        .join(account, account.c.id == bot.c.owner_id)
        .where(version.c.id.in_(version_ids))
    )


def _numbered(lines: "list[tuple[Mapping[str, Any], Row[Any]]]") -> list[Ranked]:
    items, place = [], 0
    for line, who in lines:
        counts = not line["provisional"] and who.retired_at is None and who.number == who.newest
        place += counts
        items.append(_ranked(place if counts else None, line, who))
    return items


def _ranked(place: int | None, line: Mapping[str, Any], who: "Row[Any]") -> Ranked:
    span = line["rank_range"]
    same = {name: line[name] for name in ("rating", "low", "high", "matches", "groups", "provisional")}
    whose = {
        "bot_id": who.bot_id,
        "bot": who.name,
        "version": who.number,
        "owner": who.owner,
        "house": who.house,
    }
    return Ranked(place=place, rank_range=(span[0], span[1]) if span else None, **same, **whose)


def _point(row: "Row[Any]") -> RatingPoint:
    return RatingPoint(
        at=row.created_at,
        rules=row.rules_key,
        players=row.players,
        version=row.number,
        rating=row.rating,
        low=row.low,
        high=row.high,
        matches=row.matches,
        provisional=row.provisional,
    )
