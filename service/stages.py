"""A tournament's stages: the first planned at its start, each next one when its format can tell, each once.

What takes long (a search for a schedule, results added up) is worked out before the transaction that writes
it; that one locks the tournament's row, and writes nothing if anything has moved since. So it does no harm to
be called twice, at once, or never: `reap` calls for every tournament that should go on.

Locks: a tournament's row first, then its matches. Whoever holds a match (`leases`) never waits for a row.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import structlog
from sqlalchemy import Connection, Row, Select, and_, exists, func, insert, select, update

from service import counts, lineup, parts, series
from service.formats import FORMATS, Field, Stage
from service.jobs import SETTLE, Job
from service.lineup import Playing
from service.tables import entrant, match
from service.tables import stage as stage_rows
from service.tables import tournament as rows
from service.work import Arena, Work

log = structlog.get_logger(__name__)
OVER = ("finished", "cancelled")
LIVE = ("running", "paused")
WAITING = ("draft", "scheduled")
OPEN = ("planned", "leased")
PORTIONS = 3  # stages, or parts of one, written in a row, at most, when too few matches are planned
TRIES = 3


def begin(arena: Arena, tournament_id: str) -> bool:
    """Fix versions and write the first stage, or cancel with the reason; False if it has begun or is over."""
    for _ in range(TRIES):
        with arena.read() as db:
            row = db.execute(select(rows).where(rows.c.id == tournament_id)).one()
            playing = lineup.playing(db, tournament_id)
            field = lineup.before(db, row, playing)
        if row.status not in WAITING:
            return False
        if (refusal := _refusal(row, field)) is None:
            known = replace(field, prepared=(row.plan or {}).get("prepared", {}))
            field = replace(field, prepared=FORMATS[row.format].prepare(known))
        first = None if refusal else FORMATS[row.format].stage(field, 1, [])
        with arena.work() as work:
            now = lock(work, tournament_id)
            if now.status not in WAITING or series.is_busy(work.db, tournament_id):
                return False
            if lineup.playing(work.db, tournament_id) == playing and tuple(now) == tuple(row):
                _begin(work, now, playing, field, first, refusal)
                return True
    return False


def advance(arena: Arena, tournament_id: str) -> bool:
    """Write what comes next, or close the tournament, if it is time for either; whether that was done."""
    with arena.read() as db:
        row = db.execute(select(rows).where(rows.c.id == tournament_id)).first()
        if row is None or not _due(db, row):
            return False
        field, planned = lineup.now(db, row), None
        part = parts.following(db, row, field) if parts.left(row) else []
        done = [] if part or not row.more or FORMATS[row.format].ahead else lineup.done(db, row)
    if not part and row.more and len(field.staying) > 1 and row.written <= arena.settings.max_matches:
        planned = FORMATS[row.format].stage(field, row.stage + 1, done)
    with arena.work() as work:
        now = lock(work, tournament_id)
        same = ("stage", "groups", "planned")
        moved = any(getattr(now, name) != getattr(row, name) for name in same) or not _due(work.db, now)
        if moved or lineup.now(work.db, now).gone != field.gone:
            return False
        if part:
            parts.write(work, now, part, field.gone)
        elif planned is None:
            end(work, tournament_id, "finished")
        else:
            _write(work, now, field, planned)
    return True


def begin_due(arena: Arena) -> int:
    """Start every tournament whose time has come; how many."""
    now = arena.clock()
    due = (rows.c.status == "scheduled", rows.c.start_at.is_not(None), rows.c.start_at <= now, ~series.busy())
    with arena.read() as db:
        found = db.scalars(select(rows.c.id).where(*due).order_by(rows.c.start_at).limit(10)).all()
    return sum(_guarded(arena, begin, each) for each in found)


def advance_due(arena: Arena) -> int:
    """Carry on with every tournament that waits for it; how many times that was."""
    with arena.read() as db:
        found = db.scalars(select(rows.c.id).where(rows.c.status.in_(LIVE))).all()
    return sum(_some(arena, each) for each in found)


def end(work: Work, tournament_id: str, status: str, reason: str | None = None) -> None:
    """The tournament is over; matches that are not done are void, and their leases worth nothing.

    The caller holds the tournament's row.
    """
    void(work, tournament_id)
    over = {"status": status, "reason": reason, "finished_at": work.now, "more": False}
    nothing_left = {"planned": rows.c.groups}  # or the database lets nothing half written end
    total = {"total": rows.c.written} if status == "finished" else {}
    this = (rows.c.id == tournament_id, rows.c.status.not_in(OVER))  # an end is final
    if work.db.execute(update(rows).where(*this).values(**over, **nothing_left, **total)).rowcount:
        counts.close(work, tournament_id)
        work.steps.close(tournament_id)
    work.send(Job(SETTLE, (tournament_id,)))


def void(work: Work, tournament_id: str, *only: Any) -> None:
    """Matches that are not done never will be."""
    left = and_(match.c.tournament_id == tournament_id, match.c.status.in_(OPEN), *only)
    in_order = select(match.c.status).where(left).order_by(match.c.number)  # as all who lock several
    locked_ones = in_order.with_for_update().subquery()
    counted = select(locked_ones.c.status, func.count()).group_by(locked_ones.c.status)
    gone = {status: n for status, n in work.db.execute(counted)}
    work.db.execute(update(match).where(left).values(status="void", lease_token=None, lease_until=None))
    work.steps.note(tournament_id, void=sum(gone.values()), ended=gone.get("leased", 0))


def void_unbegun(work: Work, tournament_id: str) -> None:
    """Deal groups of which nothing is played yet never will be; those begun are played to their end."""
    work.db.execute(update(rows).where(rows.c.id == tournament_id).values(planned=rows.c.groups))
    of_it = match.c.tournament_id == tournament_id
    begun = select(match.c.deal_group).where(of_it, match.c.status != "planned")
    void(work, tournament_id, match.c.deal_group.not_in(begun))


def void_returned(arena: Arena, tournament_id: str) -> None:
    """What was held when a ladder was stopped and came back unbegun is void like the rest."""
    with arena.read() as db:
        if not _is_stopped(db.execute(select(rows).where(rows.c.id == tournament_id)).one()):
            return
    with arena.work() as work:
        if _is_stopped(lock(work, tournament_id)):
            void_unbegun(work, tournament_id)
    advance(arena, tournament_id)


def lock(work: Work, tournament_id: str) -> "Row[Any]":
    """The tournament's row, which nobody else changes until this is committed."""
    return work.db.execute(locked(tournament_id)).one()


