"""Who plays which match: claimed under a lease, finished once by its holder, taken back when it runs out.

A match goes planned -> leased (worker, attempt, until) -> done. Only the holder of the present lease can
finish it; whatever comes later is refused. After three attempts that ended with us, it is `failed`.
"""

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import Row, and_, exists, func, insert, select, update

from engine.table import Fault, Outcome
from service import schedule, stages
from service.jobs import PLAY, Job
from service.tables import EPOCH, entrant, fault, match, seat
from service.tables import tournament as tournament_rows
from service.work import Arena, Work

log = structlog.get_logger(__name__)
MOST_ATTEMPTS = 3


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


@dataclass(frozen=True, slots=True)
class Spent:
    """What one seat's bot used: ms and KiB; `waited_ms` it was ready to run, without a core."""

    cpu_ms: int
    wall_ms: int
    memory_kb: int
    waited_ms: int = 0


def claim(arena: Arena, worker: str) -> Assignment | None:
    """The next match of the tournament that has the fewest being played; None when there is nothing to do."""
    with arena.work() as work:
        return _claim(work, worker, _lease(arena))


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
    """Write a result once and, in the same transaction, claim the next match if `more`.

    `replays`: how often the machine was too busy and the match was played again before this came of it.
    Returns whether the result was taken (not so when the lease was lost) and the next match.
    """
    with arena.work() as work:
        taken = _finish(work, done, outcome, spent, mode=mode, replays=replays)
        last = taken and not _anything(work, done.tournament_id)
        following = _claim(work, worker, _lease(arena)) if more else None
        if following is None and more is False and _anything(work):
            work.send(Job(PLAY, (secrets.randbelow(1 << 30),)))
    if last and stages.advance(arena, done.tournament_id) and more and following is None:
        following = claim(arena, worker)
    if not taken:
        log.warning("late_result_refused", match=done.match_id, attempt=done.attempt, worker=worker)
    return taken, following


def renew(arena: Arena, held: Assignment) -> bool:
    """Hold on to a match that is still being played; False if it was lost."""
    with arena.work() as work:
        until = work.now + _lease(arena)
        return bool(work.db.execute(update(match).where(_held(held)).values(lease_until=until)).rowcount)


def give_back(arena: Arena, held: Assignment, trouble: str) -> None:
    """We could not play it; nobody loses by that. It is planned again, or failed after too many attempts."""
    with arena.work() as work:
        _release(work, held.tournament_id, held.number, held.attempt, _held(held), trouble)
    stages.advance(arena, held.tournament_id)
    log.error("match_given_back", match=held.match_id, attempt=held.attempt, trouble=trouble)


def take_back_overdue(work: Work) -> int:
    """Plan again what silent workers hold; how many."""
    overdue = and_(match.c.status == "leased", match.c.lease_until < work.now)
    query = select(
        match.c.tournament_id, match.c.number, match.c.attempts, match.c.lease_token, match.c.lease_worker
    )
    found = work.db.execute(query.where(overdue).limit(1000).with_for_update(skip_locked=True)).all()
    for row in found:
        key = (match.c.tournament_id == row.tournament_id, match.c.number == row.number)
        held = and_(*key, match.c.status == "leased", match.c.lease_token == row.lease_token)
        trouble = f"{row.lease_worker} went silent"
        _release(work, row.tournament_id, row.number, row.attempts, held, trouble)
        log.warning("lease_expired", match=f"{row.tournament_id}-{row.number}", worker=row.lease_worker)
    return len(found)


def waiting(work: Work, most: int) -> int:
    """How many matches could be played now, counted up to `most`."""
    some = select(match.c.number).where(_playable()).limit(most).subquery()
    return work.db.scalar(select(func.count()).select_from(some)) or 0


def _lease(arena: Arena) -> timedelta:
    return timedelta(seconds=arena.settings.lease_seconds)


def _playable() -> Any:
    running = select(tournament_rows.c.id).where(tournament_rows.c.status == "running")
    return and_(match.c.status == "planned", match.c.tournament_id.in_(running))


def _anything(work: Work, tournament_id: str | None = None) -> bool:
    of_it = () if tournament_id is None else (match.c.tournament_id == tournament_id,)
    return bool(work.db.scalar(select(exists().where(_playable(), *of_it))))


def _claim(work: Work, worker: str, lease: timedelta) -> Assignment | None:
    for chosen in _tournaments(work):
        of_it = (match.c.tournament_id == chosen.id, match.c.status == "planned")
        query = (
            select(match).where(*of_it).order_by(match.c.number).limit(1).with_for_update(skip_locked=True)
        )
        row = work.db.execute(query).first()
        if row is not None:
            return _leased(work, worker, lease, chosen, row)
    return None


