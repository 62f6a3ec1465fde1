"""How often one account or one address may ask, before anything else is done for them."""

from flask import current_app, g, request

from api.context import READING, arena, bearer
from service.errors import TooMany, Unauthorized
from service.rates import Rates, place

MINUTE, HOUR = 60, 3600
REFUSALS = 30  # wrong tokens a minute from one address


def identify() -> None:
    """Before every request under /api/v1: who asks, and whether that is too often."""
    address = place(request.remote_addr)
    try:
        g.account = bearer()
    except Unauthorized:
        _take(f"refused:{address}", REFUSALS, MINUTE, "wrong tokens a minute")
        raise
    who, settings = g.account.id if g.account else address, arena().settings
    _take(f"all:{who}", settings.requests_per_minute, MINUTE, "requests a minute")
    if request.method not in READING:
        _take(f"writes:{who}", settings.writes_per_minute, MINUTE, "changes a minute")
    if g.account is None and request.endpoint == "accounts.register":
        _take(f"accounts:{address}", settings.accounts_per_hour, HOUR, "new accounts an hour")
    if g.account is None and request.method in READING and not settings.public_read:
        raise Unauthorized("Reading needs a token here: Authorization: Bearer TOKEN")


def _take(name: str, most: int, seconds: int, what: str) -> None:
    rates: Rates = current_app.extensions["rates"]
    if wait := rates.take(name, most, seconds):
        raise TooMany(f"at most {most:,} {what}; try again in {wait} s", retry_after=wait)
