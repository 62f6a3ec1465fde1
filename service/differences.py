"""Who is better than whom, by what the newest snapshot of a pool knows of differences."""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from service.errors import Invalid, NotFound
from service.estimate import Estimate
from service.rating_models import MODELS
from service.tables import bot, estimate, snapshot, version


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two."""

    bot_id: str
    bot: str
    version: int
    rating: float


@dataclass(frozen=True, slots=True)
class Differences:
    """a against b: `difference` with its 95 % interval `low` to `high`, in the model's unit.

    `p_better`: the probability that a is better; `matches` together, and `score`, a's share of their points
    (1 for the better place, 1/2 for the same). Not to be had from the two bots' own intervals.
    """

    rules: str
    players: int
    model: str
    unit: str
    snapshot: str
    a: Side
    b: Side
    difference: float
    low: float | None
    high: float | None
    p_better: float | None
    matches: int
    score: float | None


def compare(db: Connection, rules: str, players: int, model: str, a: str, b: str) -> Differences:
    """See `rankings.compare`."""
    row = _newest(db, rules, players, model)
    one, other = (_find(db, row, name, rules, players) for name in (a, b))
    if one.id == other.id:
        raise Invalid({"b": ["must be another bot, or another version"]})
    found = _read(row)
    pair = found.compare(one.id, other.id)
    rating = dict(zip(found.players, found.ratings.tolist(), strict=True))
    return Differences(
        rules=rules,
        players=players,
        model=model,
        unit=MODELS[model].unit,
        snapshot=str(row.snapshot_id),
        a=Side(one.bot_id, one.name, one.number, round(rating[one.id], 2)),
        b=Side(other.bot_id, other.name, other.number, round(rating[other.id], 2)),
        difference=round(pair.difference, 2),
        low=None if pair.low is None else round(pair.low, 2),
        high=None if pair.high is None else round(pair.high, 2),
        p_better=None if pair.p_better is None else round(pair.p_better, 4),
        matches=pair.games,
        score=None if pair.score is None else round(pair.score, 4),
    )


def anchored(db: Connection, rules: str, players: int, model: str, anchor: str) -> dict[str, dict[str, Any]]:
    """Each version's rating, low and high if the anchor's rating were the mean."""
    row = _newest(db, rules, players, model)
    found = _read(row)
    fixed = _find(db, row, anchor, rules, players).id
    margins = found.margins_from(fixed)
    mean = MODELS[model].parameters.get("mean", MODELS[model].parameters.get("start", 0.0))
    shifted = found.ratings - found.ratings[found.players.index(fixed)] + mean
    return {
        str(player): {
            "rating": round(float(shifted[i]), 2),
            "low": None if margins is None else round(float(shifted[i] - margins[i]), 2),
            "high": None if margins is None else round(float(shifted[i] + margins[i]), 2),
        }
        for i, player in enumerate(found.players)
    }


def _newest(db: Connection, rules: str, players: int, model: str) -> Any:
    of_it = (estimate.c.rules_key == rules, estimate.c.players == players, estimate.c.model == model)
    query = select(estimate, snapshot.c.body).join(snapshot, snapshot.c.id == estimate.c.snapshot_id)
    row = db.execute(query.where(*of_it)).first()
    if row is None:
        raise NotFound(f"no rated matches yet of {rules} with {players} at a table")
    return row


def _read(row: Any) -> Estimate:
    with np.load(io.BytesIO(row.arrays), allow_pickle=False) as arrays:
        covariance = arrays["covariance"]
        none = np.zeros(len(row.versions), dtype=np.int64)
        return Estimate(
            players=tuple(row.versions),
            ratings=arrays["ratings"],
            covariance=covariance if covariance.size else None,
            games=none,
            groups=none,
            forfeits=none,
            half_points=arrays["half_points"],
            wide=np.inf,
            told={},
        )


def _find(db: Connection, row: Any, name: str, rules: str, players: int) -> Any:
    """The version that a bot, or BOT:VERSION, stands for in this pool."""
    bot_id, _, _ = name.partition(":")
    query = (
        select(version.c.id, version.c.bot_id, version.c.number, bot.c.name)
        .join(bot, bot.c.id == version.c.bot_id)
        .where(version.c.bot_id == bot_id)
        .order_by(version.c.number.desc())
    )
    known = db.execute(query).all()
    if not known:
        raise NotFound(f"no bot {bot_id}")
    wanted = {name, *(row.versions if name == bot_id else ())}
    for each in known:
        if each.id in wanted and each.id in row.versions:
            return each
    called = f"{known[0].name}{name.removeprefix(bot_id).replace(':', ' v')}"
    raise NotFound(f"{called} has no rated matches of {rules} with {players} at a table")