def _tournaments(work: Work) -> "Sequence[Row[Any]]":
    """Running tournaments with something planned, in the order in which they are to be served.

    First the owner with the fewest matches in play, then whoever was served longest ago: neither many
    tournaments nor a long one give anybody more than a fair share.
    """
    todo = exists().where(match.c.tournament_id == tournament_rows.c.id, match.c.status == "planned")
    found = work.db.execute(select(tournament_rows).where(tournament_rows.c.status == "running", todo)).all()
    counted = select(match.c.tournament_id, func.count()).where(match.c.status == "leased")
    in_play = {row[0]: row[1] for row in work.db.execute(counted.group_by(match.c.tournament_id))}
    burden: Counter[str] = Counter()
    served: dict[str, datetime] = {}
    for row in found:
        burden[row.owner_id] += in_play.get(row.id, 0)
        served[row.owner_id] = max(served.get(row.owner_id, EPOCH), row.claimed_at or EPOCH)

    def turn(row: "Row[Any]") -> tuple[int, datetime, int, datetime, str]:
        owner = row.owner_id
        return burden[owner], served[owner], in_play.get(row.id, 0), row.claimed_at or EPOCH, row.id

    return sorted(found, key=turn)


def _leased(work: Work, worker: str, lease: timedelta, of: "Row[Any]", row: "Row[Any]") -> Assignment:
    token = secrets.token_hex(16)
    values = {"status": "leased", "lease_token": token, "lease_worker": worker, "attempts": row.attempts + 1}
    times = {"lease_until": work.now + lease, "started_at": work.now}
    key = (match.c.tournament_id == row.tournament_id, match.c.number == row.number)
    work.db.execute(update(match).where(*key).values(**values, **times))
    _served(work, of.id)
    query = select(entrant.c.number, entrant.c.version_id).where(
        entrant.c.tournament_id == of.id, entrant.c.number.in_(row.entrants)
    )
    versions = {each.number: each.version_id for each in work.db.execute(query)}
    return Assignment(
        tournament_id=of.id,
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
    free = select(tournament_rows.c.id).where(tournament_rows.c.id == tournament_id)
    if work.db.scalar(free.with_for_update(skip_locked=True, key_share=True)) is not None:
        this = tournament_rows.c.id == tournament_id
        work.db.execute(update(tournament_rows).where(this).values(claimed_at=work.now))


def _held(held: Assignment) -> Any:
    key = and_(match.c.tournament_id == held.tournament_id, match.c.number == held.number)
    return and_(key, match.c.status == "leased", match.c.lease_token == held.token)


def _finish(
    work: Work, done: Assignment, outcome: Outcome, spent: Sequence[Spent], *, mode: str, replays: int
) -> bool:
    result = {
        "status": "done",
        "lease_token": None,
        "lease_until": None,
        "finished_at": work.now,
        "mode": mode,
        "replays": replays,
        "faults": len(outcome.faults),
        "record": outcome.record.pack(),
    }
    if not work.db.execute(update(match).where(_held(done)).values(result)).rowcount:
        return False
    work.db.execute(insert(seat), [_seat(done, outcome, spent, each) for each in range(len(done.entrants))])
    faults = [_fault(done, ordinal, each) for ordinal, each in enumerate(outcome.faults)]
    if faults:
        work.db.execute(insert(fault), faults)
    return True


def _seat(done: Assignment, outcome: Outcome, spent: Sequence[Spent], number: int) -> dict[str, Any]:
    return {
        "tournament_id": done.tournament_id,
        "number": done.number,
        "seat": number,
        "entrant": done.entrants[number],
        "score": outcome.scores[number],
        "counted": outcome.counted[number],
        "exact_bids": outcome.exact_bids[number],
        "place": outcome.places[number],
        "out": number in outcome.out,
        "faults": sum(each.seat == number for each in outcome.faults),
        "cpu_ms": spent[number].cpu_ms,
        "wall_ms": spent[number].wall_ms,
        "memory_kb": spent[number].memory_kb,
        "waited_ms": spent[number].waited_ms,
    }


def _fault(done: Assignment, ordinal: int, each: Fault) -> dict[str, Any]:
    return {
        "tournament_id": done.tournament_id,
        "number": done.number,
        "ordinal": ordinal,
        "version_id": done.versions[each.seat],
        "seat": each.seat,
        "kind": str(each.kind),
        "round": each.round,
        "trick": each.trick,
        "decision": each.decision,
        "asked": each.asked,
        "text": each.text.replace("\0", "\ufffd"),  # PostgreSQL keeps no NUL
        "out": each.out,
        "evidence": dict(each.evidence),
    }


def _release(work: Work, tournament_id: str, number: int, attempts: int, held: Any, trouble: str) -> None:
    status = "failed" if attempts >= MOST_ATTEMPTS else "planned"
    values = {"status": status, "lease_token": None, "lease_until": None, "trouble": trouble}
    if work.db.execute(update(match).where(held).values(values)).rowcount:
        if status == "failed":
            log.error("match_failed", match=f"{tournament_id}-{number}", attempts=attempts, trouble=trouble)
        else:
            work.send(Job(PLAY, (0,)))
