"""Entrants: named by the organiser or entered by their authors. `service.leaving` lets them go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Connection, Row, insert, select, update

from service import accounts, lineup, quotas, stages
from service.accounts import Account, Scope
from service.errors import Conflict, Forbidden, Invalid, NotFound
from service.formats import FORMATS
from service.reading import MOST_ENTRANTS, Wrong
from service.stages import WAITING
from service.tables import bot, entrant, version
from service.tables import tournament as rows
from service.work import Arena, Work

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entrant: a bot, and the version if one was named (else its newest ready one, at the start)."""

    bot_id: str
    version_id: str | None


def listed(db: Connection, told: Sequence[str], wrong: Wrong, *, least: int = 2) -> tuple[Entry, ...]:
    """The entrants that an organiser names, each checked."""
    if not least <= len(told) <= MOST_ENTRANTS:
        wrong["entrants"] = [f"must name {least} to {MOST_ENTRANTS:,} bots, each once"]
        return ()
    refusals = _refusals(db, told)
    wrong.update({f"entrants.{index}": [reason] for index, reason in refusals.items()})
    return tuple(_entry(each) for each in told)


def enter(arena: Arena, caller: Account, tournament_id: str, told: str) -> None:
    """Enter a bot before the start: one's own while entry is open, any as the organiser. Again: no harm.

    Where entry is open the quota knows already how many may enter; else each makes the tournament larger.
    """
    larger = _larger(arena, caller, tournament_id)
    with arena.work() as work:
        accounts.lock(work, caller)
        row = seen(work.db, caller, tournament_id)
        entry = _entry(told)
        here = entered(work.db, tournament_id)
        if any((each.bot_id, each.version_id) == (entry.bot_id, entry.version_id) for each in here):
            _still_in(here, entry)
            _own(work.db, caller, row, entry)
            return
        _may_enter(work, caller, row, entry, len(here))
        present = [each.version_id or each.bot_id for each in here]
        if refusal := _refusals(work.db, [*present, told]).get(len(present)):
            raise Invalid({"entrant": [refusal]})
        _has_room(arena, work, caller, row, len(here) + 1, larger)
        number = {"tournament_id": tournament_id, "number": len(here)}
        work.db.execute(insert(entrant).values(**number, bot_id=entry.bot_id, version_id=entry.version_id))
    log.info("entered", tournament=tournament_id, bot=entry.bot_id)


def _entry(told: str) -> Entry:
    return Entry(told.partition(":")[0], told if ":" in told else None)


def _refusals(db: Connection, told: Sequence[str]) -> dict[int, str]:
    """Why some of these cannot enter, by their index."""
    ids = {each.partition(":")[0] for each in told}
    known = {row.id: row for row in db.execute(select(bot).where(bot.c.id.in_(ids)))}
    status = select(version.c.id, version.c.status).where(version.c.bot_id.in_(ids))
    versions = {row.id: row.status for row in db.execute(status)}
    ready = lineup.newest_ready(db, list(ids))
    seen: set[str] = set()
    found: dict[int, str] = {}
    for index, each in enumerate(told):
        resolved = each if ":" in each else ready.get(each, each)
        if reason := _refusal(each, known, versions, ready):
            found[index] = reason
        elif {each, resolved} & seen:
            found[index] = f"{known[each.partition(':')[0]].name} is named twice"
        seen |= {each, resolved}
    return found


def _refusal(
    each: str, known: Mapping[str, "Row[Any]"], versions: Mapping[str, str], ready: Mapping[str, str]
) -> str | None:
    bot_id = each.partition(":")[0]
    if bot_id not in known:
        return f"no bot {bot_id[:60]}"
    name = known[bot_id].name
    if known[bot_id].retired_at is not None:
        return f"{name} is retired"
    if ":" in each and each not in versions:
        return f"{name} has no version {each.partition(':')[2][:20]}"
    if ":" in each and versions[each] != "ready":
        return f"this version of {name} is {versions[each]}, it must be ready"
    if ":" not in each and bot_id not in ready:
        return f"{name} has no ready version; the report of its check says why"
    return None


