"""Who plays which match: claimed under a lease, finished once by its holder, taken back when it runs out.

A match goes planned -> leased (worker, attempt, token) -> done. Only the holder of the present lease can
finish it; whatever comes later is refused, noted and changes nothing. A lease may be of several short matches
of one tournament: claimed together, played one after another and given in together, but each is finished,
lost or handed back by itself. `lost.py` says what an end without a result means.
"""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog
from sqlalchemy import and_, bindparam, select, update

from service import counts, incidents, ingest, lost, schedule, stages, turns
from service.errors import Unavailable
from service.fence import FENCED, OF_THIS, new_token, under
from service.jobs import PLAY, Job
from service.lost import ALONE
from service.sheet import Sheet
from service.tables import entrant, match
from service.tables import tournament as tournament_rows
from service.turns import ONE, Share
from service.work import Arena, Work

log = structlog.get_logger(__name__)
WANTED = (match.c.tournament_id, match.c.number, match.c.deal_group, match.c.entrants, match.c.attempts)

# What every match asks the database, built once: building it anew took as long as asking.
THIS = tournament_rows.c.id == bindparam("this")
NEXT = (
    select(*WANTED)
    .where(OF_THIS, turns.PLANNED)
    .order_by(match.c.number)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
)
THESE = and_(OF_THIS, match.c.number.in_(bindparam("numbers", expanding=True)))
LEASE = update(match).where(THESE).values(attempts=match.c.attempts + 1)
UNBEGUN = FENCED.values(attempts=match.c.attempts - 1)
RULES = select(tournament_rows.c.rules, tournament_rows.c.limits, tournament_rows.c.secret).where(THIS)
FREE = select(tournament_rows.c.id).where(THIS).with_for_update(skip_locked=True, key_share=True)
SERVE = update(tournament_rows).where(THIS)
VERSIONS = select(entrant.c.number, entrant.c.version_id).where(
    entrant.c.tournament_id == bindparam("this"), entrant.c.number.in_(bindparam("numbers", expanding=True))
)
NEVER_BEGUN = {"status": "planned", "lease_token": None, "lease_until": None, "started_at": None}


@dataclass(frozen=True, slots=True)
class Assignment:
    """A match to be played, by the holder of `token` alone, and all that is needed for it."""

    tournament_id: str
    number: int
    attempt: int
    token: str
    rules: dict[str, Any]
    limits: dict[str, Any]
    seed: bytes
    bot_seeds: tuple[int, ...]
    versions: tuple[str, ...]
    entrants: tuple[int, ...]

    @property
    def match_id(self) -> str:
        """The id the API knows it by."""
        return f"{self.tournament_id}-{self.number}"


def claim_some(arena: Arena, worker: str, share: Share) -> list[Assignment]:
    """The next matches of the tournament whose turn it is, in the order they are to be played."""
    with arena.work() as work:
        return _claim(work, worker, _lease(arena), turns.waiting(work), share)


def give_in(arena: Arena, sheet: Sheet, *, worker: str, more: bool = False) -> tuple[bool, Assignment | None]:
    """The same as `give_in_all` with one result, and for one match: whether it was taken, and the next."""
    taken, following = give_in_all(arena, [sheet], worker=worker, share=ONE if more else None)
    return taken[0], next(iter(following), None)


def give_in_all(
    arena: Arena,
    sheets: Sequence[Sheet],
    *,
    worker: str,
    share: Share | None = None,
    unbegun: Sequence[Assignment] = (),
) -> tuple[list[bool], list[Assignment]]:
    """Write results once, hand back what is `unbegun`, and claim what comes next if there is a `share` of it.

    Returns for each result whether it was taken (not so when its lease was lost), and the matches claimed.
    After the last match that was planned of a tournament it is planned on first, and claimed afterwards; so
    is what comes after matches that were handed back, of which a stopped ladder's are void.
    """
    told: list[bool] = []
    while len(sheets) > ingest.AT_ONCE:
        told += _write(arena, sheets[: ingest.AT_ONCE], worker, None, ())[0]
        sheets = sheets[ingest.AT_ONCE :]
    taken, following = _write(arena, sheets, worker, share, unbegun)
    return told + taken, following


def _write(
    arena: Arena, sheets: Sequence[Sheet], worker: str, share: Share | None, unbegun: Sequence[Assignment]
) -> tuple[list[bool], list[Assignment]]:
    following: list[Assignment] = []
    with arena.work() as work:
        taken = ingest.write(work, sheets, worker)
        _hand_back(work, unbegun)
        finished = ingest.by_tournament([each for each, was in zip(sheets, taken, strict=True) if was])
        waiting = turns.waiting(work)
        last = finished.keys() - {each.id for each in waiting}
        if share is not None and not (last or unbegun):
            following = _claim(work, worker, _lease(arena), waiting, share)
        elif share is None and waiting:
            _ring(work)
        counts.finished(work, finished)  # last, because others of a deal wait from here on to the commit
    for tournament_id in sorted({each.tournament_id for each in unbegun}):
        _go_on(stages.void_returned, arena, tournament_id)
    for tournament_id in sorted(last):  # planning what comes next may take longer than a lease nobody renews
        gone_on(arena, tournament_id)
    if share is not None and (last or unbegun):
        following = claim_some(arena, worker, share)
    return taken, following


