"""Rankings as people read them: out of a snapshot, never out of results. See `refit` for how one is made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, select

from service import differences, paging
from service.differences import Differences
from service.errors import Invalid, NotFound
from service.rating_models import DEFAULT, MODELS
from service.refit import newest
from service.tables import account, bot, rating, snapshot, version
from service.work import Arena

LONG_AGO = "an anchor needs the newest rankings: leave `at` out"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A line of the rankings. `place` numbers the newest versions of active bots whose rating is settled.

    `low` and `high` bound the rating at 95 %; `rank_range` are the places it may really have;
    `p_better_next` the probability that it is better than the next in place. `active`: a newest version
    rated here, of a bot that was not retired then. `retired`: by now; `uploads`: versions of all bots its
    owner has uploaded so far.
    """

    place: int | None
    bot_id: str
    bot: str
    version: int
    owner: str
    house: bool
    rating: float
    low: float | None
    high: float | None
    rank_range: tuple[int, int] | None
    p_better_next: float | None
    matches: int
    groups: int
    forfeits: int
    provisional: bool
    active: bool
    retired: bool
    uploads: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """A part of a pool's rankings as of one snapshot; all empty before its first result."""

    rules: str
    players: int
    model: str
    model_version: int
    unit: str
    parameters: Mapping[str, float]
    snapshot: str | None
    at: datetime | None
    matches: int
    deals: int
    last_deal: str | None
    anchor: str | None
    items: list[Ranked]
    next: str | None


@dataclass(frozen=True, slots=True)
class Pool:
    """Matches that may be compared: one rule set, one table size."""

    rules: str
    players: int
    matches: int


@dataclass(frozen=True, slots=True)
class RatingPoint:
    """A version's rating after a tournament."""

    at: datetime
    rules: str
    players: int
    model: str
    version: int
    rating: float
    low: float | None
    high: float | None
    matches: int
    place: int | None
    provisional: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """Which lines of the rankings; None: all."""

    owner: str | None = None
    name: str | None = None
    house: bool | None = None
    provisional: bool | None = None

    def fits(self, line: Ranked) -> bool:
        """Whether a line is one of them; a name fits where it is a part, in whatever case."""
        return (
            self.owner in (None, line.owner)
            and (self.name or "").casefold() in line.bot.casefold()
            and self.house in (None, line.house)
            and self.provisional in (None, line.provisional)
        )


ALL = Choice()


def rankings(
    arena: Arena,
    *,
    rules: str = "fundex",
    players: int = 4,
    model: str = DEFAULT,
    at: datetime | None = None,
    anchor: str | None = None,
    choice: Choice = ALL,
    limit: int | None = None,
    cursor: str | None = None,
) -> Ranking:
    """The newest rankings of a pool, or those of the time `at`; whole without a `limit`.

    Reads a snapshot, never results. A cursor goes on in the snapshot it comes from. `anchor` is a bot that
    is given 1500 (0 points), all others' intervals being those of the difference to it.
    """
    after = paging.read(cursor, int, int)
    if anchor is not None and at is not None:
        raise Invalid({"anchor": [LONG_AGO]})
    with arena.read() as db:
        row = db.execute(_snapshot(rules, players, model, at, after)).first()
        if row is None and after is not None:
            raise Invalid({"cursor": ["its rankings are kept no more; begin again without a cursor"]})
        if row is None:
            return _empty(rules, players, model)
        lines = row.body if anchor is None else _anchored(db, row, anchor)
        who = _who(db, [line["version_id"] for line in lines])
    chosen = [each for line in lines if choice.fits(each := _ranked(line, who[line["version_id"]]))]
    start = after[1] if after else 0
    end = len(chosen) if limit is None else start + limit
    following = paging.written([row.id, end]) if end < len(chosen) else None
    return replace(_of(row), anchor=anchor, items=chosen[start:end], next=following)


def compare(
    arena: Arena, a: str, b: str, *, rules: str = "fundex", players: int = 4, model: str = DEFAULT
) -> Differences:
    """Is bot a better than b? Each a bot (its newest version rated in this pool) or BOT:VERSION."""
    with arena.read() as db:
        return differences.compare(db, rules, players, model, a, b)


def pools(arena: Arena) -> list[Pool]:
    """Every pool with a snapshot, the busiest first."""
    of_default = snapshot.c.model == DEFAULT
    last = (
        select(func.max(snapshot.c.id)).where(of_default).group_by(snapshot.c.rules_key, snapshot.c.players)
    )
    query = select(snapshot.c.rules_key, snapshot.c.players, snapshot.c.matches).where(
        snapshot.c.id.in_(last)
    )
    with arena.read() as db:
        found = db.execute(query.order_by(snapshot.c.matches.desc(), snapshot.c.id)).all()
    return [Pool(row.rules_key, row.players, row.matches) for row in found]


