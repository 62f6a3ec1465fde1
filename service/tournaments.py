"""Tournaments: created, started, paused, resumed, cancelled, finished."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import Connection, Row, delete, insert, or_, select, true, tuple_, update

from service import accounts, names, pace, paging, progress, quotas, series, spec, stages
from service.accounts import Account
from service.errors import Conflict, Forbidden, NotFound
from service.formats import FORMATS
from service.jobs import PLAY, Job
from service.paging import Micros, Page
from service.reading import Opening
from service.spec import Entry
from service.stages import LIVE, OVER, WAITING
from service.tables import account, bot, comparison, entrant, match, version
from service.tables import tournament as rows
from service.work import Arena, Work

log = structlog.get_logger(__name__)
STATUSES = (*WAITING, *LIVE, *OVER)
SECRET_BYTES = 32
MOST_SHOWN = 100  # failed matches


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is; `eta` is a guess from the pace so far, None for what goes on until it is stopped.

    `void` matches are those that fell away: with who left, or with all that a stop or cancellation left over.
    """

    played: int
    total: int
    failed: int
    void: int
    faults: int
    eta: datetime | None


@dataclass(frozen=True, slots=True)
class Entrant:
    """Who plays; `version` is fixed at the start. `status`: in, withdrawn, disqualified (with a reason).

    A `filler` is a house bot on a seat that nobody else had; it is not rated.
    """

    number: int
    bot_id: str
    version: int | None
    name: str
    owner: str
    status: str
    reason: str | None
    filler: bool


@dataclass(frozen=True, slots=True)
class Failed:
    """A match that was given up, and what its organiser may know of the reason."""

    match: str
    trouble: str


@dataclass(frozen=True, slots=True)
class Tournament:
    """One tournament. `secret`, from which all deals follow, is shown when it is over; its hash always.

    `stage`: how many are planned so far; `stages`: how many were asked for. `pair_spread`: in a round robin,
    how many more tables one pair may share than another. `seeds`: in a knock-out that has begun, the numbers
    of those who began, best first; None in lists.
    """

    id: str
    name: str
    owner: str
    owner_id: str
    format: str
    status: str
    reason: str | None
    rules: dict[str, Any]
    players: int
    deals: int
    duplicate: bool
    meetings: int
    limits: dict[str, Any]
    seed: str
    secret_hash: str
    secret: str | None
    start_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    stages: int | None
    stage: int
    challenger: str | None
    same_owner: str
    entry: Opening
    repeat: str | None
    series: str | None
    pair_spread: int | None
    seeds: list[int] | None
    progress: Progress
    entrants: list[Entrant] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)


def create(arena: Arena, caller: Account, told: Mapping[str, Any]) -> Tournament:
    """A tournament from a request's body, started at once if its time has come. Raises `Invalid`."""
    made, tournament_id = spec.read(arena, told), names.new_id("t")
    with arena.work() as work:
        accounts.lock(work, caller)
        quotas.more_matches(arena, work, caller, made.total)
        new = {"id": tournament_id, "owner_id": caller.id, "secret": secrets.token_bytes(SECRET_BYTES)}
        work.db.execute(insert(rows).values(**_row(made), **new, created_at=work.now))
        _enter(work, tournament_id, made.entries)
    log.info("tournament_created", tournament=tournament_id, owner=caller.id, matches=made.total)
    return _begun(arena, caller, tournament_id)


