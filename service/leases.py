"""Who plays which match: claimed under a lease, finished once by its holder, taken back when it runs out.

A match goes planned -> leased (worker, attempt, token) -> done. Only the holder of the present lease can
finish it; whatever comes later is refused, noted and changes nothing.

A match that kills its worker must not be played for ever, and one that happened to be there when a machine
died must not be given up for it. So each end without a result adds to its `suspicion`: ALONE when the match
alone can be the reason (its worker's process died while the worker lived on, or playing it raised an
exception on a machine whose sandbox stands its test), TOGETHER when others went down with it. ENOUGH, which
is three times alone, makes it `failed`. What a stopping or a sick machine hands back adds nothing.
"""

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import Row, and_, bindparam, exists, func, insert, select, update

from engine.table import Outcome
from service import counts, incidents, schedule, stages, watch
from service.errors import Unavailable
from service.jobs import PLAY, Job
from service.progress import LEASED
from service.sheet import Sheet, Spent
from service.tables import EPOCH, entrant, fault, match, seat
from service.tables import tournament as tournament_rows
from service.work import Arena, Work

__all__ = [
    "Assignment",
    "Sheet",
    "Spent",
    "claim",
    "finish_and_claim",
    "give_back",
    "give_in",
    "inherit",
    "renew",
]

log = structlog.get_logger(__name__)
ALONE, TOGETHER, ENOUGH = 3, 1, 9
WANTED = (match.c.tournament_id, match.c.number, match.c.deal_group, match.c.entrants, match.c.attempts)

# What every match asks the database, built once: building it anew took as long as asking.
RUNNING = tournament_rows.c.status == "running"
PLANNED = match.c.status == "planned"
THIS = tournament_rows.c.id == bindparam("this")
OF_THIS = match.c.tournament_id == bindparam("this")
KEY = and_(OF_THIS, match.c.number == bindparam("key"))
FENCE = and_(KEY, match.c.status == "leased", match.c.lease_token == bindparam("held"))
PLAYABLE = and_(PLANNED, match.c.tournament_id.in_(select(tournament_rows.c.id).where(RUNNING)))
IS_ANYTHING = select(exists().where(PLAYABLE))
IS_ANYTHING_OF_THIS = select(exists().where(PLAYABLE, OF_THIS))
IN_PLAY = select(match.c.tournament_id).where(LEASED)
TURNS = select(tournament_rows.c.id, tournament_rows.c.owner_id, tournament_rows.c.claimed_at).where(
    RUNNING, exists().where(match.c.tournament_id == tournament_rows.c.id, PLANNED)
)
NEXT = (
    select(*WANTED)
    .where(OF_THIS, PLANNED)
    .order_by(match.c.number)
    .limit(1)
    .with_for_update(skip_locked=True)
)
LEASE, FINISH = update(match).where(KEY), update(match).where(FENCE)
RULES = select(tournament_rows.c.rules, tournament_rows.c.limits, tournament_rows.c.secret).where(THIS)
FREE = select(tournament_rows.c.id).where(THIS).with_for_update(skip_locked=True, key_share=True)
SERVE = update(tournament_rows).where(THIS)
VERSIONS = select(entrant.c.number, entrant.c.version_id).where(
    entrant.c.tournament_id == bindparam("this"), entrant.c.number.in_(bindparam("numbers", expanding=True))
)
SEATS, FAULTS = insert(seat), insert(fault)


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


def claim(arena: Arena, worker: str) -> Assignment | None:
    """The next match of the tournament that has the fewest being played; None when there is nothing to do."""
    with arena.work() as work:
        return _claim(work, worker, _lease(arena), work.db.execute(TURNS).all())


def finish_and_claim(
    arena: Arena,
    done: Assignment,
    outcome: Outcome,
    spent: Sequence[Spent],
    *,
    mode: str,
    replays: int = 0,
    worker: str,
    more: bool,
) -> tuple[bool, Assignment | None]:
    """Give in what was played and claim the next match if `more`; see `Sheet.of` and `give_in`."""
    return give_in(
        arena, Sheet.of(done, outcome, spent, mode=mode, replays=replays), worker=worker, more=more
    )


