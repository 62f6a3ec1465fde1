"""A dry run: what a tournament would be if it were made now. Writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, select

from service import costs, forecast, presence, quotas, schedule, spec
from service.accounts import Account
from service.forecast import Balance, Meetings, Precision
from service.formats import FORMATS
from service.spec import Spec
from service.tables import match, tournament
from service.work import Arena, Work

EVEN = ("round_robin", "swiss")  # everybody plays much the same number of games, whoever enters or wins


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be played. `schedule`, `balance`: None where results, or who enters, decide who meets.

    `workers` are there now; without any, or if its owner is to start it, `finish_at` is None. `waiting`:
    matches of others that wait to be played as well. `full_field`: entry is open, so all is told of as many
    `entrants` as may enter.
    """

    format: str
    entrants: int
    full_field: bool
    players: int
    deals: int
    duplicate: bool
    seed: str
    matches: int
    groups: int
    schedule: str | None
    balance: Balance | None
    precision: Precision | None
    cpu_hours: float
    cpu_basis: str
    match_seconds: float
    workers: int
    waiting: int
    seconds: float | None
    finish_at: datetime | None


def plan(arena: Arena, caller: Account, told: Mapping[str, Any]) -> Plan:
    """The plan behind a request's body; raises `Invalid` just as `tournaments.create` would."""
    made = spec.read(arena, told)
    meetings = _schedule(made)
    with arena.read() as db:
        now = arena.clock()
        quotas.more_matches(arena, Work(db, now), caller, made.total)
        bots = [entry.bot_id for entry in made.entries]
        price = costs.expected(db, bots, made.rules, made.players, made.limits)
        there = sum(worker.mode is not None for worker in presence.workers(db, now))
        others = _others(db, caller)
    seconds = forecast.finish_seconds(made.total, others, price.match_seconds, there) if there else None
    starts = None if made.start_at is None else max(made.start_at, now)
    finish = None if seconds is None or starts is None else starts + timedelta(seconds=seconds)
    return Plan(
        **{name: getattr(made, name) for name in ("format", "players", "deals", "duplicate", "seed")},
        entrants=len(spec.field_of(made).entrants),
        full_field=made.entry.open,
        matches=made.total,
        groups=made.total // (spec.field_of(made).size if made.duplicate else 1),
        schedule=meetings.digest if meetings else None,
        balance=meetings.balance() if meetings else None,
        precision=_precision(made, meetings),
        cpu_hours=made.total * price.cpu_seconds / 3600,
        cpu_basis=price.basis,
        match_seconds=price.match_seconds,
        workers=there,
        waiting=sum(others),
        seconds=seconds,
        finish_at=finish,
    )


def _schedule(made: Spec) -> Meetings | None:
    """All that would be played, if it is known beforehand."""
    format_, field = FORMATS[made.format], spec.field_of(made)
    if not format_.ahead or made.entry.open:
        return None
    meetings, number, first = Meetings(len(made.entries), field.size), 1, 0
    while (stage := format_.stage(field, number, [])) is not None:
        meetings.read(schedule.pairings(stage.tables, duplicate=made.duplicate, first=first))
        number, first = number + 1, first + len(stage.tables)
        if stage.last:
            break
    return meetings


def _precision(made: Spec, meetings: Meetings | None) -> Precision | None:
    if meetings is not None:
        return meetings.precision(duplicate=made.duplicate)
    field = spec.field_of(made)
    if made.format not in EVEN or len(field.entrants) < 2:
        return None
    together = forecast.evenly(len(field.entrants), field.size, made.total)
    return forecast.precision(together, field.size, duplicate=made.duplicate)


def _others(db: Connection, caller: Account) -> Sequence[int]:
    """How many matches wait, by each other owner."""
    query = (
        select(func.count())
        .join(tournament, tournament.c.id == match.c.tournament_id)
        .where(match.c.status == "planned", tournament.c.status == "running")
        .where(tournament.c.owner_id != caller.id)
        .group_by(tournament.c.owner_id)
    )
    return db.scalars(query).all()