def edit(arena: Arena, caller: Account, tournament_id: str, changes: Mapping[str, Any]) -> Tournament:
    """Change a tournament before its start; everything is checked again. Raises `Conflict` afterwards."""
    with arena.work() as work:
        before = _editable(work, caller, tournament_id)
        listed = work.db.execute(_entries(tournament_id)).all()
    told = {**spec.written(before, list(listed)), **changes}
    made = spec.read(arena, told, past=(before.start_at, before.entry_deadline))
    with arena.work() as work:
        accounts.lock(work, caller)
        same = tuple(_editable(work, caller, tournament_id)) == tuple(before)
        if not same or work.db.execute(_entries(tournament_id)).all() != listed:
            raise Conflict("it was changed by somebody else just now; look again")
        quotas.more_matches(arena, work, caller, made.total - before.total)
        work.db.execute(update(rows).where(rows.c.id == tournament_id).values(_row(made)))
        if "entrants" in changes:
            out = [each._asdict() for each in listed if each.status != "in"]
            work.db.execute(delete(entrant).where(entrant.c.tournament_id == tournament_id))
            _enter(work, tournament_id, made.entries)
            for number, each in enumerate(out, len(made.entries)):
                work.db.execute(insert(entrant).values({**each, "number": number}))
    log.info("tournament_edited", tournament=tournament_id, fields=sorted(changes))
    return _begun(arena, caller, tournament_id)


def tournaments(
    arena: Arena,
    *,
    limit: int = 50,
    cursor: str | None = None,
    status: str | None = None,
    series: str | None = None,
    viewer: Account | None = None,
) -> Page[Tournament]:
    """Tournaments, newest first, without their entrants; of drafts the viewer's own."""
    key = (rows.c.created_at, rows.c.id)
    only = rows.c.id.not_in(select(comparison.c.tournament_id))  # those have a list of their own
    query = _select().where(only, shown(viewer)).order_by(*(column.desc() for column in key)).limit(limit + 1)
    if (after := paging.read(cursor, Micros, str)) is not None:
        query = query.where(tuple_(*key) < paging.row(key, [paging.moment(after[0]), after[1]]))
    if status is not None:
        query = query.where(rows.c.status == status)
    if series is not None:
        query = query.where((rows.c.series == series) | (rows.c.id == series))
    with arena.read() as db:
        found = db.execute(query).all()
        far = _progress(db, found, arena.clock())
    return paging.cut(
        found,
        limit,
        lambda row: [paging.micros(row.created_at), row.id],
        lambda row: _shape(row, far[row.id]),
    )


def tournament(arena: Arena, tournament_id: str, viewer: Account | None = None) -> Tournament:
    """One tournament with entrants and progress; a draft only for its owner."""
    with arena.read() as db:
        row = db.execute(_select().where(rows.c.id == tournament_id, shown(viewer))).first()
        if row is None:
            raise NotFound(f"no tournament {tournament_id}")
        far = _progress(db, [row], arena.clock())[row.id]
        failed = _failed(db, tournament_id) if far.failed else []
        return replace(_shape(row, far, entrants(db, tournament_id)), failed=failed)


def trouble(said: str | None) -> str:
    """Why a match was given up, as anybody may know it: names of machines and programs are the operator's."""
    if any((said or "").endswith(end) for end in (" died", " went silent")):
        return "its worker died while it was played"
    if (said or "").startswith("MachineBusy: "):
        return "the machines had too little time or memory for its bots"
    return "it could not be played: a failure of ours"


def start(arena: Arena, caller: Account, tournament_id: str) -> Tournament:
    """Start now, whatever `start_at` says. Running already: nothing happens."""
    with arena.work() as work:
        status = _own(work, caller, tournament_id).status
        if status in WAITING and series.is_busy(work.db, tournament_id):
            raise Conflict("the one before it in its series is still being played")
    if status in WAITING:
        stages.begin(arena, tournament_id)
    elif status != "running":
        raise Conflict(f"a tournament that is {status} cannot be started{_hint(status)}")
    return tournament(arena, tournament_id, caller)


def pause(arena: Arena, caller: Account, tournament_id: str) -> Tournament:
    """No new match is handed out from now on; what workers hold is finished and counts.

    Of several short ones it begins what it has time for: 1.5 times `RAGE_BATCH_MS` (`workers/playing.py`).
    """
    return _switch(arena, caller, tournament_id, {"running": "paused"})


