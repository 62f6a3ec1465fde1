"""Old records move out of the database into files (`service.shelf`); results and ratings stay.

A tournament's file is written and read back before its records leave the database, portion by portion; what
is interrupted goes on later. Where a record is, `find` knows: whoever reads one asks there.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import Connection, and_, delete, exists, insert, select, update

from service import shelf
from service.errors import Conflict, Gone, NotFound
from service.shelf import Damaged, Entry
from service.stages import OVER
from service.tables import match, record_file, summary, tournament
from service.work import Arena

log = structlog.get_logger(__name__)
PORTION = 1_000  # records in one statement
Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Shelved:
    """A tournament whose records are in a file; `here`: whether this machine has it."""

    tournament_id: str
    name: str
    file: str
    matches: int
    sha256: str
    moved_at: datetime
    here: bool


def due(arena: Arena, days: int | None = None, *, limit: int | None = None) -> list[str]:
    """Tournaments over for longer than `days` (as the settings say), and summed up; the oldest first."""
    days = arena.settings.records_days if days is None else days
    before = arena.clock() - timedelta(days=days)
    known = exists().where(summary.c.tournament_id == tournament.c.id)
    moved = exists().where(record_file.c.tournament_id == tournament.c.id)
    going = exists().where(record_file.c.tournament_id == tournament.c.id, ~record_file.c.cleared)
    ready = and_(tournament.c.status.in_(OVER), tournament.c.finished_at < before, known, ~moved)
    query = select(tournament.c.id).where(ready | going).order_by(tournament.c.finished_at, tournament.c.id)
    with arena.read() as db:
        return list(db.scalars(query.limit(limit)))


def move_next(arena: Arena) -> str | None:
    """What the desk does when nothing else is to be done, if the operator wants it; which it was."""
    if not arena.settings.records_days:
        return None
    found = due(arena, limit=1)
    if found:
        move(arena, found[0])
        return found[0]
    return None


def move(arena: Arena, tournament_id: str, tell: Tell = lambda done, of: None) -> Path:
    """Move a tournament's records out of the database; again, or after an interruption: goes on.

    Raises `Conflict` while it is played, `NotFound`, and `OSError` when there is no room; then all stays.
    """
    with arena.read(steady=True) as db:
        row = db.execute(select(tournament).where(tournament.c.id == tournament_id)).first()
        if row is None:
            raise NotFound(f"no tournament {tournament_id}")
        if row.status not in OVER:
            raise Conflict(f"{row.name} is {row.status}; records are moved when it is over")
        known = _file(db, tournament_id)
        path = arena.settings.records / (known.file if known else f"{tournament_id}.records")
        sha256 = "" if known else _written(db, path, row)
    if known is None:
        _register(arena, tournament_id, path, sha256)
    _clear(arena, tournament_id, tell)
    log.info("records_moved", tournament=tournament_id, file=str(path))
    return path


def bring_back(arena: Arena, tournament_id: str, tell: Tell = lambda done, of: None) -> int:
    """Put a tournament's records into the database again; how many. The file stays."""
    with arena.read() as db:
        known = _file(db, tournament_id)
    if known is None:
        raise NotFound(f"the records of {tournament_id} are in the database, as far as there are any")
    path, done = _here(arena, known), 0
    shelf.checked(path)
    with arena.work() as work:
        for number, record in shelf.each(path):
            this = (match.c.tournament_id == tournament_id, match.c.number == number)
            work.db.execute(update(match).where(*this).values(record=record))
            done += 1
            if done % PORTION == 0:
                tell(done, known.matches)
        work.db.execute(delete(record_file).where(record_file.c.tournament_id == tournament_id))
    log.info("records_brought_back", tournament=tournament_id, matches=done)
    return done


def shelved(arena: Arena) -> list[Shelved]:
    """All that was moved, the latest first."""
    query = select(record_file, tournament.c.name).join(tournament)
    with arena.read() as db:
        found = db.execute(query.order_by(record_file.c.moved_at.desc(), record_file.c.tournament_id)).all()
    folder = arena.settings.records
    same = ("tournament_id", "name", "file", "matches", "sha256", "moved_at")
    return [
        Shelved(**{name: getattr(row, name) for name in same}, here=(folder / row.file).is_file())
        for row in found
    ]


