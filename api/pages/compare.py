"""Is one bot better than another? Comparisons: the latest, one as it goes on, a form for the next."""

from collections.abc import Sequence
from typing import Any

from flask import Response, render_template, request, url_for

from api.context import account, arena, caller
from api.pages import forms
from api.pages.forms import Form
from api.pages.organise import offered, whole
from api.pages.plots import Scale
from api.pages.site import blp
from api.schemas.comparisons import NewComparison
from engine.rules import PRESETS
from service import bots, comparisons, usual
from service.bots import Bot
from service.comparisons import Comparison
from service.sprt import FEWEST
from service.stages import OVER

ONE = "/compare/<id:comparison_id>"
LISTED = 20
EARLIER = 5  # versions of a bot offered besides its newest
WIDTH = 800  # of the picture of a test
VERDICTS = {
    "accepted": "{a} is better than {b}.",
    "rejected": "{a} is not better than {b}.",
    "undecided": "Too close: it could not be told whether {a} is better than {b}.",
}


@blp.get("/compare")
def compare() -> str:
    """The latest comparisons, and a form for who is signed in."""
    return _page(Form(typed={name: request.args[name] for name in ("a", "b") if name in request.args}))


@blp.post("/compare")
def start_comparison() -> Response:
    """Begin one."""
    account()
    return forms.answer(_started, _page, {**forms.typed(), "field": request.form.getlist("field")})


@blp.get(ONE)
def comparison(comparison_id: str) -> str:
    """One comparison; with `part=live` only what moves."""
    found = comparisons.find(arena(), comparison_id)
    who = caller()
    live = request.args.get("part") == "live"
    facts: dict[str, Any] = {
        "found": found,
        "over": found.status in OVER,
        "verdict": VERDICTS.get(found.verdict or ""),
        "mine": who is not None and who.name == found.owner,
        "scale": Scale(found.lower, found.upper, WIDTH / 8, WIDTH * 7 / 8),
        "width": WIDTH,
        "fewest": FEWEST,
    }
    return render_template("comparison-live.html" if live else "comparison.html", **facts)


@blp.post(f"{ONE}/cancel")
def cancel_comparison(comparison_id: str) -> Response:
    """Stop it without a verdict."""
    comparisons.cancel(arena(), account(), comparison_id)
    return forms.go(url_for("pages.comparison", comparison_id=comparison_id))


def _started() -> str:
    made: Comparison = comparisons.create(arena(), account(), forms.load(NewComparison, wanted()))
    return url_for("pages.comparison", comparison_id=made.id)


def wanted() -> dict[str, Any]:
    """The body that the API would get for this form."""
    told = request.form
    values: dict[str, Any] = {"a": told.get("a", ""), "b": told.get("b", "")}
    values |= {name: whole(told[name]) for name in ("players", "cap") if told.get(name)}
    values |= {name: _number(told[name]) for name in ("elo0", "elo1") if told.get(name)}
    values["rules"] = {"preset": told.get("preset", usual.PRESET)}
    return values | ({"field": told.getlist("field")} if told.getlist("field") else {})


def _number(text: str) -> Any:
    """A number if it is one; else the text, which the schema refuses by name."""
    try:
        return float(text)
    except ValueError:
        return text


def _page(form: Form) -> str:
    latest = comparisons.comparisons(arena(), limit=LISTED)
    facts: dict[str, Any] = {"form": form, "page": latest, "fewest": FEWEST, "usual": usual}
    if caller() is not None:
        listed = offered()
        facts |= {"bots": listed, "earlier": _earlier(listed), "presets": list(PRESETS.values())}
    return render_template("compare.html", **facts)


def _earlier(listed: Sequence[Bot]) -> dict[str, list[int]]:
    """The ready versions before the newest of the reader's own bots, the latest few of each."""
    own = [bot.id for bot in listed if bot.owner_id == account().id]
    ready = bots.ready_versions(arena(), own)
    return {
        bot.id: [number for number in ready.get(bot.id, []) if number < bot.version][:EARLIER]
        for bot in listed
    }