def resume(arena: Arena, caller: Account, tournament_id: str) -> Tournament:
    """Go on after a pause."""
    return _switch(arena, caller, tournament_id, {"paused": "running"})


def cancel(arena: Arena, caller: Account, tournament_id: str) -> Tournament:
    """Stop for good: what is not played never will be, what is played stays."""
    with arena.work() as work:
        row = _own(work, caller, tournament_id)
        if row.status == "finished":
            raise Conflict("a finished tournament cannot be cancelled")
        if row.status != "cancelled":
            stages.end(work, tournament_id, "cancelled", f"cancelled by {caller.name}")
    return tournament(arena, tournament_id)


def stop(arena: Arena, caller: Account, tournament_id: str) -> Tournament:
    """Let a ladder end: deals that were begun are played, all others are void; then it is finished."""
    with arena.work() as work:
        row = _own(work, caller, tournament_id)
        if row.format not in FORMATS or not FORMATS[row.format].endless:
            raise Conflict("only a ladder is stopped; another tournament ends by itself, or is cancelled")
        if row.status in WAITING or row.status == "cancelled":
            raise Conflict(f"this ladder is {row.status}")
        if row.more:
            work.db.execute(update(rows).where(rows.c.id == tournament_id).values(more=False))
            stages.void_unbegun(work, tournament_id)
    stages.advance(arena, tournament_id)
    return tournament(arena, tournament_id)


def entrants(db: Connection, tournament_id: str) -> list[Entrant]:
    """Who plays, by number."""
    query = (
        select(entrant.c.number, entrant.c.bot_id, version.c.number.label("version"), bot.c.name)
        .add_columns(account.c.name.label("owner"), entrant.c.status, entrant.c.reason, entrant.c.filler)
        .join(bot, bot.c.id == entrant.c.bot_id)
        .join(account, account.c.id == bot.c.owner_id)
        .outerjoin(version, version.c.id == entrant.c.version_id)
        .where(entrant.c.tournament_id == tournament_id)
        .order_by(entrant.c.number)
    )
    return [Entrant(**row._asdict()) for row in db.execute(query)]


def _row(made: spec.Spec) -> dict[str, Any]:
    same = ("name", "format", "players", "deals", "duplicate", "meetings", "seed", "start_at", "total")
    more = ("stages", "challenger", "apart", "repeat")
    return {
        **{name: getattr(made, name) for name in same + more},
        "status": "draft" if made.start.draft else "scheduled",
        "rules": made.rules.spec(),
        "rules_key": made.rules.key(),
        "limits": made.limits.as_dict(),
        "entry_open": made.entry.open,
        "entry_limit": made.entry.limit,
        "entry_deadline": made.entry.deadline,
        "plan": {"prepared": made.prepared},
    }


def _enter(work: Work, tournament_id: str, entries: Sequence[Entry]) -> None:
    listed = [
        {"tournament_id": tournament_id, "number": n, "bot_id": each.bot_id, "version_id": each.version_id}
        for n, each in enumerate(entries)
    ]
    if listed:
        work.db.execute(insert(entrant), listed)


def _entries(tournament_id: str) -> Any:
    return select(entrant).where(entrant.c.tournament_id == tournament_id).order_by(entrant.c.number)


def _editable(work: Work, caller: Account, tournament_id: str) -> "Row[Any]":
    row = _own(work, caller, tournament_id)
    if row.status not in WAITING:
        raise Conflict(f"the tournament is {row.status}; it can be changed before its start only")
    return row


def _begun(arena: Arena, caller: Account, tournament_id: str) -> Tournament:
    """As it is, after its start if it is time."""
    now = tournament(arena, tournament_id, caller)
    if now.status != "scheduled" or now.start_at is None or now.start_at > arena.clock():
        return now
    stages.begin(arena, tournament_id)
    return tournament(arena, tournament_id, caller)