def history(
    arena: Arena, bot_id: str, *, model: str = DEFAULT, rules: str | None = None, players: int | None = None
) -> list[RatingPoint]:
    """A bot's ratings after each tournament of a pool, or of all; all its versions, oldest first."""
    columns = (snapshot.c.created_at, snapshot.c.rules_key, snapshot.c.players, snapshot.c.model)
    query = (
        select(rating, *columns, version.c.number)
        .join(snapshot, snapshot.c.id == rating.c.snapshot_id)
        .join(version, version.c.id == rating.c.version_id)
        .where(version.c.bot_id == bot_id, snapshot.c.model == model)
        .order_by(snapshot.c.id, version.c.number)
    )
    for column, value in ((snapshot.c.rules_key, rules), (snapshot.c.players, players)):
        query = query if value is None else query.where(column == value)
    with arena.read() as db:
        if db.scalar(select(bot.c.id).where(bot.c.id == bot_id)) is None:
            raise NotFound(f"no bot {bot_id}")
        return [_point(row) for row in db.execute(query)]


def _snapshot(rules: str, players: int, model: str, at: datetime | None, after: Sequence[int] | None) -> Any:
    query = newest(rules, players, model)
    if after is not None:
        query = query.where(snapshot.c.id == after[0])
    return query if at is None else query.where(snapshot.c.created_at <= at)


def _of(row: "Row[Any]") -> Ranking:
    """What a snapshot says of itself, without its lines."""
    return Ranking(
        rules=row.rules_key,
        players=row.players,
        model=row.model,
        model_version=row.model_version,
        unit=MODELS[row.model].unit,
        parameters=row.parameters,
        snapshot=str(row.id),
        at=row.created_at,
        matches=row.matches,
        deals=row.deals,
        last_deal=row.last_deal,
        anchor=None,
        items=[],
        next=None,
    )


def _empty(rules: str, players: int, model: str) -> Ranking:
    about = MODELS[model]
    return Ranking(
        rules,
        players,
        model,
        about.version,
        about.unit,
        about.parameters,
        None,
        None,
        0,
        0,
        None,
        None,
        [],
        None,
    )


def _anchored(db: Connection, row: "Row[Any]", anchor: str) -> list[dict[str, Any]]:
    shifted = differences.anchored(db, row.rules_key, row.players, row.model, anchor)
    return [{**line, **shifted[line["version_id"]]} for line in row.body]


def _who(db: Connection, version_ids: list[str]) -> dict[str, tuple[Any, Any]]:
    """Each version with its bot, and the bot's owner with how much they have uploaded."""
    uploads = (
        select(func.count(version.c.id))
        .join(bot, bot.c.id == version.c.bot_id)
        .where(bot.c.owner_id == account.c.id)
        .correlate(account)
    )
    told = select(account.c.id, account.c.name, uploads.scalar_subquery().label("uploads"))
    mine = bot.c.id.in_(select(version.c.bot_id).where(version.c.id.in_(version_ids)))
    owners = {
        row.id: row for row in db.execute(told.where(account.c.id.in_(select(bot.c.owner_id).where(mine))))
    }
    query = (
        select(version.c.id, version.c.number, version.c.bot_id, bot.c.name, bot.c.house)
        .add_columns(bot.c.owner_id, bot.c.retired_at)
        .join(bot, bot.c.id == version.c.bot_id)
        .where(version.c.id.in_(version_ids))
    )
    return {row.id: (row, owners[row.owner_id]) for row in db.execute(query)}


def _ranked(line: Mapping[str, Any], who: tuple[Any, Any]) -> Ranked:
    of, owner = who
    span = line["rank_range"]
    same = ("rating", "low", "high", "matches", "groups", "provisional", "p_better_next")
    return Ranked(
        place=line.get("place"),
        bot_id=of.bot_id,
        bot=of.name,
        version=of.number,
        owner=owner.name,
        house=of.house,
        rank_range=(span[0], span[1]) if span else None,
        forfeits=line.get("forfeits", 0),
        active=line.get("active", True),
        retired=of.retired_at is not None,
        uploads=owner.uploads,
        **{name: line[name] for name in same},
    )


def _point(row: "Row[Any]") -> RatingPoint:
    same = ("rating", "low", "high", "matches", "place", "provisional", "model", "players")
    told = {name: getattr(row, name) for name in same}
    return RatingPoint(at=row.created_at, rules=row.rules_key, version=row.number, **told)
