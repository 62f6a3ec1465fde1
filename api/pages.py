"""The pages there are, plain HTML: what this is and what goes on, how bots are written, the API's guide."""

from typing import Any

from flask import Blueprint, Response, current_app, json, make_response, render_template, request

from api import guide
from api.context import arena
from api.tournaments import added_up
from service import folds, rankings, tournaments, upload
from service.folds import StandingRow
from service.limits import Limits

blp = Blueprint("pages", __name__)
ABOUT = "Tournaments for programs that play the card game Rage: upload a bot, enter it, see how good it is."
TOP = 10
SHOWN = 5


@blp.get("/")
def home() -> str:
    """What this is, what runs now, who is best, how to join."""
    shown: dict[str, Any] = {"about": ABOUT, "address": request.host_url.rstrip("/")}
    if arena().settings.public_read:
        items = rankings.rankings(arena()).items
        shown["ranked"] = [line for line in items if line.place is not None or line.provisional][:TOP]
        shown["running"] = tournaments.tournaments(arena(), status="running", limit=SHOWN).items
        finished = tournaments.tournaments(arena(), status="finished", limit=SHOWN).items
        shown["finished"] = [(each, _winners(each.id)) for each in finished]
    return render_template("home.html", **shown)


def _winners(tournament_id: str) -> list[StandingRow]:
    """Who has the first place; several may share it."""
    return [line for line in added_up(folds.standings_of, tournament_id) if line.place == 1]


@blp.get("/docs/bots")
def bots() -> str:
    """How a bot is written, with all it is told and may do."""
    return render_template(
        "bots.html", limits=Limits(), upload=upload, others=sorted(arena().settings.interpreters)
    )


@blp.get("/docs")
def docs() -> str:
    """The guide to the API."""
    return render_template("docs.html", guide=guide.read(current_app.extensions["openapi"]))


@blp.get("/api/v1/openapi.json")
def openapi() -> Response:
    """The OpenAPI document."""
    answer = make_response(json.dumps(current_app.extensions["openapi"], indent=2))
    answer.mimetype = "application/json"
    answer.add_etag()
    answer.make_conditional(request)
    return answer


@blp.get("/favicon.ico")
def favicon() -> Response:
    """For browsers that ask without being told to."""
    return current_app.send_static_file("favicon.svg")
