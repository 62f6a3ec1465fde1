"""Comparisons: is A better than B? Two bots play deal after deal with the same cards until a test can tell.

A comparison is a tournament of its own kind, unrated, of two-match groups that are written ahead of play; the
test (`service.sprt`) reads them by number and ends it early. What it says is computed from the matches.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import Connection, Row, Select, insert, select, tuple_

from service import accounts, contest, games, names, paging, parts, quotas, sprt, stages, tournaments
from service.accounts import Account
from service.contest import COMPARISON, GAMES, A, B, Contest, bot_of, read
from service.errors import Forbidden, NotFound
from service.paging import Micros, Page
from service.sprt import Estimate, Hypotheses, Trial
from service.tables import account, comparison, entrant
from service.tables import tournament as rows
from service.work import Arena, Work

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Where a test stands. `lower` and `upper` are its bounds; `points` A's lead over B a match.

    `groups` were read by the test; matches that others finished before them wait, or came too late to count.
    """

    id: str
    owner: str
    status: str
    reason: str | None
    rules: dict[str, Any]
    players: int
    a: tournaments.Entrant
    b: tournaments.Entrant
    field: list[tournaments.Entrant]
    elo0: float
    elo1: float
    alpha: float
    beta: float
    cap: int
    lower: float
    upper: float
    verdict: str | None
    groups: int
    played: int
    llr: float
    score: float | None
    elo: Estimate
    points: Estimate
    created_at: datetime
    finished_at: datetime | None


def create(arena: Arena, caller: Account, told: Mapping[str, Any]) -> Comparison:
    """A comparison from a request's body, begun at once. Raises `Invalid`."""
    made, comparison_id = read(arena, told), names.new_id("c")
    contest.orders(made.players, 2 + len(made.field), made.seed, made.cap)  # worked out while nobody waits
    with arena.work() as work:
        accounts.lock(work, caller)
        quotas.more_matches(arena, work, caller, GAMES * made.cap, field="cap")
        work.db.execute(insert(rows).values(_row(work, comparison_id, caller, made)))
        told_of_test = {name: getattr(made.hypotheses, name) for name in ("elo0", "elo1", "alpha", "beta")}
        work.db.execute(insert(comparison).values(tournament_id=comparison_id, cap=made.cap, **told_of_test))
        who = [
            {"tournament_id": comparison_id, "number": n, "bot_id": bot_of(each), "version_id": each}
            for n, each in enumerate((made.a, made.b, *made.field))
        ]
        work.db.execute(insert(entrant), who)
        row = stages.lock(work, comparison_id)
        parts.write(work, row, parts.of_comparison(row, len(who)))
    log.info("comparison_created", comparison=comparison_id, owner=caller.id, cap=made.cap)
    return find(arena, comparison_id)


def find(arena: Arena, comparison_id: str) -> Comparison:
    """One comparison, as far as it is."""
    with arena.read() as db:
        row = db.execute(_select().where(rows.c.id == comparison_id)).first()
        if row is None:
            raise NotFound(f"no comparison {comparison_id}")
        return _shape(db, row)


def comparisons(arena: Arena, *, limit: int = 50, cursor: str | None = None) -> Page[Comparison]:
    """Comparisons, newest first."""
    key = (rows.c.created_at, rows.c.id)
    query = _select().order_by(*(column.desc() for column in key)).limit(limit + 1)
    if (after := paging.read(cursor, Micros, str)) is not None:
        query = query.where(tuple_(*key) < paging.row(key, [paging.moment(after[0]), after[1]]))
    with arena.read() as db:
        found = db.execute(query).all()
        shapes = {row.id: _shape(db, row) for row in found[:limit]}
    return paging.cut(
        found, limit, lambda row: [paging.micros(row.created_at), row.id], lambda row: shapes[row.id]
    )


def cancel(arena: Arena, caller: Account, comparison_id: str) -> Comparison:
    """Stop without a verdict; once it is over, nothing happens."""
    with arena.work() as work:
        row = work.db.execute(_select().where(rows.c.id == comparison_id)).first()
        if row is None:
            raise NotFound(f"no comparison {comparison_id}")
        if not caller.may_change(row.owner_id):
            raise Forbidden("this is another account's comparison")
        stages.lock(work, comparison_id)
        stages.end(work, comparison_id, "cancelled", f"cancelled by {caller.name}")
    return find(arena, comparison_id)


def decide(arena: Arena) -> int:
    """End the comparisons whose test can tell; how many. What is not played by then never will be."""
    with arena.read() as db:
        running = db.execute(_select().where(rows.c.status == "running")).all()
    return sum(_guarded(arena, row) for row in running)


def _guarded(arena: Arena, row: "Row[Any]") -> bool:
    """One that cannot be told must not keep the others, and all that is to be done after them, from it."""
    try:
        return _decide(arena, row)
    except Exception:
        log.exception("comparison_not_decided", comparison=row.id)
        return False


def _decide(arena: Arena, row: "Row[Any]") -> bool:
    with arena.read() as db:
        verdict = _trial(row, games.of_comparison(db, row.id)).verdict
    if verdict is None:
        return False
    with arena.work() as work:
        stages.lock(work, row.id)
        stages.end(work, row.id, "finished")
    log.info("comparison_decided", comparison=row.id, verdict=verdict)
    return True


def _row(work: Work, comparison_id: str, caller: Account, made: Contest) -> dict[str, Any]:
    return {
        "id": comparison_id,
        "owner_id": caller.id,
        "name": made.name,
        "format": COMPARISON,
        "status": "running",
        "rules": made.rules.spec(),
        "rules_key": made.rules.key(),
        "players": made.players,
        "deals": made.cap,
        "duplicate": True,
        "meetings": 1,
        "limits": made.limits.as_dict(),
        "seed": made.seed,
        "secret": secrets.token_bytes(tournaments.SECRET_BYTES),
        "total": GAMES * made.cap,
        "planned": made.cap,
        "created_at": work.now,
        "started_at": work.now,
    }


def _select() -> "Select[Any]":
    return (
        select(rows, comparison, account.c.name.label("owner"))
        .join(comparison, comparison.c.tournament_id == rows.c.id)
        .join(account, account.c.id == rows.c.owner_id)
    )


def _hypotheses(row: "Row[Any]") -> Hypotheses:
    return Hypotheses(row.elo0, row.elo1, row.alpha, row.beta)


def _trial(row: "Row[Any]", played: Sequence[tuple[float, float]]) -> Trial:
    return sprt.trial([score for score, _ in played], _hypotheses(row), row.cap)


def _verdict(row: "Row[Any]", test: Trial) -> str | None:
    """Of a test that had too few groups because we could not play some, undecided when all is played."""
    return test.verdict or ("undecided" if row.status == "finished" else None)


def _shape(db: Connection, row: "Row[Any]") -> Comparison:
    played = games.of_comparison(db, row.id)
    test, listed = _trial(row, played), tournaments.entrants(db, row.id)
    lower, upper = _hypotheses(row).bounds
    same = ("id", "owner", "status", "reason", "rules", "players", "elo0", "elo1", "alpha", "beta", "cap")
    return Comparison(
        **{name: getattr(row, name) for name in same},
        a=listed[A],
        b=listed[B],
        field=listed[B + 1 :],
        lower=lower,
        upper=upper,
        verdict=_verdict(row, test),
        groups=test.groups,
        played=len(played),
        llr=test.llr,
        score=test.score,
        elo=test.elo,
        points=sprt.mean_of([lead for _, lead in played[: test.groups]]),
        created_at=row.created_at,
        finished_at=row.finished_at,
    )