def give_in(arena: Arena, sheet: Sheet, *, worker: str, more: bool = False) -> tuple[bool, Assignment | None]:
    """Write a result once and, in the same transaction, claim the next match if `more`.

    After the last match that was planned of a tournament it is planned on first, and claimed afterwards.

    Returns whether the result was taken (not so when the lease was lost) and the next match.
    """
    with arena.work() as work:
        taken = _finish(work, sheet)
        if not taken:
            text = f"attempt {sheet.attempt}"
            incidents.note(work, incidents.LATE, sheet.match_id, worker=worker, text=text)
        waiting = work.db.execute(TURNS).all()
        last = taken and all(each.id != sheet.tournament_id for each in waiting)
        following = _claim(work, worker, _lease(arena), waiting) if more and not last else None
        if not more and waiting:
            work.send(Job(PLAY, (secrets.randbelow(1 << 30),)))
        if taken:  # last, because others of the deal wait from here on to the commit
            counts.finished(work, sheet.tournament_id, sheet.number)
    if last:  # planning what comes next may take longer than a lease that nobody renews
        gone_on(arena, sheet.tournament_id)
        following = claim(arena, worker) if more else None
    return taken, following


def renew(arena: Arena, held: Assignment) -> bool:
    """Hold on to a match that is still being played; False if it was lost."""
    with arena.work() as work:
        until = {"lease_until": work.now + _lease(arena)}
        return bool(work.db.execute(FINISH, _held(held) | until).rowcount)


def give_back(arena: Arena, held: Assignment, trouble: str, *, suspicion: int = ALONE) -> None:
    """We could not play it; nobody loses by that. It is planned again, or failed after too many attempts.

    `suspicion` 0: a stopping worker, or a sick machine, which says nothing about the match.
    """
    with arena.work() as work:
        if _release(work, held.tournament_id, held.number, held.token, trouble, suspicion):
            incidents.note(work, incidents.HANDED_BACK, held.match_id, text=trouble)
    gone_on(arena, held.tournament_id)


def inherit(arena: Arena, place: str, heir: str) -> int:
    """`heir` is a worker's new process in the `place` of one that died: what that one held is planned again.

    The worker itself lives, so the process died alone, and of all things at this match. How many there were.
    """
    with arena.work() as work:
        of_place = match.c.lease_worker.startswith(f"{place}-", autoescape=True)
        of_it = and_(LEASED, of_place, match.c.lease_worker != heir)
        columns = (match.c.tournament_id, match.c.number, match.c.lease_token, match.c.lease_worker)
        found = work.db.execute(select(*columns).where(of_it)).all()
        # In the order of all who lock several; asked for it, SQLite would read all matches.
        for row in sorted(found, key=lambda row: (row.tournament_id, row.number)):
            _take_back(work, row, f"{row.lease_worker} died", ALONE)
    return len(found)


def take_back_silent(work: Work, lease_ms: int, watched: int) -> int:
    """Plan again what silent workers hold; how many. `watched`: of the watch's milliseconds.

    When a lease is over, those of the same worker that are long without a sign of life go with it.
    """
    found = watch.silent(work, match, LEASED, watched)
    over = {_host(row) for row, silent_ms in found if silent_ms >= lease_ms}
    lost = [row for row, ms in found if ms >= lease_ms or (2 * ms > lease_ms and _host(row) in over)]
    together = Counter(map(_host, lost))
    for row in lost:
        suspicion = ALONE if together[_host(row)] == 1 else TOGETHER
        _take_back(work, row, f"{row.lease_worker} went silent", suspicion)
    return len(lost)


def _host(row: "Row[Any]") -> str:
    """The worker a process belongs to: its name without place and process, see `workers/workshop.py`."""
    return str(row.lease_worker).rsplit("-", 2)[0]


def _take_back(work: Work, row: Any, trouble: str, suspicion: int) -> None:
    about = f"{row.tournament_id}-{row.number}"
    if _release(work, row.tournament_id, row.number, row.lease_token, trouble, suspicion):
        incidents.note(work, incidents.SILENT, about, worker=row.lease_worker, text=trouble)


def waiting(work: Work, most: int) -> int:
    """How many matches could be played now, counted up to `most`."""
    some = select(match.c.number).where(PLAYABLE).limit(most).subquery()
    return work.db.scalar(select(func.count()).select_from(some)) or 0


def gone_on(arena: Arena, tournament_id: str) -> None:
    """Have the tournament go on, if it is time. What is committed is: `reap` does the same later."""
    try:
        stages.advance(arena, tournament_id)
    except Unavailable:
        log.warning("stage_left_to_reap", tournament=tournament_id)
    except Exception:  # ours, and none of whoever gave in a result: it is written
        log.exception("stage_not_planned", tournament=tournament_id)


def _lease(arena: Arena) -> timedelta:
    return timedelta(seconds=arena.settings.lease_seconds)


def anything(work: Work, tournament_id: str | None = None) -> bool:
    """Whether something waits to be played, at all or of one tournament."""
    if tournament_id is None:
        return bool(work.db.scalar(IS_ANYTHING))
    return bool(work.db.scalar(IS_ANYTHING_OF_THIS, {"this": tournament_id}))