def shown(viewer: Account | None) -> Any:
    """Which tournaments somebody may see, as a condition: of drafts their own."""
    if viewer is not None and viewer.admin:
        return true()
    return or_(rows.c.status != "draft", rows.c.owner_id == (viewer.id if viewer else None))


def _switch(arena: Arena, caller: Account, tournament_id: str, moves: Mapping[str, str]) -> Tournament:
    with arena.work() as work:
        status = _own(work, caller, tournament_id).status
        if status in moves:
            work.db.execute(update(rows).where(rows.c.id == tournament_id).values(status=moves[status]))
            if moves[status] == "running":
                work.send(Job(PLAY, (0,)))
        elif status not in moves.values():
            (before,) = moves
            raise Conflict(f"only a {before} tournament can do this; this one is {status}{_hint(status)}")
    return tournament(arena, tournament_id)


def _hint(status: str) -> str:
    return {"paused": "; resume it", "scheduled": "; start it", "draft": "; start it"}.get(status, "")


def _own(work: Work, caller: Account, tournament_id: str) -> "Row[Any]":
    found = work.db.execute(stages.locked(tournament_id)).first()
    mine = found is not None and caller.may_change(found.owner_id)
    if found is None or found.format not in FORMATS or (found.status == "draft" and not mine):
        raise NotFound(f"no tournament {tournament_id}")
    if not caller.may_change(found.owner_id):
        raise Forbidden(f"{found.name} is another account's tournament")
    return found


def _select() -> Any:
    return select(rows, account.c.name.label("owner")).join(account, account.c.id == rows.c.owner_id)


def _progress(db: Connection, found: "Sequence[Row[Any]]", now: datetime) -> dict[str, Progress]:
    stored = progress.of_tournaments(db, [row.id for row in found])
    plays = pace.latest(db, [row.id for row in found if _ends(row) and stored[row.id].done])
    return {row.id: _progress_of(row, stored[row.id], plays.get(row.id), now) for row in found}


def _ends(row: "Row[Any]") -> bool:
    """Whether it is being played and will be over by itself."""
    form = FORMATS.get(row.format)
    return row.status == "running" and not (form is not None and form.endless and row.more)


def _progress_of(
    row: "Row[Any]", so_far: progress.Done, plays: Sequence[pace.Play] | None, now: datetime
) -> Progress:
    left = max(row.total - so_far.settled, 0)
    each = pace.a_match(plays, row.started_at, now) if plays else None
    eta = None if each is None else now + each * left
    return Progress(so_far.done, row.total, so_far.failed, so_far.void, so_far.faults, eta)


def _failed(db: Connection, tournament_id: str) -> list[Failed]:
    given_up = (match.c.tournament_id == tournament_id, match.c.status == "failed")
    query = (
        select(match.c.number, match.c.trouble).where(*given_up).order_by(match.c.number).limit(MOST_SHOWN)
    )
    return [Failed(f"{tournament_id}-{row.number}", trouble(row.trouble)) for row in db.execute(query)]


def _shape(row: "Row[Any]", far: Progress, listed: Sequence[Entrant] = ()) -> Tournament:
    told = {"progress", "entrants", "failed", "secret", "secret_hash"}
    computed = told | {"same_owner", "entry", "pair_spread", "seeds"}
    prepared = (row.plan or {}).get("prepared", {})
    same = {name: getattr(row, name) for name in Tournament.__slots__ if name not in computed}
    return Tournament(
        **same,
        same_owner=spec.SAME_OWNER[row.apart],
        entry=Opening(row.entry_open, row.entry_limit, row.entry_deadline),
        pair_spread=prepared.get("spread"),
        seeds=prepared.get("seeds") if listed and row.started_at else None,
        progress=far,
        entrants=list(listed),
        secret_hash=hashlib.sha256(row.secret).hexdigest(),
        secret=row.secret.hex() if row.status in OVER else None,
    )
