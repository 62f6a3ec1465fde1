"""What a view needs from outside: the arena it acts in, and who is asking."""

from typing import cast

from flask import current_app, g, request

from service import accounts
from service.accounts import Account
from service.errors import Unauthorized
from service.work import Arena


def arena() -> Arena:
    """The arena this application serves."""
    return cast(Arena, current_app.extensions["arena"])


def identify() -> None:
    """Before every request under /api/v1: who asks, and whether strangers may read."""
    g.account = _bearer()
    reading = request.method in ("GET", "HEAD", "OPTIONS")
    if g.account is None and reading and not arena().settings.public_read:
        raise Unauthorized("Reading needs a token here: Authorization: Bearer TOKEN")


def caller() -> Account | None:
    """Who asks; None for a stranger."""
    return cast(Account | None, g.account)


def account() -> Account:
    """Who asks; strangers are refused."""
    if g.account is None:
        raise Unauthorized("This needs a token: Authorization: Bearer TOKEN")
    return cast(Account, g.account)


def _bearer() -> Account | None:
    given = request.headers.get("Authorization")
    if given is None:
        return None
    scheme, _, token = given.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token.isascii() or not token:
        raise Unauthorized("The Authorization header must read: Bearer TOKEN")
    return accounts.authenticate(arena(), token)
