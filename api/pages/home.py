"""The front page: what this is, what goes on now, who is best, how to join."""

from typing import Any

from flask import render_template, request

from api.context import arena, caller
from api.pages.site import blp
from api.tournaments import added_up
from service import folds, rankings, tournaments
from service.folds import StandingRow
from service.rankings import Pool
from service.tournaments import Tournament

TOP = 10
SHOWN = 5


@blp.get("/")
def home() -> str:
    """What this is, what runs now, who is best, how to join."""
    shown: dict[str, Any] = {"address": request.host_url.rstrip("/")}
    if arena().settings.public_read or caller() is not None:
        pools = rankings.pools(arena())
        busiest = pools[0] if pools else Pool("fundex", 4, 0)
        shown["ranking"] = rankings.rankings(arena(), rules=busiest.rules, players=busiest.players)
        items = shown["ranking"].items
        shown["ranked"] = [line for line in items if line.place is not None or line.provisional][:TOP]
        shown["running"] = tournaments.tournaments(arena(), status="running", limit=SHOWN).items
        finished = tournaments.tournaments(arena(), status="finished", limit=SHOWN).items
        shown["finished"] = [(each, _winners(each)) for each in finished]
    return render_template("home.html", **shown)


def _winners(over: Tournament) -> list[StandingRow]:
    """Who has the first place; several may share it."""
    return [line for line in added_up(folds.standings_of, over) if line.place == 1]
