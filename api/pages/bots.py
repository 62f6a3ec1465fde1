"""Bots to be looked at: the list, and one with its versions, ratings, opponents and, to its owner, faults."""

from typing import Any

from flask import current_app, render_template, request

from api.context import arena, caller
from api.kept import Kept
from api.pages import plots
from api.pages.site import blp
from service import bots, faults, opponents, rankings
from service import report as reports
from service.bots import Bot
from service.faults import BotFault
from service.rankings import RatingPoint

LISTED = 50
FAULTS = 20
POINTS = 120  # of a rating's history that are drawn


@blp.get("/bots")
def bot_list() -> str:
    """Bots, newest first."""
    name = request.args.get("q", "").strip()[:200] or None
    owner = request.args.get("owner", "").strip()[:200] or None
    page = bots.bots(
        arena(), caller(), name=name, owner=owner, limit=LISTED, cursor=request.args.get("cursor")
    )
    return render_template("bot-list.html", page=page, name=name, owner=owner)


@blp.get("/bots/<id:bot_id>")
def bot(bot_id: str) -> str:
    """One bot."""
    shown = bots.bot(arena(), caller(), bot_id)
    who = caller()
    mine = who is not None and who.may_change(shown.owner_id)
    history = rankings.history(arena(), bot_id)
    facts: dict[str, Any] = {
        "bot": shown,
        "mine": mine,
        "opponents": _opponents(bot_id, history),
        "pools": _pools(history),
        "reports": {each.number: reports.text(each.report) for each in shown.versions if each.report},
        "faults": _faults(shown) if mine else [],
    }
    return render_template("bot.html", **facts)


def _opponents(bot_id: str, history: list[RatingPoint]) -> list[opponents.Opponent]:
    """Added up anew when its ratings were, and now and then."""
    kept: Kept = current_app.extensions["kept"]
    known = history[-1].at if history else None
    return kept.get(
        ("opponents", bot_id), known, -1 if known is None else 0, lambda: opponents.opponents(arena(), bot_id)
    )


def _pools(history: list[RatingPoint]) -> list[dict[str, Any]]:
    """For every pool it was rated in: where it stands, and a picture of how it came there."""
    found: dict[tuple[str, int], list[RatingPoint]] = {}
    for point in history:
        found.setdefault((point.rules, point.players), []).append(point)
    return [
        {"rules": rules, "players": players, "now": points[-1], "plot": _plot(points)}
        for (rules, players), points in found.items()
    ]


def _plot(points: list[RatingPoint]) -> plots.Plot | None:
    versions: dict[int, list[RatingPoint]] = {}
    for point in points:
        versions.setdefault(point.version, []).append(point)
    lines = [_line(f"version {number}", each) for number, each in versions.items()]
    if max(len(line.points) for line in lines) < 2:
        return None
    return plots.plot(lines, x="time", y="rating", across=plots.days(lines))


def _line(name: str, points: list[RatingPoint]) -> plots.Line:
    kept = points[:: max(1, len(points) // POINTS)]
    if kept[-1] is not points[-1]:
        kept = [*kept, points[-1]]
    return plots.Line(
        name,
        [(each.at.timestamp(), each.rating) for each in kept],
        low=[each.rating if each.low is None else each.low for each in kept],
        high=[each.rating if each.high is None else each.high for each in kept],
    )


def _faults(shown: Bot) -> list[tuple[int, list[BotFault]]]:
    """Its newest versions with what went wrong lately."""
    who = caller()
    assert who is not None
    found = [
        (each.number, faults.of_version(arena(), who, shown.id, each.number, limit=FAULTS).items)
        for each in shown.versions[:3]
    ]
    return [(number, faults) for number, faults in found if faults]
