"""Who may do what: accounts and their tokens. A token is shown once and kept only as a hash."""

import hashlib
import secrets
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import Row, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from service import alike, names
from service.errors import Conflict, Forbidden, NotFound, Unauthorized, Unavailable
from service.tables import account, token
from service.work import Arena, Work

HOUSE, ADMIN = "house", "admin"  # accounts of our own, not to be registered by others
SEEN_EVERY = timedelta(minutes=1)


class Role(StrEnum):
    """What an account is for; an admin may do all."""

    AUTHOR = "author"
    ADMIN = "admin"


class Scope(StrEnum):
    """What a token is for."""

    AUTHOR = "author"  # bots: their code, checks and faults
    ORGANISER = "organiser"  # tournaments
    ADMIN = "admin"  # what is other accounts'; of an admin's token only


SCOPES = {Role.AUTHOR: (Scope.AUTHOR, Scope.ORGANISER), Role.ADMIN: tuple(Scope)}
"""What an account's tokens may be for."""


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who may write; `scopes` and `token_id` are those of the token they came with."""

    id: str
    name: str
    role: Role
    created_at: datetime
    scopes: tuple[Scope, ...]
    token_id: str | None = field(default=None, compare=False)  # the same account comes with many

    @property
    def admin(self) -> bool:
        """Whether everything is allowed."""
        return Scope.ADMIN in self.scopes

    def may_organise(self, owner_id: str) -> bool:
        """Whether a tournament of that owner's is this account's to run, by the token it came with."""
        return self.may_change(owner_id) and Scope.ORGANISER in self.scopes

    def may_change(self, owner_id: str) -> bool:
        """Whether a thing of that owner's is this account's to change."""
        return self.admin or self.id == owner_id


def register(
    arena: Arena, *, name: str, role: Role = Role.AUTHOR, by: Account | None = None
) -> tuple[Account, str]:
    """A new account and its token, which cannot be shown again. Only an admin makes admins."""
    invited = by is not None and by.admin
    if not invited and (not arena.settings.open_registration or role is not Role.AUTHOR):
        raise Forbidden("accounts are made by the operator here: rage-admin accounts create NAME")
    if not invited and names.key(name) in (HOUSE, ADMIN):
        raise Conflict(names.taken(name))
    with arena.work() as work:
        return create(work, name=name, role=role)


def create(work: Work, *, name: str, role: Role) -> tuple[Account, str]:
    """A new account and its token, in a transaction of the caller's."""
    made = Account(names.new_id("acc"), names.name("name", name), role, work.now, SCOPES[role])
    row = {
        "id": made.id,
        "name": made.name,
        "name_key": names.key(made.name),
        "role": role,
        "created_at": work.now,
    }
    if alike.taken(work.db, account, made.name):
        raise Conflict(names.taken(made.name))
    try:
        work.db.execute(insert(account).values(row))
    except IntegrityError:
        raise Conflict(names.taken(made.name)) from None
    return made, new_token(work, made.id, label="first", scopes=made.scopes)[1]


def new_token(
    work: Work, account_id: str, *, label: str, scopes: tuple[Scope, ...], made_with: str | None = None
) -> tuple[str, str]:
    """A further token of an account: its id and the secret itself. `made_with`: what it is asked with."""
    token_id, secret = names.new_id("tok"), "rage_" + secrets.token_urlsafe(32)
    row = {"id": token_id, "hash": _hash(secret), "account_id": account_id, "created_at": work.now}
    work.db.execute(insert(token).values(**row, label=label, scopes=" ".join(scopes), made_with=made_with))
    return token_id, secret


def authenticate(arena: Arena, secret: str) -> Account:
    """Whose token this is; raises `Unauthorized`.

    Looked up by its hash: how long that takes says nothing about a token nobody can enumerate.
    """
    query = (
        select(account, token.c.last_used_at, token.c.scopes, token.c.id.label("token_id"))
        .join(token, token.c.account_id == account.c.id)
        .where(token.c.hash == _hash(secret), token.c.revoked_at.is_(None))
    )
    with arena.read() as db:
        row = db.execute(query).first()
    if row is None:
        raise Unauthorized("the token is not valid; make an account, or ask the operator for a new token")
    _seen(arena, secret, row.last_used_at)
    return holder(row)


def accounts(arena: Arena) -> list[Account]:
    """All accounts, oldest first."""
    with arena.read() as db:
        return [
            shape(row) for row in db.execute(select(account).order_by(account.c.created_at, account.c.id))
        ]


def revoke(arena: Arena, *, name: str) -> int:
    """Make every token of an account invalid; how many there were."""
    with arena.work() as work:
        found = by_name(work, name)
        if found is None:
            raise NotFound(f"no account is called {name}")
        lock(work, found)
        valid = (token.c.account_id == found.id, token.c.revoked_at.is_(None))
        return work.db.execute(update(token).where(*valid).values(revoked_at=work.now)).rowcount


def renew(arena: Arena, *, name: str) -> str:
    """A further token for an account, for somebody who lost theirs."""
    with arena.work() as work:
        found = by_name(work, name)
        if found is None:
            raise NotFound(f"no account is called {name}")
        return new_token(work, found.id, label="by the operator", scopes=found.scopes)[1]


def lock(work: Work, whose: Account) -> None:
    """One at a time for each account, or two requests at once would both find room."""
    work.db.execute(select(account.c.id).where(account.c.id == whose.id).with_for_update(key_share=True))


def ensure_admin(arena: Arena) -> str | None:
    """The first administrator's token, made if there is no administrator yet; else None."""
    with arena.work() as work:
        admins = select(func.count()).select_from(account).where(account.c.role == Role.ADMIN)
        if work.db.scalar(admins):
            return None
        return create(work, name=ADMIN, role=Role.ADMIN)[1]


def by_name(work: Work, name: str) -> Account | None:
    """The account of that very name, else of one that looks like it; None without either."""
    row = work.db.execute(select(account).where(alike.named(account.c.name_key, name))).first()
    return shape(row) if row else None


def shape(row: "Row[tuple[object, ...]]") -> Account:
    """An account out of its row."""
    role = Role(row.role)
    return Account(row.id, row.name, role, row.created_at, SCOPES[role])


def holder(row: "Row[tuple[object, ...]]") -> Account:
    """An account out of its row and the `scopes` and `token_id` of the token it came with."""
    found, given = shape(row), row.scopes.split()
    scopes = tuple(each for each in found.scopes if each in given)
    return replace(found, scopes=scopes, token_id=row.token_id)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _seen(arena: Arena, secret: str, last: datetime | None) -> None:
    """Notes the use, at most once a minute, so that reads stay reads."""
    now = arena.clock()
    if last is not None and now - last < SEEN_EVERY:
        return
    stale = or_(token.c.last_used_at.is_(None), token.c.last_used_at < now)
    with suppress(Unavailable), arena.work() as work:  # a note, for which no read shall fail
        work.db.execute(update(token).where(token.c.hash == _hash(secret), stale).values(last_used_at=now))
