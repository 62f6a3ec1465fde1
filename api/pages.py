"""The two pages there are: what this is and what goes on, and the API's guide, both plain HTML."""

from typing import Any

from flask import Blueprint, Response, current_app, json, make_response, render_template, request

from api import guide
from api.context import arena
from service import rankings, tournaments

blp = Blueprint("pages", __name__)
ABOUT = "Tournaments for programs that play the card game Rage: upload a bot, enter it, see how good it is."
TOP = 10
SHOWN = 5


@blp.get("/")
def home() -> str:
    """What this is, what runs now, who is best, how to join."""
    shown: dict[str, Any] = {"about": ABOUT, "address": request.host_url.rstrip("/")}
    if arena().settings.public_read:
        ranking = rankings.rankings(arena())
        shown["ranked"] = [line for line in ranking.items if line.place is not None][:TOP]
        shown["running"] = tournaments.tournaments(arena(), status="running", limit=SHOWN).items
    return render_template("home.html", **shown)


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
