"""Tournaments of one's own: made, started, paused, resumed, cancelled."""

from collections.abc import Callable, Mapping
from typing import Any

from flask import Response, make_response, render_template, request, url_for

from api.context import account, arena
from api.pages import allowance, forms
from api.pages.forms import Form
from api.pages.site import blp
from api.schemas.organising import Disqualification, NewEntrant, NewTournament
from engine.rules import PRESETS
from engine.switches import Teams
from service import bots, entries, leaving, plans, tournaments, usual
from service.accounts import Account
from service.bots import Bot
from service.formats import FORMATS
from service.limits import RANGES, Limits
from service.plans import Plan
from service.tournaments import Tournament
from service.work import Arena

CHOICES = 500  # bots a form offers
ACTS: Mapping[str, Callable[[Arena, Account, str], Tournament]] = {
    "start": tournaments.start,
    "pause": tournaments.pause,
    "resume": tournaments.resume,
    "stop": tournaments.stop,
    "cancel": tournaments.cancel,
}
NUMBERS = ("players", "deals", "meetings", "stages")
TEXTS = ("seed", "challenger", "repeat")


@blp.get("/tournaments/new")
def new_tournament() -> str:
    """A form for a tournament."""
    account()
    return _new(Form())


@blp.post("/tournaments/new")
def create_tournament() -> Response:
    """Make it, or only plan it; it starts at once unless it is to wait."""
    account()
    typed = {**forms.typed(), "entrants": request.form.getlist("entrants")}
    act = _planned if request.form.get("act") == "plan" else _created
    return forms.answer(act, _new, typed)


@blp.post("/tournaments/<id:tournament_id>/<any(start, pause, resume, stop, cancel):act>")
def run_tournament(tournament_id: str, act: str) -> Response:
    """Start, pause, resume, stop or cancel."""
    ACTS[act](arena(), account(), tournament_id)
    return _back(tournament_id)


@blp.post("/tournaments/<id:tournament_id>/enter")
def enter_bot(tournament_id: str) -> Response:
    """Enter a bot of one's own, or as its organiser any."""
    entries.enter(arena(), account(), tournament_id, forms.load(NewEntrant, _entrant())["entrant"])
    return _back(tournament_id)


@blp.post("/tournaments/<id:tournament_id>/disqualify")
def disqualify_bot(tournament_id: str) -> Response:
    """Take a bot out, for a reason that everybody is told."""
    reason = forms.load(Disqualification, {"reason": request.form.get("reason", "")})["reason"]
    leaving.disqualify(arena(), account(), tournament_id, request.form.get("entrant", ""), reason)
    return _back(tournament_id)


@blp.post("/tournaments/<id:tournament_id>/withdraw")
def withdraw_bot(tournament_id: str) -> Response:
    """Take a bot of one's own out again."""
    leaving.withdraw(arena(), account(), tournament_id, forms.load(NewEntrant, _entrant())["entrant"])
    return _back(tournament_id)


def _entrant() -> dict[str, str]:
    return {"entrant": request.form.get("entrant", "")}


def _back(tournament_id: str) -> Response:
    return forms.go(url_for("pages.tournament", tournament_id=tournament_id))


def _created() -> str:
    made = tournaments.create(arena(), account(), forms.load(NewTournament, wanted()))
    return url_for("pages.tournament", tournament_id=made.id)


def _planned() -> Response:
    """The form again, with what it would come to."""
    found = plans.plan(arena(), account(), forms.load(NewTournament, wanted()))
    typed = {**forms.typed(), "entrants": request.form.getlist("entrants")}
    return make_response(_new(Form(typed), plan=found))


def wanted() -> dict[str, Any]:
    """The body that the API would get for this form."""
    told = request.form
    values: dict[str, Any] = {"name": told.get("name", ""), "entrants": told.getlist("entrants")}
    values["format"] = told.get("format", usual.FORMAT)
    values |= {name: whole(told[name]) for name in NUMBERS if told.get(name)}
    values["duplicate"] = "duplicate" in told
    values["rules"] = {"preset": told.get("preset", usual.PRESET)}
    values["rules"] |= {"secret_bids": True} if "secret_bids" in told else {}
    values["rules"] |= {"teams": told["teams"]} if told.get("teams") else {}
    limits = {name: whole(told[f"limits_{name}"]) for name in RANGES if told.get(f"limits_{name}")}
    values |= {"limits": limits} if limits else {}
    values |= {name: told[name] for name in TEXTS if told.get(name)}
    values |= {"same_owner": "apart"} if "apart" in told else {}
    if "open" in told:
        limit = {"limit": whole(told["limit"])} if told.get("limit") else {}
        until = {"deadline": _instant(told["deadline"])} if told.get("deadline") else {}
        values["entry"] = {"open": True, **limit, **until}
    when = told.get("when", "now")
    if when != "now":
        values["start_at"] = _instant(told.get("start_at", "")) if when == "at" else when
    return values


def whole(text: str) -> Any:
    """A number if it is one; else the text, which the schema refuses by name."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def _instant(text: str) -> str:
    """What a browser's date field gives, as RFC 3339 in UTC."""
    return f"{text}:00Z" if len(text) == 16 else text


def _new(form: Form, plan: Plan | None = None) -> str:
    choices: dict[str, Any] = {"bots": offered(), "presets": list(PRESETS.values()), "formats": list(FORMATS)}
    choices |= {
        "teams": list(Teams),
        "ranges": RANGES,
        "limits": Limits(),
        "words": allowance.WORDS,
        "usual": usual,
        "plan": plan,
    }
    return render_template("tournament-new.html", form=form, **choices)


def offered() -> list[Bot]:
    """Bots to choose from, with the version that would play: one's own, those of the house, all others."""
    ready = bots.playable(arena(), limit=CHOICES)
    return sorted(ready, key=lambda bot: (bot.owner_id != account().id, not bot.house, bot.name.casefold()))
