"""A tournament as it is asked for: read, checked in every field at once, and made into values."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, exists, select

from engine.rules import RuleSet
from service import entries, names, reading, usual
from service.entries import Entry
from service.errors import Invalid
from service.formats import FORMATS, Field
from service.limits import Limits
from service.reading import DRAFT, MANUAL, MOST_ENTRANTS, Opening, Start, Wrong
from service.tables import bot
from service.work import Arena

__all__ = ["DRAFT", "MANUAL", "MOST_ENTRANTS", "Entry", "Spec", "read", "written"]

NAMES = tuple(FORMATS)
SAME_OWNER = ("any", "apart")
MOST_DEALS = 10_000
MOST_MEETINGS = 100
MOST_STAGES = 100
ONLY = {  # fields that mean something in some formats only
    "meetings": ("round_robin", "gauntlet"),
    "stages": ("swiss",),
    "challenger": ("gauntlet",),
    "same_owner": ("swiss", "knockout", "gauntlet", "ladder"),
}
Past = Collection[datetime | None]
DEFAULTS = {"meetings": usual.MEETINGS, "same_owner": "any"}


@dataclass(frozen=True, slots=True)
class Spec:
    """A tournament that can be played. `prepared`: what its format worked out for these entrants.

    `total`: its matches, by forecast where results decide, for as many as may enter.
    """

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
    start: Start
    stages: int | None
    challenger: str | None
    apart: bool
    repeat: str | None
    entry: Opening
    prepared: Mapping[str, Any]
    total: int

    @property
    def start_at(self) -> datetime | None:
        """The time, or None: when its owner says so."""
        return self.start.at


def read(arena: Arena, told: Mapping[str, Any], *, past: Past = ()) -> Spec:
    """The spec behind a request's body; raises `Invalid` with all that is wrong.

    `past`: the start and the deadline for entries that it has already, which may be over. Only looks at the
    database, and not while it searches for a schedule, which can take seconds.
    """
    wrong: Wrong = {}
    with arena.read() as db:
        values = _values(arena, db, told, wrong, past)
    if wrong:
        raise Invalid(wrong)
    field = _field(values)
    _room(arena, _least(values["format"], field), values["entry"])
    field = _field(values, FORMATS[values["format"]].prepare(field))
    total = matches(values["format"], field)
    _room(arena, total, values["entry"])
    return Spec(**values, prepared={} if values["entry"].open else field.prepared, total=total)


def faults(arena: Arena, told: Mapping[str, Any], known: Collection[str]) -> Wrong:
    """What else is wrong with a request of which some fields are `known` to be wrong, and are left out."""
    wrong: Wrong = {field: [] for field in known}
    with arena.read() as db:
        _values(arena, db, {field: value for field, value in told.items() if field not in known}, wrong)
    return {field: told for field, told in wrong.items() if told and field.partition(".")[0] not in known}


def matches(format_name: str, field: Field) -> int:
    """How many matches there will be in all: exact, or a forecast where results decide."""
    return FORMATS[format_name].groups(field) * (field.size if field.duplicate else 1)


def written(row: "Row[Any]", listed: "list[Row[Any]]") -> dict[str, Any]:
    """The request that would give this tournament; `listed` are its entrants' rows."""
    same = ("name", "format", "rules", "players", "deals", "duplicate", "meetings", "stages", "challenger")
    entry = {"open": row.entry_open, "limit": row.entry_limit, "deadline": row.entry_deadline}
    return {
        **{name: getattr(row, name) for name in same},
        "entrants": [each.version_id or each.bot_id for each in listed if each.status == "in"],
        "limits": row.limits,
        "seed": row.seed,
        "start_at": DRAFT if row.status == "draft" else row.start_at or MANUAL,
        "same_owner": SAME_OWNER[row.apart],
        "repeat": row.repeat,
        "entry": {key: value for key, value in entry.items() if value is not None},
    }


