"""Records of one tournament in one file, out of the database: written once, read one by one or in a row.

    {"format": "rage-records", "version": 1, "tournament": ..., "matches": n, ...}   a line of JSON
    n times 20 bytes     a match's number, its record's length, its CRC-32 (4 each), where it starts (8)
    n packed records     in the order of numbers, as `engine.record` packs them
    32 bytes             SHA-256 of all before

Whole numbers have the high byte first. So a file can be read from its beginning to its end, and any match
found without reading the others.
"""

import fcntl
import hashlib
import json
import os
import secrets
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from service.errors import ServiceError

FORMAT, VERSION = "rage-records", 1
ENTRY = struct.Struct(">IIIQ")
DIGEST = 32
LONGEST_HEAD = 1 << 16
CHUNK = 1 << 20
PART = ".part"  # the end of a name, until the file is whole
Place = tuple[int, int, int, int]  # number, length, CRC-32, start


class Damaged(ServiceError):
    """A file that is not what was written; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A record in a file: its match's number, its bytes and their CRC-32."""

    number: int
    length: int
    crc: int


def write(path: Path, told: Mapping[str, Any], held: Sequence[Entry], records: Iterator[bytes]) -> str:
    """Write a file whole or not at all, for its owner's eyes; its SHA-256. `held` ascends by number.

    It gets its name after it was read back; raises `OSError`, or `Damaged`.
    """
    told = {"format": FORMAT, "version": VERSION, **told, "matches": len(held)}
    head = json.dumps(told).encode() + b"\n"
    sweep(path.parent)
    digest, part = hashlib.sha256(), path.with_name(f"{path.name}.{secrets.token_hex(4)}{PART}")
    try:
        with open(part, "wb", opener=_private) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            for piece in _pieces(head, held, records):
                file.write(piece)
                digest.update(piece)
            file.write(digest.digest())
            file.flush()
            os.fsync(file.fileno())
        if checked(part) != digest.hexdigest():
            raise Damaged(f"{path} would not hold what was written to it")
        part.replace(path)
        sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
    return digest.hexdigest()


def sweep(folder: Path) -> None:
    """Remove what writers left behind that were killed: who still writes holds a lock on it."""
    for part in folder.glob(f"*{PART}"):
        with suppress(OSError), part.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def entries(path: Path, *, of: str) -> list[Entry]:
    """What is in it of the tournament `of`, by number; raises `OSError`, or `Damaged`, as all that follow."""
    with path.open("rb") as file:
        return [Entry(*entry[:3]) for entry in _index(file, _matches(file, of))]


def some(path: Path, numbers: Iterable[int], *, of: str) -> Iterator[tuple[int, bytes]]:
    """Number and packed record of those of these matches that are in it; reads little else."""
    with path.open("rb") as file:
        count, start = _matches(file, of), file.tell()
        for number in numbers:
            at = bisect_left(range(count), number, key=lambda at: _entry(file, start, at)[0])
            if at < count and (entry := _entry(file, start, at))[0] == number:
                yield number, _record(file, entry)


def each(path: Path, *, of: str) -> Iterator[tuple[int, bytes]]:
    """Every match's number and packed record, in order."""
    with path.open("rb") as file:
        for entry in _index(file, _matches(file, of)):
            yield entry[0], _record(file, entry)


def checked(path: Path) -> str:
    """Its SHA-256, after all of it was read; raises `OSError`, or `Damaged`."""
    left, digest = path.stat().st_size - DIGEST, hashlib.sha256()
    with path.open("rb") as file:
        while left > 0 and (piece := file.read(min(CHUNK, left))):
            digest.update(piece)
            left -= len(piece)
        if left or file.read() != digest.digest():
            raise Damaged(f"{path} is damaged: its checksum is not that of what is in it")
    return digest.hexdigest()


def _pieces(head: bytes, held: Sequence[Entry], records: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    start = len(head) + ENTRY.size * len(held)
    for entry in held:
        yield ENTRY.pack(entry.number, entry.length, entry.crc, start)
        start += entry.length
    for entry, record in zip(held, records, strict=True):
        if (len(record), zlib.crc32(record)) != (entry.length, entry.crc):
            raise Damaged(f"the record of match {entry.number} changed while it was written")
        yield record


def _matches(file: BinaryIO, of: str) -> int:
    """How many are in it, after its first line was read."""
    try:
        head = json.loads(file.readline(LONGEST_HEAD))
        if (head["format"], head["version"]) != (FORMAT, VERSION):
            raise Damaged(f"{file.name} is of another format")
        if head["tournament"] != of:
            raise Damaged(f"{file.name} holds the records of {head['tournament']}, not those of {of}")
        return int(head["matches"])
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{file.name} is no file of records: {error}") from error


def _index(file: BinaryIO, count: int) -> Iterator[Place]:
    packed = file.read(ENTRY.size * count)
    if len(packed) != ENTRY.size * count:
        raise Damaged(f"{file.name} is cut short")
    return ENTRY.iter_unpack(packed)


def _entry(file: BinaryIO, start: int, at: int) -> Place:
    """The entry at a place of the index."""
    file.seek(start + ENTRY.size * at)
    return next(_index(file, 1))


def _record(file: BinaryIO, entry: Place) -> bytes:
    number, length, crc, start = entry
    file.seek(start)
    record = file.read(length)
    if len(record) != length or zlib.crc32(record) != crc:
        raise Damaged(f"{file.name} is damaged: the record of match {number} is not as it was written")
    return record


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def sync(directory: Path) -> None:
    """Have the new name on the disk too."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
