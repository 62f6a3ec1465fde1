"""Browsers that signed in with a token. What a cookie holds is opaque; only its hash is kept here."""

import hashlib
import secrets
from datetime import timedelta

from sqlalchemy import delete, insert, select

from service import accounts
from service.accounts import Account, Role
from service.errors import Unauthorized
from service.tables import account, session, token
from service.work import Arena

LASTS = timedelta(days=14)


def begin(arena: Arena, secret: str) -> tuple[Account, str]:
    """Whose token this is, and a new session's key for its browser.

    Raises `Unauthorized`, also for a token that is for less than the pages can do.
    """
    who = accounts.authenticate(arena, secret)
    if missing := set(accounts.SCOPES[Role.AUTHOR]) - set(who.scopes):
        raise Unauthorized(
            f"this token is not for a browser: it lacks the scope {', '.join(sorted(missing))}"
        )
    key = secrets.token_urlsafe(32)
    row = {"hash": _hash(key), "token_hash": _hash(secret)}
    with arena.work() as work:
        work.db.execute(delete(session).where(session.c.until <= work.now))
        times = {"created_at": work.now, "until": work.now + LASTS}
        work.db.execute(insert(session).values(**row, **times))
    return who, key


def account_of(arena: Arena, key: str) -> Account | None:
    """Whose browser this is; None if it is no more signed in, or its token was revoked."""
    query = (
        select(account, token.c.scopes, token.c.id.label("token_id"))
        .join(token, token.c.account_id == account.c.id)
        .join(session, session.c.token_hash == token.c.hash)
        .where(session.c.hash == _hash(key), token.c.revoked_at.is_(None), session.c.until > arena.clock())
    )
    with arena.read() as db:
        row = db.execute(query).first()
    return None if row is None else accounts.holder(row)


def end(arena: Arena, key: str) -> None:
    """Sign out; again does no harm."""
    with arena.work() as work:
        work.db.execute(delete(session).where(session.c.hash == _hash(key)))


def form_key(key: str) -> str:
    """What this session's forms carry, so that no other site can send them; tells nothing of the key."""
    return hashlib.sha256(b"form " + key.encode()).hexdigest()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
