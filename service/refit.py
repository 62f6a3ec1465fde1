"""Ratings fitted anew: by one desk at a time, from what is counted, kept as a snapshot that never changes.

At most every few seconds while results come in (more rarely where a fit takes long), and once when a
tournament ends. What is asked for while another desk is at it is done by the next `settle_running`.
"""

import hashlib
import io
import json
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import structlog
from sqlalchemy import Connection, Row, and_, delete, exists, insert, or_, select, update

from service import counts, results, traces
from service.counts import Counted
from service.estimate import Estimate, Rated
from service.rating_classic import Memory
from service.rating_models import MODELS, Model
from service.tables import EPOCH, MICROSECOND, bot, estimate, pool, rating, snapshot, tournament, version
from service.tally import Game, Player, Tally
from service.work import Arena, Work

log = structlog.get_logger(__name__)
REFIT_EVERY = timedelta(seconds=5)
REST = 10  # a desk rates for no more than one part in so many of its time
REMEMBERED = 64  # pools of which a process knows what was replayed; of others it starts anew
LONGEST = timedelta(seconds=60)  # between two fits, however long one takes
LEASE = timedelta(seconds=600)
KEPT = timedelta(days=7)  # snapshots of tournaments under way, and of each SLOT only the last
SLOT = timedelta(minutes=10)
_held: dict[str, tuple[str, int]] = {}  # pools this process fits now, by token


@dataclass(frozen=True, slots=True)
class PoolResults:
    """A pool's results as models ask for them: `over` leaves out tournaments that still run."""

    db: Connection
    rules_key: str
    players: int
    counted: Counted
    memory: Memory = field(default_factory=Memory)

    def tally(self) -> Tally:
        return self.counted.tally

    def replayed(self) -> Mapping[Player, float]:
        of_it = (tournament.c.rules_key == self.rules_key, tournament.c.players == self.players)
        query = (
            select(tournament.c.id)
            .where(*of_it, tournament.c.status.in_(counts.OVER), tournament.c.started_at.is_not(None))
            .order_by(tournament.c.started_at, tournament.c.id)
        )
        return self.memory.replay(self.db.scalars(query).all(), self._rounds)

    def _rounds(self, tournament_id: str) -> Iterator[Sequence[Game]]:
        played = sorted(results.games(self.db, tournament_id), key=lambda game: game.group)
        for _, games in groupby(played, key=lambda game: game.group):
            yield list(games)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What one model made of a pool: a snapshot's row, its lines, and the estimate behind them."""

    model: Model
    counted: Counted
    digest: str
    lines: list[dict[str, Any]]
    estimate: Estimate


def settle(arena: Arena, tournament_id: str) -> bool:
    """Fit the pool of a tournament anew; False if nothing came in, or another desk is at it."""
    query = select(tournament.c.rules_key, tournament.c.players).where(tournament.c.id == tournament_id)
    with arena.read() as db:
        found = db.execute(query).one()
    return refit(arena, found.rules_key, found.players)


def settle_running(arena: Arena) -> int:
    """Fit anew the pools that are played in or were asked for, each when it is due; how many were."""
    going = exists().where(
        tournament.c.rules_key == pool.c.rules_key,
        tournament.c.players == pool.c.players,
        tournament.c.status.in_(("running", "paused")),
    )
    with arena.read() as db:
        due = db.execute(select(pool).where(or_(pool.c.asked_at.is_not(None), going))).all()
    return sum(_guarded(arena, row) for row in due if _due(arena, row))


def refit(arena: Arena, rules_key: str, players: int) -> bool:
    """Fit a pool to all that counts and keep the snapshots; False if none is new, or another desk does."""
    began, token = time.monotonic(), secrets.token_hex(16)
    asked = _take(arena, rules_key, players, token)
    if asked is None:
        return False
    try:
        pool_of: dict[str, str | int] = {"rules": rules_key, "players": players}
        with traces.span("refit", **pool_of), arena.read(steady=True) as db:
            found = list(_fits(db, rules_key, players))
    except BaseException:
        with arena.work() as work:
            _let_go(work, rules_key, players, token)
        raise
    took = round(1000 * (time.monotonic() - began))
    with arena.work() as work:
        new = {"fitted_at": work.now, "took_ms": took} if found else {}
        if not _let_go(work, rules_key, players, token, done=asked.asked_at, **new):
            return False
        for each in found:
            _store(work, rules_key, players, each)
    if found:
        matches, bots = found[0].counted.tally.matches, len(found[0].lines)
        log.info("ratings_fitted", rules=rules_key, players=players, matches=matches, bots=bots, ms=took)
    return bool(found)


