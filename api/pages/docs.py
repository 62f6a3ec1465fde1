"""The pages that explain: how bots are written, the API's guide, its document."""

from flask import Response, current_app, json, make_response, render_template

from api import guide, legend
from api.context import arena
from api.pages.site import blp
from service import upload
from service.estimate import FEW_GROUPS
from service.limits import Limits
from service.rating import WIDE
from service.rating_models import MODELS


@blp.get("/docs/bots")
def bots() -> str:
    """How a bot is written, with all it is told and may do."""
    others = sorted(arena().settings.interpreters)
    return render_template("bots.html", limits=Limits(), upload=upload, others=others)


@blp.get("/docs/ratings")
def ratings() -> str:
    """What a rating means, and how sure it is."""
    facts = {
        "few": FEW_GROUPS,
        "wide": round(WIDE),
        "models": MODELS.values(),
        "provisional": legend.provisional,
    }
    return render_template("ratings.html", **facts)


@blp.get("/docs")
def docs() -> str:
    """The guide to the API."""
    return render_template("docs.html", guide=guide.read(current_app.extensions["openapi"]))


@blp.get("/api/v1/openapi.json")
def openapi() -> Response:
    """The OpenAPI document."""
    answer = make_response(json.dumps(current_app.extensions["openapi"], indent=2))
    answer.mimetype = "application/json"
    return answer


@blp.get("/favicon.ico")
def favicon() -> Response:
    """For browsers that ask without being told to."""
    return current_app.send_static_file("favicon.svg")
