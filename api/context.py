"""What a view needs from outside: the arena it acts in, and who is asking."""

from typing import cast

from flask import current_app, g, request

from service import accounts
from service.accounts import Account, Scope
from service.errors import Forbidden, Unauthorized, Unavailable
from service.jobs import PLAY
from service.work import Arena

READING = ("GET", "HEAD", "OPTIONS")


def arena() -> Arena:
    """The arena this application serves."""
    return cast(Arena, current_app.extensions["arena"])


def caller() -> Account | None:
    """Who asks; None for a stranger, and where the token is not for what the endpoint is about."""
    asking = cast(Account | None, g.account)
    return asking if asking is None or _scope() in (None, *asking.scopes) else None


def account() -> Account:
    """Who asks; strangers are refused, and tokens that are for something else."""
    if g.account is None:
        raise Unauthorized("This needs a token: Authorization: Bearer TOKEN")
    if caller() is None:
        held = ", ".join(sorted(g.account.scopes))
        raise Forbidden(f"This needs a token with the scope {_scope()}; this one has {held}")
    return cast(Account, g.account)


def _scope() -> Scope | None:
    """What a token must be for, to do more here than strangers may."""
    return cast(Scope | None, g.get("scope"))


def employer() -> Account:
    """Who asks for work to be done: put off, before anything is written, while no worker can be told."""
    who = account()
    try:
        arena().queue.depth(PLAY)
    except ConnectionError:
        reason = "the broker, which carries work to the workers, cannot be reached"
        raise Unavailable(f"{reason}; nothing was done, try again") from None
    return who


def bearer() -> Account | None:
    """Whose token came with the request; None without one. Raises `Unauthorized`."""
    given = request.headers.get("Authorization")
    if given is None:
        return None
    scheme, _, token = given.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token.isascii() or not token:
        raise Unauthorized("The Authorization header must read: Bearer TOKEN")
    return accounts.authenticate(arena(), token)
