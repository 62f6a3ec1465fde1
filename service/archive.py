"""The whole database in one file and back, from either kind of database into either.

Gzipped JSON lines: a header, `[table, row]` for every row, and a last line with the count and SHA-256 of all
before it. It is read in one snapshot, so it is consistent while everything goes on. Who is there and for how
long somebody has watched belongs to the moment and is left out.
"""

import base64
import gzip
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, LargeBinary, Table, delete, func, insert, select, text

from service.errors import Conflict, Invalid
from service.schema import revision
from service.tables import EPOCH, MICROSECOND, Moment, metadata, pulse, worker
from service.work import Arena

FORMAT, VERSION = "rage-archive", 1
TABLES = [table for table in metadata.sorted_tables if table not in (worker, pulse)]
BATCH = 500
OnRows = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Archive:
    """What a file holds: rows by table, the schema's revision, when it was made."""

    revision: str
    made_at: str
    tables: dict[str, int]

    @property
    def rows(self) -> int:
        """All of them."""
        return sum(self.tables.values())


def backup(arena: Arena, path: Path, on_rows: OnRows = lambda done, total: None) -> Archive:
    """Write everything to `path`, whole or not at all, for its owner's eyes only."""
    part = path.with_name(f"{path.name}.part")
    try:
        with arena.read(steady=True) as db, open(part, "wb", opener=_private) as file:
            counts = {each.name: db.scalar(select(func.count()).select_from(each)) or 0 for each in TABLES}
            made = Archive(revision(db), arena.clock().isoformat(), counts)
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as packed:
                _write(packed, _lines(db, made, on_rows))
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return made


def prune(newest: Path, keep: int) -> list[Path]:
    """Delete all but the `keep` newest backups (*.rage) beside `newest`, never that one; what was deleted."""
    others = [path for path in newest.parent.glob("*.rage") if path.name != newest.name]
    old = sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[keep - 1 :]
    for path in old:
        path.unlink()
    return old


def restore(
    arena: Arena, path: Path, *, replace: bool = False, on_rows: OnRows = lambda done, total: None
) -> Archive:
    """Fill the database from a file that `backup` wrote; all or nothing.

    Raises `Invalid` for a file that is damaged or of another schema, `Conflict` if there are rows already
    and they are not to be replaced.
    """
    found = look(path)
    with arena.work() as work:
        if found.revision != revision(work.db):
            reason = f"was made at schema {found.revision}, this database is at {revision(work.db)}"
            raise Invalid({"file": [f"{path} {reason}; use the version of Rage Arena that made it"]})
        _make_room(work.db, replace=replace)
        _fill(work.db, path, found.rows, on_rows)
        _set_sequences(work.db)
    return found


def look(path: Path) -> Archive:
    """What a file holds, after all of it was read and found whole; raises `Invalid`."""
    try:
        lines = list(_checked(path))
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise Invalid({"file": [f"{path} is not a whole backup: {error}"]}) from error
    return lines[0]


def _checked(path: Path) -> "Iterator[Archive]":
    digest, count, last = hashlib.sha256(), -1, b""
    with gzip.open(path, "rb") as packed:
        for line in packed:
            if count < 0:
                header = json.loads(line)
                if header.get("format") != FORMAT or header.get("version") != VERSION:
                    raise ValueError("it has another format")
                yield Archive(header["revision"], header["made_at"], header["tables"])
            else:
                digest.update(last)
            last, count = line, count + 1
    told = json.loads(last)
    if told != {"rows": count - 1, "sha256": digest.hexdigest()}:
        raise ValueError("its end is missing, or something in it was changed")


def _write(packed: gzip.GzipFile, lines: Iterator[bytes]) -> None:
    digest, count = hashlib.sha256(), -1
    for line in lines:
        packed.write(line)
        digest.update(line)
        count += 1
    packed.write(_line({"rows": count, "sha256": digest.hexdigest()}))


def _lines(db: Connection, made: Archive, on_rows: OnRows) -> Iterator[bytes]:
    yield _line({"format": FORMAT, "version": VERSION, "revision": made.revision,
                 "made_at": made.made_at, "tables": made.tables})  # fmt: skip
    done = 0
    for table in TABLES:
        query = select(table).order_by(*table.primary_key)
        for row in db.execution_options(yield_per=BATCH).execute(query):
            yield _line([table.name, [_out(value) for value in row]])
            done += 1
            if done % BATCH == 0:
                on_rows(done, made.rows)


def _line(told: object) -> bytes:
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def _out(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value - EPOCH) // MICROSECOND
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _in(table: Table, values: list[Any]) -> dict[str, Any]:
    row = {}
    for column, value in zip(table.columns, values, strict=True):
        if value is not None and isinstance(column.type, Moment):
            value = EPOCH + value * MICROSECOND
        elif value is not None and isinstance(column.type, LargeBinary):
            value = base64.b64decode(value)
        row[column.name] = value
    return row


def _make_room(db: Connection, *, replace: bool) -> None:
    full = [each.name for each in TABLES if db.execute(select(each).limit(1)).first() is not None]
    if full and not replace:
        raise Conflict(f"the database is not empty ({', '.join(full)}); --replace throws away what is there")
    for table in (pulse, worker, *reversed(TABLES)):
        db.execute(delete(table))


def _fill(db: Connection, path: Path, total: int, on_rows: OnRows) -> None:
    tables, done = {table.name: table for table in TABLES}, 0
    for name, rows in _batches(path):
        db.execute(insert(tables[name]), [_in(tables[name], row) for row in rows])
        done += len(rows)
        on_rows(done, total)


def _batches(path: Path) -> Iterator[tuple[str, list[Any]]]:
    name = ""
    rows: list[Any] = []
    with gzip.open(path, "rb") as packed:
        next(packed)
        for line in packed:
            told = json.loads(line)
            if isinstance(told, dict):
                break
            if told[0] != name or len(rows) == BATCH:
                if rows:
                    yield name, rows
                name, rows = told[0], []
            rows.append(told[1])
    if rows:
        yield name, rows


def _set_sequences(db: Connection) -> None:
    """PostgreSQL numbers new rows by a counter of its own, which knows nothing of rows put in by number."""
    if db.dialect.name != "postgresql":
        return
    for table in TABLES:
        column = table.autoincrement_column
        if column is not None:
            counter = f"pg_get_serial_sequence('{table.name}', '{column.name}')"
            newest = f"SELECT setval({counter}, max({column.name}))"
            db.execute(text(f"{newest} FROM {table.name} HAVING max({column.name}) IS NOT NULL"))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
