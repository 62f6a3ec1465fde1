"""The first answer to a request, kept for a day, so that sending it again changes nothing."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from service.errors import Conflict
from service.tables import answer
from service.work import Arena

KEPT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered: HTTP status and body."""

    status: int
    body: bytes


def remembered(arena: Arena, account_id: str, key: str, fingerprint: str) -> Answer | None:
    """The first answer under this key; raises `Conflict` if that was to another request."""
    query = select(answer).where(answer.c.account_id == account_id, answer.c.key == key)
    with arena.read() as db:
        row = db.execute(query.where(answer.c.created_at > arena.clock() - KEPT)).first()
    if row is None:
        return None
    if row.fingerprint != fingerprint:
        raise Conflict("this Idempotency-Key was used for another request; take a new one")
    return Answer(row.status, row.body)


def remember(arena: Arena, account_id: str, key: str, fingerprint: str, told: Answer) -> None:
    """Keep an answer, unless there is one already."""
    with arena.work() as work:
        work.db.execute(delete(answer).where(answer.c.created_at <= work.now - KEPT))
        row = {"account_id": account_id, "key": key, "fingerprint": fingerprint, "created_at": work.now}
        try:
            with work.db.begin_nested():
                work.db.execute(insert(answer).values(**row, status=told.status, body=told.body))
        except IntegrityError:
            return