def break_off(arena: Arena) -> None:
    """This process ends: others may fit at once what it is fitting, of which nothing will be stored."""
    for token, (rules_key, players) in list(_held.items()):
        with arena.work() as work:
            _let_go(work, rules_key, players, token)


def fitted(db: Connection, model: Model, rules_key: str, players: int) -> Fitted:
    """What a model makes of all that counts now; nothing is stored."""
    return _fitted(db, model, rules_key, players, counts.load(db, rules_key, players, over=not model.live))


def _fitted(
    db: Connection, model: Model, rules_key: str, players: int, counted: Counted, memory: Memory | None = None
) -> Fitted:
    unranked = _unranked(db, counted.tally)
    made = model.rate(PoolResults(db, rules_key, players, counted, memory or Memory()))
    lines = [_line(rated, rated.player not in unranked) for rated in made.rated(unranked)]
    return Fitted(model, counted, _digest(model, counted, unranked), lines, made)


def newest(rules_key: Any, players: Any, model: str) -> Any:
    """The query for the newest snapshot of a pool, named or bound later, by a model."""
    of_it = (
        snapshot.c.rules_key == rules_key,
        snapshot.c.players == players,
        snapshot.c.model == model,
    )
    return (
        select(snapshot).where(*of_it).order_by(snapshot.c.created_at.desc(), snapshot.c.id.desc()).limit(1)
    )


def _guarded(arena: Arena, row: "Row[Any]") -> bool:
    """One pool that cannot be fitted must not keep the others from it."""
    try:
        return refit(arena, row.rules_key, row.players)
    except Exception:
        log.exception("pool_not_fitted", rules=row.rules_key, players=row.players)
        return False


def _due(arena: Arena, row: "Row[Any]") -> bool:
    """Long enough after the last fit, or before it: then the clock went back, and nobody waits for it."""
    wait = max(REFIT_EVERY, min(REST * timedelta(milliseconds=row.took_ms), LONGEST))
    return row.fitted_at is None or not timedelta(0) <= arena.clock() - row.fitted_at < wait


def _take(arena: Arena, rules_key: str, players: int, token: str) -> "Row[Any] | None":
    """The pool, ours alone to fit for now; None if it is somebody else's, or there is none."""
    with arena.work() as work:
        beyond = pool.c.lease_until > work.now + LEASE  # by a clock that went back since
        free = or_(pool.c.lease_until.is_(None), pool.c.lease_until < work.now, beyond)
        this = and_(pool.c.rules_key == rules_key, pool.c.players == players)
        lease = {"lease_token": token, "lease_until": work.now + LEASE}
        if not work.db.execute(update(pool).where(this, free).values(lease)).rowcount:
            return None
        _held[token] = rules_key, players
        return work.db.execute(select(pool).where(this)).one()


def _let_go(
    work: Work, rules_key: str, players: int, token: str, *, done: datetime | None = None, **new: Any
) -> bool:
    """Give the pool back; what was asked for at `done` is done. False if the lease was lost."""
    _held.pop(token, None)
    this = and_(pool.c.rules_key == rules_key, pool.c.players == players)
    values = {"lease_token": None, "lease_until": None, **new}
    if not work.db.execute(update(pool).where(this, pool.c.lease_token == token).values(values)).rowcount:
        return False
    work.db.execute(update(pool).where(this, pool.c.asked_at == done).values(asked_at=None))
    return True


def _fits(db: Connection, rules_key: str, players: int) -> Iterator[Fitted]:
    """A new snapshot's content by each model, unless it would be the one there is."""
    counted = {live: counts.load(db, rules_key, players, over=not live) for live in (True, False)}
    for model in MODELS.values():
        last, mine = db.execute(newest(rules_key, players, model.name)).first(), counted[model.live]
        digest = _digest(model, mine, _unranked(db, mine.tally))
        if last.digest != digest if last else mine.tally.players:
            memory = _memory(str(db.engine.url), rules_key, players)
            yield _fitted(db, model, rules_key, players, mine, memory)


@lru_cache(maxsize=REMEMBERED)
def _memory(_database: str, _rules_key: str, _players: int) -> Memory:
    """What this process knows of a pool of this database; one fits a pool at a time."""
    return Memory()