def _claim(work: Work, worker: str, lease: timedelta, found: Sequence[Any]) -> Assignment | None:
    for chosen in _in_turn(work, found) if len(found) > 1 else found:
        row = work.db.execute(NEXT, {"this": chosen.id}).first()
        if row is not None:
            return _leased(work, worker, lease, row)
    return None


def _in_turn(work: Work, found: Sequence[Any]) -> Sequence[Any]:
    """Running tournaments with something planned, as `TURNS` finds them, in the order they are to be served.

    First the owner with the fewest matches in play, then whoever was served longest ago: neither many
    tournaments nor a long one give anybody more than a fair share.
    """
    # Not grouped by the database: SQLite would read all matches in the order of the groups.
    in_play = Counter(work.db.scalars(IN_PLAY))
    burden: Counter[str] = Counter()
    served: dict[str, datetime] = {}
    for row in found:
        burden[row.owner_id] += in_play[row.id]
        served[row.owner_id] = max(served.get(row.owner_id, EPOCH), row.claimed_at or EPOCH)

    def turn(row: Any) -> tuple[int, datetime, int, datetime, str]:
        owner = row.owner_id
        return burden[owner], served[owner], in_play[row.id], row.claimed_at or EPOCH, row.id

    return sorted(found, key=turn)


def _leased(work: Work, worker: str, lease: timedelta, row: Any) -> Assignment:
    token = secrets.token_hex(16)
    values = {"status": "leased", "lease_token": token, "lease_worker": worker, "attempts": row.attempts + 1}
    times = {"lease_until": work.now + lease, "started_at": work.now}
    this = {"this": row.tournament_id}
    work.db.execute(LEASE, {**this, "key": row.number, **values, **times})
    of = work.db.execute(RULES, this).one()
    _served(work, row.tournament_id)
    entered = work.db.execute(VERSIONS, {**this, "numbers": row.entrants})
    versions = {each.number: each.version_id for each in entered}
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


def _held(held: Assignment | Sheet) -> dict[str, Any]:
    return _under(held.tournament_id, held.number, held.token)


def _under(tournament_id: str, number: int, token: str) -> dict[str, Any]:
    """The fence's: this match, as long as this very lease is the present one."""
    return {"this": tournament_id, "key": number, "held": token}


def _finish(work: Work, sheet: Sheet) -> bool:
    if not work.db.execute(FINISH, _result(work, sheet)).rowcount:
        return False
    _write(work, [sheet])
    return True


def finish_all(work: Work, sheets: Sequence[Sheet]) -> None:
    """Write results whose leases are known to be the present ones, and locked."""
    if sheets:
        work.db.execute(FINISH, [_result(work, each) for each in sheets])
        _write(work, sheets)


def _result(work: Work, sheet: Sheet) -> dict[str, Any]:
    done = {"status": "done", "lease_token": None, "lease_until": None, "finished_at": work.now}
    return {**_held(sheet), **sheet.match, **done}


def _write(work: Work, sheets: Sequence[Sheet]) -> None:
    """The rows of a result beside its match's, and what is added to progress."""
    work.db.execute(SEATS, [dict(seat) for sheet in sheets for seat in sheet.seats])
    if faults := [dict(each) for sheet in sheets for each in sheet.faults]:
        work.db.execute(FAULTS, faults)
    for sheet in sheets:
        work.steps.note_faults(sheet.number, [each["kind"] for each in sheet.faults])
        told = {name: sheet.match[name] for name in ("faults", "decisions")}
        work.steps.note(sheet.tournament_id, sheet.number, done=1, ended=1, **told)


def _release(work: Work, tournament_id: str, number: int, token: str, trouble: str, suspicion: int) -> bool:
    """End a lease without a result, if it still is the present one."""
    fence = _under(tournament_id, number, token)
    before = work.db.scalar(select(match.c.suspicion).where(FENCE).with_for_update(), fence)
    if before is None:
        return False
    status = "failed" if suspicion and before + suspicion >= ENOUGH else "planned"
    lease = {"lease_token": None, "lease_until": None}
    values = {"status": status, "trouble": trouble, "suspicion": before + suspicion}
    work.db.execute(FINISH, {**fence, **lease, **values})
    work.steps.note(tournament_id, number, ended=1, failed=int(status == "failed"))
    if status == "failed":
        incidents.note(work, incidents.FAILED, f"{tournament_id}-{number}", text=trouble)
    else:
        work.send(Job(PLAY, (secrets.randbelow(1 << 30),)))
    return True
