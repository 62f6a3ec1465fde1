"""An account's tokens: further ones for one purpose alone, what they are for and when they were last used."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Row, func, select, update

from service import accounts
from service.accounts import Account, Scope
from service.errors import Conflict, Forbidden, Invalid, NotFound, Unauthorized
from service.tables import token as rows
from service.work import Arena, Work

MOST = 50  # valid tokens of one account
LONGEST = 60  # letters of a label


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token; the secret itself is not."""

    id: str
    label: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    last_used_at: datetime | None
    made_with: str | None


def issue(arena: Arena, caller: Account, *, label: str, scopes: Sequence[str]) -> tuple[Token, str]:
    """A further token of the caller's, for no more than the one it is asked with; the secret is shown once.

    Raises `Invalid`, `Conflict` when there are too many, `Unauthorized` when that one was revoked meanwhile.
    """
    wanted = tuple(each for each in Scope if each in scopes)
    _check(label, scopes, caller.scopes)
    with arena.work() as work:
        accounts.lock(work, caller)
        _check_valid(work, caller)
        valid = select(func.count()).where(rows.c.account_id == caller.id, rows.c.revoked_at.is_(None))
        if (work.db.scalar(valid) or 0) >= MOST:
            raise Conflict(f"an account has at most {MOST} valid tokens; revoke one")
        token_id, secret = accounts.new_token(
            work, caller.id, label=label, scopes=wanted, made_with=caller.token_id
        )
        return Token(token_id, label, wanted, work.now, None, caller.token_id), secret


def tokens(arena: Arena, caller: Account) -> list[Token]:
    """The caller's valid tokens, oldest first."""
    valid = (rows.c.account_id == caller.id, rows.c.revoked_at.is_(None))
    with arena.read() as db:
        found = db.execute(select(rows).where(*valid).order_by(rows.c.created_at, rows.c.id)).all()
    return [_shape(row) for row in found]


def revoke(arena: Arena, caller: Account, token_id: str) -> None:
    """Make a token of the caller's invalid, at once and for good; one that is so already stays so.

    With it all that were made with it, or who found it would keep those; but not the token it is asked with,
    nor what was made with that: a new token takes the place of an old one. Not one for more than the token it
    is asked with: who finds a narrow one shall not lock its owner out.
    """
    mine = (rows.c.id == token_id, rows.c.account_id == caller.id)
    with arena.work() as work:
        accounts.lock(work, caller)
        scopes = work.db.scalar(select(rows.c.scopes).where(*mine))
        if scopes is None:
            raise NotFound(f"you have no token {token_id}")
        beyond = {*scopes.split()} & {*accounts.SCOPES[caller.role]} - {*caller.scopes}
        if beyond:
            raise Forbidden(f"that token is for {', '.join(sorted(beyond))} too, which this one is not")
        goes = rows.c.id.in_(_made_with(work, caller, token_id)), rows.c.revoked_at.is_(None)
        work.db.execute(update(rows).where(*goes).values(revoked_at=work.now))


def _check_valid(work: Work, caller: Account) -> None:
    """What a revoked token asked for before it was revoked must not outlive it."""
    revoked = select(rows.c.id).where(rows.c.id == caller.token_id, rows.c.revoked_at.is_not(None))
    if work.db.scalar(revoked) is not None:
        raise Unauthorized("the token was revoked")


def _made_with(work: Work, caller: Account, token_id: str) -> set[str]:
    """A token and all that were made with it; without the caller's, unless that is the very one."""
    own = select(rows.c.id, rows.c.made_with).where(rows.c.account_id == caller.id)
    parents = {row.id: row.made_with for row in work.db.execute(own)}
    found, fresh = {token_id}, {token_id}
    while fresh:
        fresh = {
            each for each, parent in parents.items() if parent in fresh and each != caller.token_id
        } - found
        found |= fresh
    return found


def _check(label: str, scopes: Sequence[str], held: Sequence[Scope]) -> None:
    errors: dict[str, list[str]] = {}
    if not 1 <= len(label) <= LONGEST or not label.isprintable():
        errors["label"] = [f"must be 1 to {LONGEST} letters that can be shown"]
    beyond = sorted(set(scopes) - set(held))
    if beyond or not scopes:
        words = f"{', '.join(beyond)} is more than this token may" if beyond else "must name one or more"
        errors["scopes"] = [f"{words}; it may {', '.join(held)}"]
    if errors:
        raise Invalid(errors)


def _shape(row: "Row[tuple[object, ...]]") -> Token:
    scopes = tuple(Scope(each) for each in row.scopes.split())
    return Token(row.id, row.label, scopes, row.created_at, row.last_used_at, row.made_with)
