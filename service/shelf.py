"""Records of one tournament in one file, out of the database: written once, read one by one or in a row.

    {"format": "rage-records", "version": 1, "tournament": ..., "matches": n, ...}   a line of JSON
    n times 20 bytes     a match's number, its record's length, its CRC-32 (4 each), where it starts (8)
    n packed records     in the order of numbers, as `engine.record` packs them
    32 bytes             SHA-256 of all before

Whole numbers have the high byte first. So a file can be read from its beginning to its end, and any match
found without reading the others.
"""

import hashlib
import json
import os
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from service.errors import ServiceError

FORMAT, VERSION = "rage-records", 1
ENTRY = struct.Struct(">IIIQ")
DIGEST = 32
LONGEST_HEAD = 1 << 16
CHUNK = 1 << 20


class Damaged(ServiceError):
    """A file that is not what was written; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file says of itself: its head, and for each match number, length, CRC-32 and start."""

    head: Mapping[str, Any]
    entries: Sequence[tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True)
class Entry:
    """A record that is to be written."""

    number: int
    length: int
    crc: int


def write(path: Path, told: Mapping[str, Any], entries: Sequence[Entry], records: Iterator[bytes]) -> str:
    """Write a file whole or not at all, for its owner's eyes; its SHA-256. `entries` ascend by number."""
    head = (
        json.dumps({"format": FORMAT, "version": VERSION, **told, "matches": len(entries)}).encode() + b"\n"
    )
    digest, part = hashlib.sha256(), path.with_name(f"{path.name}.part")
    try:
        with open(part, "wb", opener=_private) as file:
            for piece in _pieces(head, entries, records):
                file.write(piece)
                digest.update(piece)
            file.write(digest.digest())
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
    return digest.hexdigest()


def contents(path: Path) -> Contents:
    """What is in it; raises `OSError`, or `Damaged`."""
    with _opened(path) as file:
        return _contents(file)


def one(path: Path, number: int) -> bytes | None:
    """A match's packed record, None if it is not in there; raises `OSError`, or `Damaged`."""
    with _opened(path) as file:
        found = _contents(file)
        at = bisect_left(found.entries, (number,))
        if at == len(found.entries) or found.entries[at][0] != number:
            return None
        return _record(file, found.entries[at])


def each(path: Path) -> Iterator[tuple[int, bytes]]:
    """Every match's number and packed record, in order; raises `OSError`, or `Damaged`."""
    with _opened(path) as file:
        for entry in _contents(file).entries:
            yield entry[0], _record(file, entry)


def checked(path: Path) -> str:
    """Its SHA-256, after all of it was read; raises `OSError`, or `Damaged`."""
    left, digest = path.stat().st_size - DIGEST, hashlib.sha256()
    with _opened(path) as file:
        while left > 0 and (piece := file.read(min(CHUNK, left))):
            digest.update(piece)
            left -= len(piece)
        if left or file.read() != digest.digest():
            raise Damaged(f"{path} is damaged: its checksum is not that of what is in it")
    return digest.hexdigest()


def _pieces(head: bytes, entries: Sequence[Entry], records: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    start = len(head) + ENTRY.size * len(entries)
    for entry in entries:
        yield ENTRY.pack(entry.number, entry.length, entry.crc, start)
        start += entry.length
    for entry, record in zip(entries, records, strict=True):
        if (len(record), zlib.crc32(record)) != (entry.length, entry.crc):
            raise Damaged(f"the record of match {entry.number} changed while it was written")
        yield record


def _contents(file: BinaryIO) -> Contents:
    try:
        head = json.loads(file.readline(LONGEST_HEAD))
        if (head["format"], head["version"]) != (FORMAT, VERSION):
            raise Damaged(f"{file.name} is of another format")
        packed = file.read(ENTRY.size * int(head["matches"]))
        return Contents(head, list(ENTRY.iter_unpack(packed)))
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise Damaged(f"{file.name} is no file of records: {error}") from error


def _record(file: BinaryIO, entry: tuple[int, int, int, int]) -> bytes:
    number, length, crc, start = entry
    file.seek(start)
    record = file.read(length)
    if len(record) != length or zlib.crc32(record) != crc:
        raise Damaged(f"{file.name} is damaged: the record of match {number} is not as it was written")
    return record


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with open(path, "rb") as file:
        yield file


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def sync(directory: Path) -> None:
    """Have the new name on the disk too."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