def trouble(arena: Arena, one: Shelved) -> str | None:
    """What is wrong with a file, after all of it was read; None if nothing is."""
    try:
        found = shelf.checked(arena.settings.records / one.file)
    except (OSError, Damaged) as error:
        return str(error)
    return None if found == one.sha256 else f"{one.file} is another file than was written"


def find(arena: Arena, tournament_id: str, number: int) -> bytes | None:
    """A record that is not in the database: out of its file. None if there is none anywhere.

    Raises `Gone` where the file is not to be had; the text says where it is.
    """
    with arena.read() as db:
        known = _file(db, tournament_id)
    if known is None:
        return None
    path = _here(arena, known)
    try:
        return shelf.one(path, number)
    except (OSError, Damaged) as error:
        log.error("records_unreadable", file=str(path), error=str(error))
        raise Gone(_where(known, "is there but cannot be read; the operator must look at it")) from error


def all_of(arena: Arena, tournament_id: str) -> Iterator[tuple[int, bytes]] | None:
    """Every record of a tournament whose records were moved; None if they were not. Raises `Gone`."""
    with arena.read() as db:
        known = _file(db, tournament_id)
    return None if known is None else shelf.each(_here(arena, known))


def _here(arena: Arena, known: Any) -> Path:
    path: Path = arena.settings.records / known.file
    if not path.is_file():
        raise Gone(_where(known, "is not on the machine that answers; ask the operator"))
    return path


def _where(known: Any, what: str) -> str:
    return (
        f"the records of {known.tournament_id} were moved into the file {known.file} on"
        f" {known.moved_at:%Y-%m-%d}, which {what}. Results and ratings are not affected"
    )


def _file(db: Connection, tournament_id: str) -> Any:
    return db.execute(select(record_file).where(record_file.c.tournament_id == tournament_id)).first()


def _written(db: Connection, path: Path, row: Any) -> str:
    """The file, proved to be what is in the database."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    entries = [Entry(number, len(packed), zlib.crc32(packed)) for number, packed in _stored(db, row.id)]
    told = {"tournament": row.id, "name": row.name, "finished_at": row.finished_at.isoformat()}
    sha256 = shelf.write(path, told, entries, (packed for _, packed in _stored(db, row.id)))
    if shelf.checked(path) != sha256:
        raise Damaged(f"{path} does not hold what was written to it")
    return sha256


def _stored(db: Connection, tournament_id: str) -> Iterator[tuple[int, bytes]]:
    of_it = (match.c.tournament_id == tournament_id, match.c.record.is_not(None))
    query, last = select(match.c.number, match.c.record).where(*of_it).order_by(match.c.number), -1
    while rows := db.execute(query.where(match.c.number > last).limit(PORTION)).all():
        for row in rows:
            yield row.number, bytes(row.record)
        last = rows[-1].number


def _register(arena: Arena, tournament_id: str, path: Path, sha256: str) -> None:
    found = shelf.contents(path)
    told = {"tournament_id": tournament_id, "file": path.name, "matches": len(found.entries)}
    with arena.work() as work:
        row = {**told, "sha256": sha256, "moved_at": work.now, "cleared": False}
        work.db.execute(insert(record_file).values(row))


def _clear(arena: Arena, tournament_id: str, tell: Tell) -> None:
    """Take the records out of the database, a portion a transaction, so that nobody waits."""
    of_it = (match.c.tournament_id == tournament_id, match.c.record.is_not(None))
    done, total = 0, 0
    with arena.read() as db:
        total = _file(db, tournament_id).matches
    while True:
        with arena.work() as work:
            some = work.db.scalars(select(match.c.number).where(*of_it).limit(PORTION)).all()
            these = (match.c.tournament_id == tournament_id, match.c.number.in_(some))
            work.db.execute(update(match).where(*these).values(record=None))
            if not some:
                this = record_file.c.tournament_id == tournament_id
                work.db.execute(update(record_file).where(this).values(cleared=True))
                return
        done += len(some)
        tell(done, total)
