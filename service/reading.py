"""The fields of a tournament as it is asked for, one reader each: a value, or an entry in `wrong`."""

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from engine.errors import RulesError
from engine.rules import RuleSet
from service import names, series, usual
from service.errors import Invalid

Wrong = dict[str, list[str]]
T = TypeVar("T")
MANUAL, DRAFT = "manual", "draft"
MOST_ENTRANTS = 1_000
LIMIT = 64  # of entrants, where entry is open and nothing else is said
JUST_OVER = timedelta(minutes=5)
A_TIME = "a time with its zone such as 2030-12-01T18:00:00Z"


@dataclass(frozen=True, slots=True)
class Opening:
    """Whether authors may enter their bots themselves, how many in all, and until when (None: the start)."""

    open: bool
    limit: int | None = None
    deadline: datetime | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """When it starts: at a time, or when its owner says so (`at` None); a draft is only its owner's yet."""

    at: datetime | None
    draft: bool = False


def whole(told: Mapping[str, Any], field: str, default: int, low: int, high: int, wrong: Wrong) -> int:
    """A whole number in a range."""
    value = told.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        wrong[field] = [f"must be a whole number from {low} to {high}"]
        return default
    return value


def one_of(told: Mapping[str, Any], field: str, values: tuple[str, ...], wrong: Wrong) -> str:
    """One of a few words, the first if nothing is said."""
    value = told.get(field) or values[0]
    if value not in values:
        wrong[field] = [f"must be one of {', '.join(values)}"]
        return values[0]
    return str(value)


def rules(told: Mapping[str, Any], players: int, wrong: Wrong) -> RuleSet | None:
    """The rule set, or every field of it that is wrong: each switch is tried alone with the preset."""
    preset = told.get("preset", usual.PRESET)
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
    return None if any(refusals) else RuleSet.parse({**told, "preset": preset}, players)


def _refusal(told: Mapping[str, Any], players: int | None = None) -> RulesError | None:
    try:
        RuleSet.parse(told, players)
    except RulesError as refusal:
        return refusal
    return None


def seed(value: str | None, wrong: Wrong) -> str:
    """The seed told, or one drawn."""
    if value is None:
        return secrets.token_hex(16)
    return attempt(wrong, lambda: names.line("seed", value, 200)) or ""


def repeat(value: str | None, wrong: Wrong) -> str | None:
    """A cron line, if any."""
    return None if value is None else attempt(wrong, lambda: series.line("repeat", value))


def start(
    value: datetime | str | None,
    cron: str | None,
    wrong: Wrong,
    now: datetime,
    *,
    past: Collection[datetime | None] = (),
) -> Start:
    """When it starts; what repeats starts at a time, by default the first that its line names.

    A time that is just over means now: forms tell minutes, and clocks differ. One that is long over, and not
    among the `past` ones that it has already, is a mistake that nobody could take back.
    """
    if value is None:
        return Start(series.following(cron, now) if cron else now)
    if value == MANUAL and cron:
        wrong["start_at"] = [f'must be {A_TIME}, "draft", or left out: what repeats starts by itself']
        return Start(None)
    if value in (MANUAL, DRAFT):
        return Start(None, draft=value == DRAFT)
    if not isinstance(value, datetime) or value.tzinfo is None:
        wrong["start_at"] = [f'must be {A_TIME}, "manual" or "draft"']
        return Start(None)
    if value < now - JUST_OVER and value not in past:
        wrong["start_at"] = ["is over already; must be a later time, or left out to start now"]
        return Start(None)
    return Start(max(value, now))


def opening(
    told: Mapping[str, Any] | None,
    entrants: int,
    begin: Start,
    wrong: Wrong,
    now: datetime,
    *,
    past: Collection[datetime | None] = (),
) -> Opening:
    """Whether and how long entry is open; a deadline among the `past` ones it has already may be over."""
    if not told or not told.get("open"):
        return Opening(open=False)
    found: Wrong = {}
    limit = whole(told, "limit", LIMIT, 2, MOST_ENTRANTS, found)
    if found:
        wrong["entry.limit"] = found["limit"]
    elif limit < entrants:
        wrong["entry.limit"] = [f"must be at least {entrants}, the entrants named already"]
    deadline = told.get("deadline")
    if deadline is not None and (not isinstance(deadline, datetime) or deadline.tzinfo is None):
        wrong["entry.deadline"] = [f"must be {A_TIME}"]
        return Opening(True, limit)
    if deadline is not None and deadline <= now and deadline not in past:
        wrong["entry.deadline"] = ["is over already; must be a later time"]
    elif deadline is not None and begin.at is not None and deadline > begin.at:
        wrong["entry.deadline"] = ["must not be later than start_at"]
    if begin.at is not None and begin.at <= now:
        wrong.setdefault("start_at", ['must be a later time, "manual" or "draft" while entry is open'])
    return Opening(True, limit, deadline)


def attempt(wrong: Wrong, make: Callable[[], T]) -> T | None:
    """What `make` gives; its complaints go to `wrong`."""
    try:
        return make()
    except Invalid as error:
        wrong.update(error.errors)
        return None