def seen(db: Connection, caller: Account, tournament_id: str, *, lock: bool = True) -> "Row[Any]":
    """The tournament's row; drafts are nobody else's, and comparisons are no tournaments."""
    row = db.execute(
        stages.locked(tournament_id) if lock else select(rows).where(rows.c.id == tournament_id)
    ).first()
    if (
        row is None
        or row.format not in FORMATS
        or (row.status == "draft" and not caller.may_change(row.owner_id))
    ):
        raise NotFound(f"no tournament {tournament_id}")
    return row


def entered(db: Connection, tournament_id: str) -> "Sequence[Row[Any]]":
    """Its entrants by number, without those that only fill seats."""
    of_it = entrant.c.tournament_id == tournament_id
    return db.execute(select(entrant).where(of_it, ~entrant.c.filler).order_by(entrant.c.number)).all()


def _still_in(here: "Sequence[Row[Any]]", entry: Entry) -> None:
    if any(each.bot_id == entry.bot_id and each.status == "disqualified" for each in here):
        raise Conflict("this bot is disqualified")


def _may_enter(work: Work, caller: Account, row: "Row[Any]", entry: Entry, count: int) -> None:
    organises = caller.may_organise(row.owner_id)
    if not organises:
        speaks_for_bots(caller)
    if row.status not in WAITING:
        raise Conflict(f"the tournament is {row.status}; bots enter before the start")
    if not organises and not row.entry_open:
        raise Conflict("its organiser names the entrants of this tournament")
    if not organises and row.entry_deadline is not None and work.now > row.entry_deadline:
        raise Conflict("the deadline for entries is over")
    _own(work.db, caller, row, entry)
    if count >= (row.entry_limit or MOST_ENTRANTS):
        raise Conflict(f"all {count} places are taken")


def _own(db: Connection, caller: Account, row: "Row[Any]", entry: Entry) -> None:
    """Raises `Forbidden` if it is another account's bot; the organiser may name any."""
    owner = db.scalar(select(bot.c.owner_id).where(bot.c.id == entry.bot_id))
    if not caller.may_organise(row.owner_id) and owner is not None and not caller.may_change(owner):
        raise Forbidden("authors enter their own bots only")


def speaks_for_bots(caller: Account) -> None:
    """Raises `Forbidden` for a token that is for tournaments only: it may do so in its owner's alone."""
    if not {Scope.AUTHOR, Scope.ADMIN} & {*caller.scopes}:
        held = ", ".join(sorted(caller.scopes))
        raise Forbidden(f"This needs a token with the scope author; this one has {held}")


def _larger(arena: Arena, caller: Account, tournament_id: str) -> tuple[int, int] | None:
    """How many entrants there are with one more, and the matches that makes; None: that is no question."""
    with arena.read() as db:
        row = db.execute(select(rows).where(rows.c.id == tournament_id)).first()
        count = 1 + len(entered(db, tournament_id))
    told = row is None or row.entry_open or row.status not in WAITING or not caller.may_change(row.owner_id)
    if told or row is None or row.format not in FORMATS or not 2 <= count <= MOST_ENTRANTS:
        return None
    return count, lineup.expected(row, count)


def _has_room(
    arena: Arena, work: Work, caller: Account, row: "Row[Any]", count: int, larger: tuple[int, int] | None
) -> None:
    """Raises `Invalid` if the tournament, or what waits of its owner's, would become too large."""
    if row.entry_open or count < 2:
        return
    if larger is None or larger[0] != count:
        raise Conflict("it was changed by somebody else just now; look again")
    total, most = larger[1], arena.settings.max_matches
    if total > most:
        raise Invalid({"entrant": [f"this makes {total:,} matches, at most {most:,} are allowed"]})
    quotas.more_matches(arena, work, caller, total - row.total, field="entrant")
    work.db.execute(update(rows).where(rows.c.id == row.id).values(total=total))