def renew_all(arena: Arena, held: Sequence[Assignment | Sheet]) -> list[bool]:
    """Hold on to what is being played, as it was claimed; for each whether it is still held."""
    with arena.work() as work:
        until = {"lease_until": work.now + _lease(arena)}
        return [bool(work.db.execute(FENCED, _lease_of(each) | until).rowcount) for each in held]


def give_back(arena: Arena, held: Assignment | Sheet, trouble: str, *, suspicion: int = ALONE) -> None:
    """We could not play it; nobody loses by that. It is planned again, or failed after too many attempts.

    `suspicion` 0: a stopping worker, or a sick machine, which says nothing about the match.
    """
    with arena.work() as work:
        if lost.release(work, held.tournament_id, held.number, held.token, trouble, suspicion):
            incidents.note(work, incidents.HANDED_BACK, held.match_id, text=trouble)
    gone_on(arena, held.tournament_id)


def gone_on(arena: Arena, tournament_id: str) -> None:
    """Have the tournament go on, if it is time. What is committed is: `reap` does the same later."""
    _go_on(stages.advance, arena, tournament_id)


def _go_on(step: Callable[[Arena, str], object], arena: Arena, tournament_id: str) -> None:
    try:
        step(arena, tournament_id)
    except Unavailable:
        log.warning("stage_left_to_reap", tournament=tournament_id)
    except Exception:  # ours, and none of whoever gave in a result: it is written
        log.exception("stage_not_planned", tournament=tournament_id)


def _lease(arena: Arena) -> timedelta:
    return timedelta(seconds=arena.settings.lease_seconds)


def _hand_back(work: Work, unbegun: Sequence[Assignment]) -> None:
    """As if they had never been claimed."""
    if unbegun:
        work.db.execute(UNBEGUN, [_lease_of(each) | NEVER_BEGUN for each in unbegun])


def _claim(work: Work, worker: str, lease: timedelta, found: Sequence[Any], share: Share) -> list[Assignment]:
    for of in turns.in_turn(work, found):
        rows = work.db.execute(NEXT, {"this": of.id, "most": turns.most(share, of)}).all()
        if rows:
            return _leased(work, worker, lease, turns.untried(rows))
    if found:  # others are at all of it just now, and may leave some
        _ring(work)
    return []


def _ring(work: Work) -> None:
    work.send(Job(PLAY, (secrets.randbelow(1 << 30),)))


def _leased(work: Work, worker: str, lease: timedelta, rows: Sequence[Any]) -> list[Assignment]:
    token = new_token(len(rows))
    values = {"status": "leased", "lease_token": token, "lease_worker": worker}
    times = {"lease_until": work.now + lease, "started_at": work.now}
    this = {"this": rows[0].tournament_id}
    work.db.execute(LEASE, {**this, "numbers": [row.number for row in rows], **values, **times})
    of = work.db.execute(RULES, this).one()
    _served(work, rows[0].tournament_id)
    seated = sorted({number for row in rows for number in row.entrants})
    entered = work.db.execute(VERSIONS, {**this, "numbers": seated})
    versions = {each.number: each.version_id for each in entered}
    return [_assigned(row, token, of, versions) for row in rows]


def _assigned(row: Any, token: str, of: Any, versions: dict[int, str]) -> Assignment:
    return Assignment(
        tournament_id=row.tournament_id,
        number=row.number,
        attempt=row.attempts + 1,
        token=token,
        rules=of.rules,
        limits=of.limits,
        seed=schedule.group_seed(of.secret, row.deal_group),
        bot_seeds=tuple(schedule.bot_seed(of.secret, row.number, each) for each in range(len(row.entrants))),
        versions=tuple(versions[each] for each in row.entrants),
        entrants=tuple(row.entrants),
    )


def _served(work: Work, tournament_id: str) -> None:
    """Remember whose turn it was, unless somebody has the row: who holds a match must not wait for one."""
    this = {"this": tournament_id}
    alone = work.db.dialect.name == "sqlite"  # a writer is, there
    if alone or work.db.scalar(FREE, this) is not None:
        work.db.execute(SERVE, {**this, "claimed_at": work.now})


def _lease_of(held: Assignment | Sheet) -> dict[str, Any]:
    return under(held.tournament_id, held.number, held.token)
