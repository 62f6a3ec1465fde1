"""A comparison as it is asked for, checked in every field at once; and who sits where in its matches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, select

from engine.rules import RuleSet
from service import lineup, reading, usual
from service.design import Dice, Order
from service.errors import Invalid
from service.limits import Limits
from service.sprt import FEWEST, Hypotheses
from service.tables import bot, version
from service.work import Arena

COMPARISON = "comparison"  # the format of its tournament's row
A, B = 0, 1  # their numbers as entrants; the field's follow
GAMES = 2  # a group
MOST_GROUPS = 20_000
MOST_FIELD = 30
FARTHEST = 400.0  # Elo
LEAST_RISK, MOST_RISK = 0.001, 0.3


@dataclass(frozen=True, slots=True)
class Contest:
    """A comparison that can be played; `a`, `b` and `field` are versions."""

    name: str
    a: str
    b: str
    field: tuple[str, ...]
    rules: RuleSet
    players: int
    limits: Limits
    hypotheses: Hypotheses
    cap: int
    seed: str


def read(arena: Arena, told: Mapping[str, Any]) -> Contest:
    """The contest behind a request's body; raises `Invalid` with all that is wrong."""
    wrong: dict[str, list[str]] = {}
    with arena.read() as db:
        a, b, *field = _versions(db, told, wrong)
        name = f"{_called(db, a)} against {_called(db, b)}"
    players = reading.whole(told, "players", usual.SEATS, 2, 11, wrong)
    rules = reading.rules(told.get("rules", {"preset": usual.PRESET}), players, wrong)
    if rules is not None and rules.teams is not None:
        wrong["rules.teams"] = ["bots are compared each for itself; leave it out"]
    limits = reading.attempt(wrong, lambda: Limits.parse(told.get("limits") or {}))
    seed = reading.seed(told.get("seed"), wrong)
    hypotheses = _hypotheses(told, wrong)
    cap = reading.whole(told, "cap", usual.CAP, FEWEST, MOST_GROUPS, wrong)
    if "field" not in wrong and (reason := _bad_field(players, len(field))):
        wrong["field"] = [reason]
    if wrong or rules is None or limits is None:
        raise Invalid(wrong)
    return Contest(name, a, b, tuple(field), rules, players, limits, hypotheses, cap, seed)


def bot_of(version_id: str) -> str:
    """The bot of a version."""
    return version_id.partition(":")[0]


@lru_cache(maxsize=4)  # one part is asked for after another
def orders(players: int, bots: int, seed: str, groups: int) -> Sequence[tuple[Order, Order]]:
    """Who sits where in both matches of each group, of so many bots: A, B and the field."""
    dice = Dice(COMPARISON.encode(), seed.encode())
    return [seats(players, bots - 2, dice) for _ in range(groups)]


def seats(players: int, field: int, dice: Dice) -> tuple[Order, Order]:
    """The two matches of a group: A (0) and B (1) exchange seats, all else stays, the cards too.

    Without a field they sit alternately. With one, they and as many of it as there is room for (from 2 on, a
    fresh choice) sit in any order.
    """
    if not field:
        first = tuple(seat % 2 for seat in range(players))
    else:
        others = dice.shuffled(range(2, 2 + field))[: players - 2]
        first = tuple(dice.shuffled([0, 1, *others]))
    return first, tuple({0: 1, 1: 0}.get(each, each) for each in first)


def _bad_field(players: int, field: int) -> str | None:
    if field and players == 2:
        return "there is no room for others at a table of two; leave it out, or take more players"
    if field and field < players - 2:
        return f"must name {players - 2} bots or more for the other seats of a table of {players}, or none"
    if not field and players % 2:
        return f"a table of {players} needs {players - 2} other bots here, or an even number of players"
    return None


def _versions(db: Connection, told: Mapping[str, Any], wrong: dict[str, list[str]]) -> list[str]:
    """The versions of a, b and the field, or what is wrong with each."""
    field = told.get("field") or ()
    if len(field) > MOST_FIELD:
        wrong["field"] = [f"must be at most {MOST_FIELD} bots"]
        field = ()
    places = ["a", "b", *(f"field.{index}" for index in range(len(field)))]
    found: list[str] = []
    for place, text in zip(places, [told.get("a"), told.get("b"), *field], strict=True):
        chosen, reason = _version(db, text) if text else ("", "is missing")
        if reason is None and chosen in found:
            reason = f"{_called(db, chosen)} is named twice; name another bot or version"
        if reason is not None:
            wrong[place] = [reason]
        found.append(chosen)
    return found


def _called(db: Connection, version_id: str) -> str:
    bot_id, _, number = version_id.partition(":")
    return f"{db.scalar(select(bot.c.name).where(bot.c.id == bot_id))} v{number}"


def _version(db: Connection, text: str) -> tuple[str, str | None]:
    """A ready version's id; or what is wrong with the text."""
    bot_id, colon, number = text.partition(":")
    row = db.execute(select(bot).where(bot.c.id == bot_id)).first()
    if row is None:
        return text, f"no bot {bot_id[:60]}"
    if row.retired_at is not None:
        return text, f"{row.name} is retired"
    if not colon:
        newest = lineup.newest_ready(db, [bot_id]).get(bot_id)
        return newest or text, None if newest else f"{row.name} has no ready version"
    status = db.scalar(select(version.c.status).where(version.c.id == text))
    if status is None:
        return text, f"{row.name} has no version {number[:20]}"
    return text, None if status == "ready" else f"this version of {row.name} is {status}, it must be ready"


def _hypotheses(told: Mapping[str, Any], wrong: dict[str, list[str]]) -> Hypotheses:
    usual = Hypotheses()
    elo0, elo1 = (
        _number(told, name, getattr(usual, name), -FARTHEST, FARTHEST, wrong) for name in ("elo0", "elo1")
    )
    alpha, beta = (
        _number(told, name, getattr(usual, name), LEAST_RISK, MOST_RISK, wrong) for name in ("alpha", "beta")
    )
    if not {"elo0", "elo1"} & wrong.keys() and elo1 < elo0 + 1:
        wrong["elo1"] = [f"must be at least 1 more than elo0, which is {elo0:g}"]
    return Hypotheses(elo0, elo1, alpha, beta)


def _number(
    told: Mapping[str, Any], field: str, usual: float, low: float, high: float, wrong: dict[str, list[str]]
) -> float:
    value = told.get(field, usual)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        wrong[field] = [f"must be a number from {low:g} to {high:g}"]
        return usual
    return float(value)
