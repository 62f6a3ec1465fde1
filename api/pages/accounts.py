"""Signing in and out, making an account, and what is one's own."""

from flask import Response, g, make_response, render_template, request, url_for

from api import rates
from api.context import account, arena
from api.pages import forms, session
from api.pages.forms import Form
from api.pages.site import blp
from api.schemas.accounts import NewAccount
from service import accounts, bots, sessions, tournaments
from service.errors import Invalid, Unauthorized


@blp.get("/sign-in")
def sign_in_page() -> str:
    """A form for a token, and one for who has none."""
    return _sign_in(Form())


@blp.post("/sign-in")
def sign_in() -> Response:
    """From a token to a session."""
    return forms.answer(_signed_in, _sign_in, {})


@blp.post("/register")
def register() -> Response:
    """A new account, whose token is shown this once, and which is signed in."""
    return forms.answer(_registered, _sign_in, forms.typed())


@blp.post("/sign-out")
def sign_out() -> Response:
    """The session ends."""
    return session.take(forms.go(url_for("pages.home")))


@blp.get("/me")
def mine() -> str:
    """One's own bots and tournaments, and what can be done."""
    who = account()
    own = bots.bots(arena(), who, owner=who.name, limit=200).items
    cups = [
        each
        for each in tournaments.tournaments(arena(), limit=200, viewer=who).items
        if each.owner_id == who.id
    ]
    return render_template("mine.html", bots=own, tournaments=cups)


def _signed_in() -> Response:
    token = request.form.get("token", "").strip()
    if not token.isascii() or not token:
        raise Invalid({"token": ["is missing; it was shown when the account was made"]})
    try:
        _, key = sessions.begin(arena(), token)
    except Unauthorized as refusal:
        rates.count_wrong_token()
        raise Invalid({"token": [str(refusal)]}) from None
    return session.give(forms.go(_next()), key)


def _registered() -> Response:
    made, token = accounts.register(arena(), **forms.load(NewAccount, {"name": request.form.get("name", "")}))
    _, key = sessions.begin(arena(), token)
    g.account, g.session_key = made, key
    return session.give(make_response(render_template("token.html", token=token), 201), key)


def _sign_in(form: Form) -> str:
    return render_template("sign-in.html", form=form, open=arena().settings.open_registration, then=_next())


def _next() -> str:
    """Where to go from here: only to a path of ours."""
    wanted = request.values.get("then", "")
    local = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if local else url_for("pages.mine")
