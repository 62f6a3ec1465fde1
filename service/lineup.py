"""Who plays a tournament and what came of its stages so far: rows made into the values that formats read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, and_, func, select

from engine.rules import RuleSet
from service import results
from service.design import Order
from service.formats import FORMATS, Done, Field, Table
from service.standings import Result, whole_groups
from service.tables import bot, entrant, snapshot, version
from service.tables import stage as stage_rows

SEEDING = "elo"  # the model whose ratings seed a knock-out


@dataclass(frozen=True, slots=True)
class Playing:
    """An entrant that can play: its number, who it is and what code it brings."""

    number: int
    bot_id: str
    owner_id: str
    version_id: str


def playing(db: Connection, tournament_id: str) -> list[Playing]:
    """Who can play now, by number: the version named, or the newest that is ready; no version twice."""
    query = (
        select(entrant, bot.c.owner_id)
        .join(bot, bot.c.id == entrant.c.bot_id)
        .where(entrant.c.tournament_id == tournament_id, ~entrant.c.filler)
        .order_by(entrant.c.number)
    )
    entries = db.execute(query).all()
    ready = newest_ready(db, [entry.bot_id for entry in entries])
    found: dict[str, Playing] = {}
    for entry in entries:
        chosen = entry.version_id or ready.get(entry.bot_id)
        if chosen is not None and entry.bot_id in ready and entry.status == "in":
            found.setdefault(chosen, Playing(entry.number, entry.bot_id, entry.owner_id, chosen))
    return list(found.values())


def newest_ready(db: Connection, bot_ids: Sequence[str]) -> dict[str, str]:
    """The newest ready version of each bot that has one and is not retired."""
    query = (
        select(version.c.bot_id, version.c.id)
        .join(bot, and_(bot.c.id == version.c.bot_id, bot.c.retired_at.is_(None)))
        .where(version.c.bot_id.in_(bot_ids), version.c.status == "ready")
        .order_by(version.c.number)
    )
    return {row.bot_id: row.id for row in db.execute(query)}


def before(db: Connection, row: "Row[Any]", ready: Sequence[Playing]) -> Field:
    """The field as it stands before the start, with everybody's rating in the tournament's pool."""
    newest = select(func.max(snapshot.c.id)).where(
        snapshot.c.rules_key == row.rules_key, snapshot.c.players == row.players, snapshot.c.model == SEEDING
    )
    body = db.scalar(select(snapshot.c.body).where(snapshot.c.id == newest.scalar_subquery())) or []
    rated = {line["version_id"]: float(line["rating"]) for line in body}
    numbers = {each.number: each for each in ready}
    return replace(
        frame(row),
        entrants=tuple(numbers),
        challenger=_challenger(row, ready),
        ratings={n: rated[each.version_id] for n, each in numbers.items() if each.version_id in rated},
        owners={n: each.owner_id for n, each in numbers.items()},
    )


def now(db: Connection, row: "Row[Any]") -> Field:
    """The field of a tournament that has begun: who started, and who has left since."""
    query = (
        select(entrant, bot.c.owner_id)
        .join(bot, bot.c.id == entrant.c.bot_id)
        .where(entrant.c.tournament_id == row.id, ~entrant.c.filler)
        .order_by(entrant.c.number)
    )
    plan = row.plan or {}
    started = plan.get("entrants")
    listed = [each for each in db.execute(query) if started is None or each.number in set(started)]
    return replace(
        frame(row),
        entrants=tuple(each.number for each in listed),
        challenger=plan.get("challenger"),
        gone=frozenset(each.number for each in listed if each.status != "in"),
        owners={each.number: each.owner_id for each in listed},
        prepared=plan.get("prepared", {}),
    )


def done(db: Connection, row: "Row[Any]") -> list[Done]:
    """What came of all stages so far."""
    query = select(stage_rows).where(stage_rows.c.tournament_id == row.id).order_by(stage_rows.c.number)
    size = row.players if row.duplicate else 1
    found: dict[int, list[Result]] = {}
    for each in whole_groups((each.result for each in results.of_tournament(db, row.id)), size):
        found.setdefault(each.group, []).append(each)
    return [
        Done(
            kind=each.kind,
            tables=tuple(
                table_of(tuple(order), found.get(each.first_group + index, []))
                for index, order in enumerate(each.tables)
            ),
            byes=tuple(each.byes),
        )
        for each in db.execute(query)
    ]


def expected(row: "Row[Any]", count: int) -> int:
    """How many matches a tournament comes to with `count` entrants; takes seconds, perhaps."""
    numbers = tuple(range(count))
    field = replace(frame(row), entrants=numbers, challenger=0 if row.challenger else None)
    field = replace(field, prepared=FORMATS[row.format].prepare(field))
    return FORMATS[row.format].groups(field) * (field.size if field.duplicate else 1)


def table_of(order: Order, played: Sequence[Result]) -> Table:
    """What came of a deal group, whose matches are given if all of them were played."""
    points: dict[int, int] = dict.fromkeys(order, 0) if played else {}
    exact = dict(points)
    for result in played:
        for who, counted, bids in zip(result.entrants, result.counted, result.exact_bids, strict=True):
            if who in points:
                points[who] += counted
                exact[who] += bids
    return Table(order, points, exact, len(played))


def frame(row: Any) -> Field:
    """The field of a tournament, but for who plays."""
    rules = RuleSet.parse(row.rules, row.players)
    size = len(rules.teams.seats) if rules.teams else row.players
    return Field(
        size=size,
        least=size if rules.teams else rules.min_players,
        entrants=(),
        seed=row.seed.encode(),
        deals=row.deals,
        duplicate=row.duplicate,
        meetings=row.meetings,
        stages=row.stages,
        apart=row.apart,
    )


def _challenger(row: "Row[Any]", ready: Sequence[Playing]) -> int | None:
    named = [each.number for each in ready if row.challenger in (each.bot_id, each.version_id)]
    return named[0] if named else None
