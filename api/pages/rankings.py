"""The rankings of a pool: places, ratings with their intervals, and how places came to be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import current_app, render_template, request

from api import legend
from api.context import arena
from api.kept import Kept
from api.pages import forms, plots
from api.pages.site import blp
from api.schemas.rankings import SnapshotQuery
from service import places, rankings
from service.rankings import Pool, Ranked, Ranking
from service.rating_models import DEFAULT, MODELS

LINES = 100  # unless all are asked for
FOLLOWED = 8  # bots whose places are drawn
QUERY = ("rules", "players", "model", "at")


@dataclass(frozen=True, slots=True)
class Bar:
    """Where a rating and its bounds lie on a line of 200."""

    low: float
    middle: float
    high: float


@blp.get("/rankings")
def ranking() -> str:
    """The rankings of one pool, or of the busiest."""
    pools = rankings.pools(arena())
    found = rankings.rankings(arena(), **asked(pools))
    items = [line for line in found.items if wanted(line)]
    shown = items if "all" in request.args else items[:LINES]
    facts: dict[str, Any] = {
        "ranking": found,
        "pools": pools,
        "bars": bars(shown),
        "items": shown,
        "hidden": len(items) - len(shown),
        "filtered": len(items) < len(found.items),
        "plot": _course(found),
        "args": request.args,
        "models": MODELS.values(),
        "provisional": legend.provisional,
        "number": "%.0f" if found.unit == "Elo" else "%.1f",
    }
    return render_template("rankings.html", **facts)


def asked(pools: Sequence[Pool]) -> dict[str, Any]:
    """Which rankings the address names; the busiest pool's if it names none. Raises `Invalid`."""
    given = {name: request.args[name] for name in QUERY if request.args.get(name)}
    pool = request.args.get("pool", "")
    if pool.count(" ") == 1:
        given["rules"], given["players"] = pool.split(" ")
    if not given.keys() & {"rules", "players"} and pools:
        given |= {"rules": pools[0].rules, "players": str(pools[0].players)}
    return forms.load(SnapshotQuery, given)


def wanted(line: Ranked) -> bool:
    """Whether the filters let a line through."""
    name = request.args.get("q", "").strip().casefold()
    listed = line.place is not None or line.provisional or "old" in request.args
    ours = not (line.house and "nohouse" in request.args)
    return listed and ours and (name in line.bot.casefold() or name in line.owner.casefold())


def bars(items: Sequence[Ranked]) -> list[Bar]:
    """Their intervals on one scale; none without intervals."""
    ends = [(line.low, line.high) for line in items if line.low is not None and line.high is not None]
    if not ends or len(ends) < len(items):
        return []
    scale = plots.Scale(min(low for low, _ in ends), max(high for _, high in ends), 2, 198)
    return [
        Bar(scale(low), scale(line.rating), scale(high))
        for line, (low, high) in zip(items, ends, strict=True)
    ]


def _course(found: Ranking) -> plots.Plot | None:
    """The places of those who lead now, over time; None with nothing to compare."""
    if found.model != DEFAULT:
        return None
    leading = [line.bot_id for line in found.items if line.place is not None][:FOLLOWED]
    kept: Kept = current_app.extensions["kept"]
    courses = kept.get(
        ("courses", found.rules, found.players, *leading),
        found.snapshot,
        0,
        lambda: places.courses(arena(), rules=found.rules, players=found.players, bots=leading),
    )
    lines = [
        plots.Line(each.name, [(at.timestamp(), float(place)) for at, place in each.points])
        for each in courses
        if each.points
    ]
    if max((len(line.points) for line in lines), default=0) < 2:
        return None
    return plots.plot(lines, x="time", y="place", across=plots.days(lines), down=True)