def locked(tournament_id: str) -> "Select[Any]":
    """The query for it. Rows that refer to it, such as counted results, may be written meanwhile."""
    return select(rows).where(rows.c.id == tournament_id).with_for_update(key_share=True)


def _refusal(row: "Row[Any]", field: Field) -> str | None:
    """Why it cannot be played any more."""
    if len(field.entrants) < 2:
        return _too_few(len(field.entrants))
    if row.challenger is not None and field.challenger is None:
        return "its challenger was not ready at the start"
    return None


def _too_few(count: int) -> str:
    return f"only {count} {'entrant was' if count == 1 else 'entrants were'} left at the start"


def _is_stopped(row: "Row[Any]") -> bool:
    return row.status in LIVE and not row.more and FORMATS[row.format].endless


def _due(db: Connection, row: "Row[Any]") -> bool:
    """Whether a stage may be written, or the tournament closed."""
    if row.status not in LIVE:
        return False
    if parts.left(row) or (row.more and FORMATS[row.format].ahead):
        return parts.few(db, row.id)
    return not db.scalar(select(exists().where(match.c.tournament_id == row.id, match.c.status.in_(OPEN))))


def _begin(
    work: Work,
    row: "Row[Any]",
    playing: Sequence[Playing],
    field: Field,
    first: Stage | None,
    refusal: str | None,
) -> None:
    if first is None:
        end(work, row.id, "cancelled", refusal or "nothing could be played")
        series.follow(work, row)
        return
    for each in playing:
        key = (entrant.c.tournament_id == row.id, entrant.c.number == each.number)
        work.db.execute(update(entrant).where(*key).values(version_id=each.version_id))
    plan = {"entrants": field.entrants, "challenger": field.challenger, "prepared": field.prepared}
    begun = {"status": "running", "started_at": work.now, "plan": plan}
    work.db.execute(update(rows).where(rows.c.id == row.id).values(begun))
    counts.open_pool(work, row.rules_key, row.players)
    series.follow(work, row)
    _write(work, row, field, first)


def _write(work: Work, row: "Row[Any]", field: Field, planned: Stage) -> None:
    """The stage's row and the first part of its matches; house bots fill what seats are empty."""
    seated = Counter(map(len, planned.tables))
    wanted = max((parts.missing(each, field) for each in seated), default=0)
    fillers = parts.fillers(work, row.id, wanted)
    if len(fillers) < wanted:
        reason = f"{_too_few(len(field.staying))}, and no house bot was ready to fill a seat"
        end(work, row.id, "cancelled", reason)
        return
    told = {"tournament_id": row.id, "number": row.stage + 1, "kind": planned.kind}
    listed = {"tables": planned.tables, "byes": planned.byes, "first_group": row.groups}
    work.db.execute(insert(stage_rows).values(**told, **listed, planned_at=work.now))
    games = {each: each + parts.missing(each, field) if row.duplicate else 1 for each in seated}
    matches = row.written + sum(games[each] * tables for each, tables in seated.items())
    total = matches if planned.last else max(_expected(row, field, matches), matches)
    after = {"stage": row.stage + 1, "planned": row.groups + len(planned.tables)}
    this = rows.c.id == row.id
    work.db.execute(update(rows).where(this).values(**after, more=not planned.last, total=total))
    now = work.db.execute(select(rows).where(this)).one()
    parts.write(work, now, parts.of_stage(now, planned.tables, field, fillers))
    log.info("stage_planned", tournament=row.id, stage=now.stage, matches=matches - row.written)


def _expected(row: "Row[Any]", field: Field, written: int) -> int:
    """All matches, by forecast where results decide; of what never ends those of a further batch."""
    more = FORMATS[row.format].groups(field) * (field.size if row.duplicate else 1)
    return written + more if FORMATS[row.format].endless and row.stage else more


def _some(arena: Arena, tournament_id: str) -> int:
    done = 0
    while done < PORTIONS and _guarded(arena, advance, tournament_id):
        done += 1
    return done


def _guarded(arena: Arena, act: Any, tournament_id: str) -> bool:
    """One tournament that cannot go on must not keep the others from it."""
    try:
        return bool(act(arena, tournament_id))
    except Exception:
        log.exception("stage_not_planned", tournament=tournament_id)
        return False
