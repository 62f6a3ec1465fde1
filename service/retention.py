"""Old records move out of the database into files (`service.shelf`); results and ratings stay.

A tournament's file is written and read back before its records leave the database, portion by portion; what
is interrupted goes on later. Where a record is, `some` knows: whoever reads one asks there.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import Connection, and_, bindparam, delete, exists, func, insert, select, update
from sqlalchemy.sql import ColumnElement

from service import shelf
from service.contest import COMPARISON
from service.errors import Conflict, Gone, NotFound
from service.shelf import Damaged, Entry
from service.stages import OVER
from service.tables import match, record_file, summary, tournament
from service.work import Arena

log = structlog.get_logger(__name__)
PORTION = 1_000  # records in one statement
SUMMED = exists().where(summary.c.tournament_id == tournament.c.id)
Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Shelved:
    """A tournament whose records are in a file; `here`: whether this machine has it.

    `partly_back`: some are in the database as well, because `bring_back` was interrupted.
    """

    tournament_id: str
    name: str
    file: str
    matches: int
    sha256: str
    moved_at: datetime
    here: bool
    partly_back: bool


def named(arena: Arena, told: str) -> str:
    """The id of the tournament with this id, or else name. Raises `NotFound`; `Conflict` for several."""
    with arena.read() as db:
        if db.scalar(select(tournament.c.id).where(tournament.c.id == told)) is not None:
            return told
        query = select(tournament.c.id, tournament.c.name).where(tournament.c.format != COMPARISON)
        found = [row.id for row in db.execute(query) if row.name.casefold() == told.casefold()]
    if not found:
        raise NotFound(f"no tournament {told}")
    if len(found) > 1:
        raise Conflict(f"{len(found)} tournaments are called {told}; say which: {', '.join(found[:10])}")
    return str(found[0])


def due(arena: Arena, days: int | None = None) -> list[str]:
    """Tournaments over for longer than `days` (as the settings say), the oldest first.

    They must be summed up, have a match that was played, and not have been brought back. One whose records
    were being moved is due too.
    """
    moved = exists().where(record_file.c.tournament_id == tournament.c.id)
    going = moved.where(record_file.c.back_at.is_(None), ~record_file.c.cleared)
    ready = and_(_old(arena, days), SUMMED, ~moved)
    query = select(tournament.c.id).where(ready | going).order_by(tournament.c.finished_at, tournament.c.id)
    with arena.read() as db:
        return list(db.scalars(query))


def too_early(arena: Arena, days: int) -> int:
    """How many are over for longer than `days`, but not summed up yet."""
    moved = exists().where(record_file.c.tournament_id == tournament.c.id)
    query = select(func.count()).select_from(tournament).where(_old(arena, days), ~SUMMED, ~moved)
    with arena.read() as db:
        return db.scalar(query) or 0


def _old(arena: Arena, days: int | None) -> ColumnElement[bool]:
    before = arena.clock() - timedelta(days=arena.settings.records_days if days is None else days)
    played = exists().where(match.c.tournament_id == tournament.c.id, match.c.status == "done")
    return and_(tournament.c.status.in_(OVER), tournament.c.finished_at < before, played)


def move(arena: Arena, tournament_id: str, tell: Tell = lambda done, of: None) -> Path:
    """Move a tournament's records out of the database; again, or after an interruption: goes on.

    Raises `Conflict` while it is played, when a record is missing, when another file has its name, and when
    they are brought back meanwhile; `NotFound`; and `OSError` when there is no room. Then all stays.
    """
    with arena.read(steady=True) as db:
        row = db.execute(select(tournament).where(tournament.c.id == tournament_id)).first()
        if row is None:
            raise NotFound(f"no tournament {tournament_id}")
        if row.status not in OVER:
            raise Conflict(f"{row.name} is {row.status}; records are moved when it is over")
        known = _file(db, tournament_id)
        path = arena.settings.records / (known.file if known else f"{tournament_id}.records")
        made = None if known else _filed(db, path, row)
    if made is not None:
        _register(arena, tournament_id, path, made)
    _clear(arena, tournament_id, tell)
    log.info("records_moved", tournament=tournament_id, file=str(path))
    return path


def bring_back(arena: Arena, tournament_id: str, tell: Tell = lambda done, of: None) -> int:
    """Put a tournament's records into the database again; how many. The file stays; so do they.

    A portion a transaction, so that nobody waits; after an interruption, again: goes on.
    Raises `NotFound` if they were not moved, `Gone` without the file, `Damaged` if it is another one.
    """
    with arena.read() as db:
        known = _moved(db, tournament_id)
    path, done = _here(arena, known), 0
    if shelf.checked(path) != known.sha256:
        raise Damaged(f"{path} is another file than was written")
    missing = and_(match.c.tournament_id == tournament_id, match.c.status == "done", match.c.record.is_(None))
    back = update(match).where(missing, match.c.number == bindparam("key"))
    held = {each.number for each in shelf.entries(path, of=tournament_id)}
    while True:
        for some in _portions(shelf.each(path, of=tournament_id)):
            with arena.work() as work:
                _moved(work.db, tournament_id, lock=True)
                work.db.execute(back, [{"key": number, "record": record} for number, record in some])
            done += len(some)
            tell(min(done, known.matches), known.matches)
        with arena.work() as work:
            _moved(work.db, tournament_id, lock=True)  # nothing is cleared meanwhile
            if held.isdisjoint(work.db.scalars(select(match.c.number).where(missing))):
                of_it = record_file.c.tournament_id == tournament_id
                work.db.execute(update(record_file).where(of_it).values(back_at=work.now))
                break
    log.info("records_brought_back", tournament=tournament_id, matches=known.matches)
    return int(known.matches)


def _portions(records: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    while some := list(islice(records, PORTION)):
        yield some


def shelved(arena: Arena) -> list[Shelved]:
    """All that is in files, the latest first."""
    of_it = (match.c.tournament_id == record_file.c.tournament_id, match.c.status == "done")
    first = select(match.c.record.is_not(None)).where(*of_it).order_by(match.c.number).limit(1)
    partly = and_(record_file.c.cleared, first.scalar_subquery())  # the first is brought back first
    query = select(record_file, tournament.c.name, partly.label("partly_back")).join(tournament)
    latest = query.order_by(record_file.c.moved_at.desc(), record_file.c.tournament_id)
    with arena.read() as db:
        found = db.execute(latest.where(record_file.c.back_at.is_(None))).all()
    folder = arena.settings.records
    same = ("tournament_id", "name", "file", "matches", "sha256", "moved_at", "partly_back")
    return [
        Shelved(**{name: getattr(row, name) for name in same}, here=(folder / row.file).is_file())
        for row in found
    ]


def trouble(arena: Arena, one: Shelved) -> str | None:
    """What is wrong with a file, after all of it was read; None if nothing is."""
    try:
        found = shelf.checked(arena.settings.records / one.file)
    except FileNotFoundError:
        return f"{one.file} is missing in {arena.settings.records}"
    except OSError as error:
        return f"{one.file} cannot be read: {error.strerror}"
    except Damaged as error:
        return str(error)
    return None if found == one.sha256 else f"{one.file} is another file than was written"


def some(arena: Arena, tournament_id: str, numbers: Sequence[int]) -> dict[int, bytes]:
    """Records that are not in the database: out of their file, as far as they are in it.

    Raises `Gone` where the file is not to be had; the text says where it is.
    """
    with arena.read() as db:
        known = _file(db, tournament_id) if numbers else None
    if known is None:
        return {}
    path = _here(arena, known)
    try:
        return dict(shelf.some(path, numbers, of=tournament_id))
    except (OSError, Damaged) as error:
        log.error("records_unreadable", file=str(path), error=str(error))
        raise Gone(_where(known, "is there but cannot be read; the operator must look at it")) from error


def all_of(arena: Arena, tournament_id: str) -> Iterator[tuple[int, bytes]] | None:
    """Every record of a tournament whose records were moved; None if they were not. Raises `Gone`."""
    with arena.read() as db:
        known = _file(db, tournament_id)
    return None if known is None else shelf.each(_here(arena, known), of=tournament_id)


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


def _file(db: Connection, tournament_id: str, *, lock: bool = False) -> Any:
    """Where its records are; None if they are in the database, or were brought back."""
    this = (record_file.c.tournament_id == tournament_id, record_file.c.back_at.is_(None))
    query = select(record_file).where(*this)
    return db.execute(query.with_for_update() if lock else query).first()


def _moved(db: Connection, tournament_id: str, *, lock: bool = False) -> Any:
    known = _file(db, tournament_id, lock=lock)
    if known is None:
        raise NotFound(f"the records of {tournament_id} are in the database, as far as there are any")
    return known


def _filed(db: Connection, path: Path, row: Any) -> tuple[str, int]:
    """The file's SHA-256 and number of records; it holds all of them, or `Conflict` is raised.

    A file that is there is never written over: it may be the only one that still has the records.
    """
    stored = [Entry(number, len(packed), zlib.crc32(packed)) for number, packed in _stored(db, row.id)]
    query = select(match.c.number).where(match.c.tournament_id == row.id, match.c.status == "done")
    done = db.scalars(query.order_by(match.c.number)).all()
    if path.exists():
        return _taken(path, row, stored, done), len(done)
    if not done or [each.number for each in stored] != done:
        raise Conflict(f"{row.name} has {len(stored)} records of {len(done)} matches that were played")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    told = {"tournament": row.id, "name": row.name, "finished_at": row.finished_at.isoformat()}
    return shelf.write(path, told, stored, (packed for _, packed in _stored(db, row.id))), len(done)


def _taken(path: Path, row: Any, stored: Sequence[Entry], done: Sequence[int]) -> str:
    """The SHA-256 of a file that is not registered, if it holds every match, and those known as they are."""
    sha256, held = shelf.checked(path), shelf.entries(path, of=row.id)
    if [each.number for each in held] != done or not set(stored) <= set(held):
        raise Conflict(f"{path} is there already and holds other records of {row.name}; put it away first")
    return sha256


def _stored(db: Connection, tournament_id: str) -> Iterator[tuple[int, bytes]]:
    of_it = (match.c.tournament_id == tournament_id, match.c.record.is_not(None))
    query, last = select(match.c.number, match.c.record).where(*of_it).order_by(match.c.number), -1
    while rows := db.execute(query.where(match.c.number > last).limit(PORTION)).all():
        for row in rows:
            yield row.number, bytes(row.record)
        last = rows[-1].number


def _register(arena: Arena, tournament_id: str, path: Path, made: tuple[str, int]) -> None:
    sha256, matches = made
    told = {"tournament_id": tournament_id, "file": path.name, "matches": matches, "sha256": sha256}
    back = (record_file.c.tournament_id == tournament_id, record_file.c.back_at.is_not(None))
    with arena.work() as work:
        work.db.execute(delete(record_file).where(*back))
        work.db.execute(insert(record_file).values({**told, "moved_at": work.now, "cleared": False}))


def _clear(arena: Arena, tournament_id: str, tell: Tell) -> None:
    """Take the records out of the database, a portion a transaction, so that nobody waits."""
    of_it = (match.c.tournament_id == tournament_id, match.c.record.is_not(None))
    query, last, done = select(match.c.number).where(*of_it).order_by(match.c.number).limit(PORTION), -1, 0
    while True:
        with arena.read() as db:
            found = db.scalars(query.where(match.c.number > last)).all()
        with arena.work() as work:
            known = _file(work.db, tournament_id, lock=True)
            if known is None:
                raise Conflict(f"the records of {tournament_id} were brought back meanwhile; they stay")
            if not found:
                this = record_file.c.tournament_id == tournament_id
                work.db.execute(update(record_file).where(this).values(cleared=True))
                return
            these = (*of_it, match.c.number.between(found[0], found[-1]))
            work.db.execute(update(match).where(*these).values(record=None))
        last, done = found[-1], done + len(found)
        tell(done, known.matches)
