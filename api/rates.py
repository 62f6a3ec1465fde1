"""How often one account or one address may ask, before anything else is done for them."""

from flask import Flask, current_app, g, request

from api.context import READING, arena, bearer
from service.errors import TooMany, Unauthorized
from service.rates import Rates, place
from service.settings import Settings

MINUTE, HOUR = 60, 3600
REFUSALS = 30  # wrong tokens a minute from one address
REGISTERING = ("accounts.register", "pages.register")


def identify() -> None:
    """Before every request under /api/v1: who asks, and whether that is too often."""
    try:
        g.account = bearer()
    except Unauthorized:
        count_wrong_token()
        raise
    count()
    if g.account is None and request.method in READING and not arena().settings.public_read:
        raise Unauthorized("Reading needs a token here: Authorization: Bearer TOKEN")


def count() -> None:
    """One more request of whoever asks, by a token or in a browser. Raises `TooMany`.

    New accounts count by address whoever asks, or each could make the next with allowances of its own.
    """
    address, settings = place(request.remote_addr), arena().settings
    who = g.account.id if g.account else address
    count_read(current_app, who, settings)
    if request.method not in READING:
        _take(current_app, f"writes:{who}", settings.writes_per_minute, MINUTE, "changes a minute")
    if request.endpoint in REGISTERING and not (g.account and g.account.admin):
        _take(current_app, f"accounts:{address}", settings.accounts_per_hour, HOUR, "new accounts an hour")


def count_read(app: Flask, who: str, settings: Settings) -> None:
    """One more request of an account or an address. Raises `TooMany`."""
    _take(app, f"all:{who}", settings.requests_per_minute, MINUTE, "requests a minute")


def count_wrong_token() -> None:
    """One more token from this address that is none. Raises `TooMany`."""
    _take(current_app, f"refused:{place(request.remote_addr)}", REFUSALS, MINUTE, "wrong tokens a minute")


def _take(app: Flask, name: str, most: int, seconds: int, what: str) -> None:
    rates: Rates = app.extensions["rates"]
    if wait := rates.take(name, most, seconds):
        raise TooMany(f"at most {most:,} {what}; try again in {wait} s", retry_after=wait)
