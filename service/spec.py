"""A tournament as it is asked for: read, checked in every field at once, and made into values."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from engine.errors import RulesError
from engine.rules import RuleSet
from service import lineup, names, schedule
from service.errors import Invalid
from service.limits import Limits
from service.tables import bot, version
from service.work import Arena

MANUAL = "manual"
FORMATS = ("round_robin",)
MOST_ENTRANTS = 500
MOST_DEALS = 10_000
MOST_MEETINGS = 4
LARGE_TABLE, MOST_AT_LARGE = 8, 60  # above eight seats the search for a fair schedule takes long


@dataclass(frozen=True, slots=True)
class Entry:
    """An entrant: a bot, and the version if one was named (else its newest ready one, at the start)."""

    bot_id: str
    version_id: str | None


@dataclass(frozen=True, slots=True)
class Spec:
    """A tournament that can be played. `start_at` None: when its owner says so."""

    name: str
    format: str
    entries: tuple[Entry, ...]
    rules: RuleSet
    players: int
    deals: int
    duplicate: bool
    meetings: int
    limits: Limits
    seed: str
    start_at: datetime | None
    total: int


def read(arena: Arena, told: Mapping[str, Any]) -> Spec:
    """The spec behind a request's body; raises `Invalid` with all that is wrong.

    Only looks at the database: the search for a schedule can take seconds, and holds nobody up.
    """
    with arena.read() as db:
        return _read(arena, db, told)


def _read(arena: Arena, db: Connection, told: Mapping[str, Any]) -> Spec:
    wrong: dict[str, list[str]] = {}
    entries = _entries(db, told.get("entrants", ()), wrong)
    players = _whole(told, "players", 4, 2, 11, wrong)
    deals = _whole(told, "deals", 1, 1, MOST_DEALS, wrong)
    meetings = _whole(told, "meetings", 1, 1, MOST_MEETINGS, wrong)
    values = {
        "name": _try(wrong, lambda: names.line("name", told.get("name", ""), 120)),
        "format": _format(told.get("format", FORMATS[0]), wrong),
        "rules": _rules(told.get("rules", {"preset": "fundex"}), players, wrong),
        "limits": _try(wrong, lambda: Limits.parse(told.get("limits") or {})),
        "seed": _seed(told.get("seed"), wrong),
        "start_at": _start(told.get("start_at"), arena.clock(), wrong),
        "duplicate": told.get("duplicate", True),
    }
    if len(entries) < players and not {"entrants", "players"} & wrong.keys():
        wrong["entrants"] = [
            f"a table of {players} needs at least {players} entrants, here are {len(entries)}"
        ]
    if players > LARGE_TABLE and len(entries) > MOST_AT_LARGE:
        wrong["entrants"] = [f"at tables of more than {LARGE_TABLE} at most {MOST_AT_LARGE} may enter"]
    if wrong:
        raise Invalid(wrong)
    total = _total(len(entries), players, meetings, deals, values)
    if total > arena.settings.max_matches:
        most = f"{arena.settings.max_matches:,}"
        raise Invalid(
            {
                "deals": [
                    f"this makes {total:,} matches, at most {most} are allowed; take fewer deals or entrants"
                ]
            }
        )
    return Spec(entries=entries, players=players, deals=deals, meetings=meetings, total=total, **values)


def plan(entrants: int, players: int, meetings: int, seed: str) -> list[list[schedule.Table]]:
    """The tables, block by block: a function of these four alone."""
    return schedule.round_robin(entrants, players, meetings=meetings, seed=seed.encode())


def _total(entrants: int, players: int, meetings: int, deals: int, values: Mapping[str, Any]) -> int:
    tables = sum(map(len, plan(entrants, players, meetings, values["seed"])))
    return tables * deals * (players if values["duplicate"] else 1)


def _entries(db: Connection, told: Sequence[str], wrong: dict[str, list[str]]) -> tuple[Entry, ...]:
    if not 2 <= len(told) <= MOST_ENTRANTS:
        wrong["entrants"] = [f"must name 2 to {MOST_ENTRANTS} bots, each once"]
        return ()
    ids = {each.partition(":")[0] for each in told}
    known = {row.id: row for row in db.execute(select(bot).where(bot.c.id.in_(ids)))}
    status = select(version.c.id, version.c.status).where(version.c.bot_id.in_(ids))
    versions = {row.id: row.status for row in db.execute(status)}
    ready = lineup.newest_ready(db, list(ids))
    seen: set[str] = set()
    for index, each in enumerate(told):
        if reason := _bad_entry(each, known, versions, ready, seen):
            wrong[f"entrants.{index}"] = [reason]
        seen |= {each, _resolved(each, ready)}
    return tuple(Entry(each.partition(":")[0], each if ":" in each else None) for each in told)


def _resolved(each: str, ready: Mapping[str, str]) -> str:
    return each if ":" in each else ready.get(each, each)


def _bad_entry(
    each: str,
    known: Mapping[str, "Row[Any]"],
    versions: Mapping[str, str],
    ready: Mapping[str, str],
    seen: set[str],
) -> str | None:
    bot_id = each.partition(":")[0]
    if bot_id not in known:
        return f"no bot {bot_id[:60]}"
    name = known[bot_id].name
    if known[bot_id].retired_at is not None:
        return f"{name} is retired"
    if ":" in each and each not in versions:
        return f"{name} has no version {each.partition(':')[2][:20]}"
    if ":" in each and versions[each] != "ready":
        return f"this version of {name} is {versions[each]}, it must be ready"
    if ":" not in each and bot_id not in ready:
        return f"{name} has no ready version; see its status and report at /api/v1/bots/{bot_id}"
    return f"{name} is named twice" if {each, _resolved(each, ready)} & seen else None


def _whole(
    told: Mapping[str, Any], field: str, default: int, low: int, high: int, wrong: dict[str, list[str]]
) -> int:
    value = told.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        wrong[field] = [f"must be a whole number from {low} to {high}"]
        return default
    return value


def _format(value: str, wrong: dict[str, list[str]]) -> str:
    if value not in FORMATS:
        wrong["format"] = [f"must be {' or '.join(FORMATS)}"]
    return value


def _rules(told: Mapping[str, Any], players: int, wrong: dict[str, list[str]]) -> RuleSet | None:
    """The rule set, or every field of it that is wrong: each switch is tried alone with the preset."""
    preset = told.get("preset", "fundex")
    tries: list[dict[str, Any]] = [{field: told[field]} for field in told if field != "preset"]
    refusals = [_refusal({"preset": preset}, players)]
    refusals += [_refusal({"preset": "fundex" if refusals[0] else preset, **each}) for each in tries]
    refusals = [each for each in refusals if each is not None] or [
        _refusal({**told, "preset": preset}, players)
    ]
    for refusal in refusals:
        if refusal is not None:
            field = refusal.field if refusal.field in {"players", "rules"} else f"rules.{refusal.field}"
            wrong.setdefault(field, []).append(refusal.reason)
    if any(refusals):
        return None
    rules = RuleSet.parse({**told, "preset": preset}, players)
    if rules.teams is not None:
        wrong["rules.teams"] = ["tournaments of teams are not offered; leave it out"]
    return rules


def _refusal(told: Mapping[str, Any], players: int | None = None) -> RulesError | None:
    try:
        RuleSet.parse(told, players)
    except RulesError as refusal:
        return refusal
    return None


def _seed(value: str | None, wrong: dict[str, list[str]]) -> str:
    if value is None:
        return secrets.token_hex(16)
    return _try(wrong, lambda: names.line("seed", value, 200)) or ""


def _start(value: datetime | str | None, now: datetime, wrong: dict[str, list[str]]) -> datetime | None:
    if value is None:
        return now
    if value == MANUAL:
        return None
    if not isinstance(value, datetime) or value.tzinfo is None:
        wrong["start_at"] = ['must be a time with its zone such as 2030-12-01T18:00:00Z, or "manual"']
        return None
    return max(value, now)


def _try(wrong: dict[str, list[str]], make: Any) -> Any:
    try:
        return make()
    except Invalid as error:
        wrong.update(error.errors)
        return None