def _values(
    arena: Arena, db: Connection, told: Mapping[str, Any], wrong: Wrong, past: Past = ()
) -> dict[str, Any]:
    now = arena.clock()
    players = reading.whole(told, "players", usual.PLAYERS, 2, 11, wrong)
    repeat = reading.repeat(told.get("repeat"), wrong)
    start = reading.start(told.get("start_at"), repeat, wrong, now, past=past)
    entry = reading.opening(told.get("entry"), len(told.get("entrants", ())), start, wrong, now, past=past)
    entered = entries.listed(db, told.get("entrants", ()), wrong, least=0 if entry.open else 2)
    stages = None if told.get("stages") is None else reading.whole(told, "stages", 1, 1, MOST_STAGES, wrong)
    values = {
        "name": reading.attempt(wrong, lambda: names.line("name", told.get("name", ""), 120)),
        "format": reading.one_of(told, "format", NAMES, wrong),
        "entries": entered,
        "rules": reading.rules(told.get("rules", {"preset": usual.PRESET}), players, wrong),
        "players": players,
        "deals": reading.whole(told, "deals", usual.DEALS, 1, MOST_DEALS, wrong),
        "duplicate": told.get("duplicate", usual.DUPLICATE),
        "meetings": reading.whole(told, "meetings", usual.MEETINGS, 1, MOST_MEETINGS, wrong),
        "limits": reading.attempt(wrong, lambda: Limits.parse(told.get("limits") or {})),
        "seed": reading.seed(told.get("seed"), wrong),
        "start": start,
        "stages": stages,
        "challenger": told.get("challenger"),
        "apart": reading.one_of(told, "same_owner", SAME_OWNER, wrong) == "apart",
        "repeat": repeat,
        "entry": entry,
    }
    _fits(told, values, wrong)
    if not entry.open:
        _enough(db, values, wrong)
    return values


def _fits(told: Mapping[str, Any], values: Mapping[str, Any], wrong: Wrong) -> None:
    """Fields that belong to other formats, and a challenger that is one of the entrants."""
    for field, formats in ONLY.items():
        given = told.get(field, DEFAULTS.get(field)) != DEFAULTS.get(field)
        if given and "format" not in wrong and values["format"] not in formats:
            wrong.setdefault(field, [f"is for {' and '.join(formats)} only; leave it out"])
    if values["format"] == "gauntlet" and _challenger(values) is None:
        wrong["challenger"] = ["must be one of the entrants, the bot that meets all others"]


def _enough(db: Connection, values: Mapping[str, Any], wrong: Wrong) -> None:
    """Too few for a table are fine where a house bot can fill the seats."""
    rules: RuleSet | None = values["rules"]
    size = len(rules.teams.seats) if rules and rules.teams else values["players"]
    few = len(values["entries"]) < size and not {"entrants", "players"} & wrong.keys()
    if few and not db.scalar(select(exists().where(bot.c.house, bot.c.retired_at.is_(None)))):
        count = len(values["entries"])
        wrong["entrants"] = [f"a table of {size} needs at least {size} entrants, here are {count}"]


def _field(values: Mapping[str, Any], prepared: Mapping[str, Any] | None = None) -> Field:
    """The field, entrants numbered as they are listed, or as many as may enter."""
    rules: RuleSet = values["rules"]
    size = len(rules.teams.seats) if rules.teams else values["players"]
    count = values["entry"].limit if values["entry"].open else len(values["entries"])
    return Field(
        size=size,
        least=size if rules.teams else rules.min_players,
        entrants=tuple(range(count)),
        seed=values["seed"].encode(),
        challenger=_challenger(values),
        prepared=prepared or {},
        **{name: values[name] for name in ("deals", "duplicate", "meetings", "stages", "apart")},
    )


def field_of(made: Spec) -> Field:
    """The field of a spec, before anybody knows who is there at the start; for dry runs."""
    return _field({name: getattr(made, name) for name in Spec.__slots__}, made.prepared)


def _challenger(values: Mapping[str, Any]) -> int | None:
    told = values["challenger"]
    found = [n for n, each in enumerate(values["entries"]) if told in (each.bot_id, each.version_id)]
    return found[0] if found and told is not None else None


def _least(format_name: str, field: Field) -> int:
    """A bound below the matches of a round robin that needs no search."""
    if format_name != "round_robin":
        return 0
    n, k = len(field.entrants), field.size
    tables = -(-field.meetings * n * (n - 1) // (k * (k - 1)))
    return tables * field.deals * (k if field.duplicate else 1)


def _room(arena: Arena, total: int, entry: Opening) -> None:
    most = arena.settings.max_matches
    if total > most:
        full = f" with a full field of {entry.limit:,}" if entry.open else ""
        few = f"at most {most:,} are allowed; take fewer deals or {'let fewer enter' if full else 'entrants'}"
        raise Invalid({"deals": [f"this makes {total:,} matches{full}, {few}"]})