def _digest(model: Model, counted: Counted, unranked: Iterable[str]) -> str:
    """Stands for all that a snapshot is a function of."""
    told = hashlib.sha256(
        f"{model.full_name}{json.dumps(dict(model.parameters))}{counted.tournaments}".encode()
    )
    told.update(json.dumps([counted.tally.players, sorted(unranked)]).encode())
    for table in counted.tally.tables:
        told.update(np.ascontiguousarray(table.seats).tobytes() + np.ascontiguousarray(table.sums).tobytes())
    return told.hexdigest()


def _unranked(db: Connection, tally: Tally) -> set[str]:
    """Who takes no place: versions of retired bots, and those that a newer one has played after."""
    columns = (version.c.id, version.c.bot_id, version.c.number, bot.c.retired_at)
    query = select(*columns).join(bot, bot.c.id == version.c.bot_id).where(version.c.id.in_(tally.players))
    rows = db.execute(query).all()
    newest: dict[str, int] = {}
    for row in rows:
        newest[row.bot_id] = max(newest.get(row.bot_id, 0), row.number)
    return {row.id for row in rows if row.retired_at is not None or row.number < newest[row.bot_id]}


def _line(rated: Rated, active: bool) -> dict[str, Any]:
    told = asdict(rated)
    for name in ("player", "games", "rank", "exact", "half_width", "margin"):
        del told[name]
    whose = {"version_id": rated.player, "place": rated.rank, "active": active, "matches": rated.games}
    return {**whose, **told}


def _store(work: Work, rules_key: str, players: int, each: Fitted) -> None:
    last = work.db.execute(newest(rules_key, players, each.model.name)).first()
    final = each.counted.tournaments > (last.tournaments if last else 0)
    now = work.now if last is None else max(work.now, last.created_at + MICROSECOND)  # it shall be the newest
    row = _snapshot(rules_key, players, each, final=final)
    made = work.db.execute(insert(snapshot).values(**row, created_at=now))
    (snapshot_id,) = made.inserted_primary_key or (None,)
    _keep_estimate(work, rules_key, players, each, snapshot_id)
    same = ("version_id", "rating", "low", "high", "matches", "place", "provisional")
    points = [{"snapshot_id": snapshot_id, **{name: line[name] for name in same}} for line in each.lines]
    if final and points:
        work.db.execute(insert(rating), points)
    of_it = (snapshot.c.rules_key == rules_key, snapshot.c.players == players)
    passing = and_(*of_it, snapshot.c.model == each.model.name, ~snapshot.c.final)
    _forget(work, and_(passing, snapshot.c.id != snapshot_id), last, now)


def _forget(work: Work, passing: Any, last: "Row[Any] | None", now: datetime) -> None:
    """Nobody asks for every five seconds of last week."""
    work.db.execute(delete(snapshot).where(passing, snapshot.c.created_at < now - KEPT))
    if last is not None and (began := _slot(last.created_at)) < _slot(now):
        crowd = and_(snapshot.c.created_at >= began, snapshot.c.created_at < began + SLOT)
        work.db.execute(delete(snapshot).where(passing, crowd, snapshot.c.id != last.id))


def _slot(moment: datetime) -> datetime:
    return moment - (moment - EPOCH) % SLOT


def _snapshot(rules_key: str, players: int, each: Fitted, *, final: bool) -> dict[str, Any]:
    return {
        "rules_key": rules_key,
        "players": players,
        "model": each.model.name,
        "model_version": each.model.version,
        "parameters": {**each.model.parameters, **each.estimate.told},
        "matches": each.counted.tally.matches,
        "deals": each.counted.tally.groups,
        "tournaments": each.counted.tournaments,
        "last_deal": each.counted.last_deal,
        "final": final,
        "digest": each.digest,
        "body": each.lines,
    }


def _keep_estimate(work: Work, rules_key: str, players: int, each: Fitted, snapshot_id: Any) -> None:
    made, out = each.estimate, io.BytesIO()
    covariance = np.zeros((0, 0)) if made.covariance is None else made.covariance
    np.savez(out, ratings=made.ratings, covariance=covariance, half_points=made.half_points)
    key = {"rules_key": rules_key, "players": players, "model": each.model.name}
    work.db.execute(delete(estimate).where(*(estimate.c[name] == value for name, value in key.items())))
    row = {"snapshot_id": snapshot_id, "versions": list(made.players), "arrays": out.getvalue()}
    work.db.execute(insert(estimate).values({**key, **row}))
