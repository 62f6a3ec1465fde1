"""Results that wait on disk until the database is back, so that they outlive the worker that played them.

One file a score sheet, written whole or not at all, in the data directory, for the eyes of its owner. Whoever
holds the lock on a file tries to give it in; what a dead process left is given in by any other on this
machine. A sheet carries its lease, so one that comes too late, or twice, is refused without harm.
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import structlog

from service.errors import Unavailable
from service.ingest import AT_ONCE
from service.sheet import Sheet
from service.shelf import sync

log = structlog.get_logger(__name__)
MOST_SHEETS = 1_000
MOST_BYTES = 64 << 20
ASIDE, MOST_ASIDE = ".unreadable", 100
T = TypeVar("T", Sheet, Sequence[Sheet])


@dataclass(frozen=True, slots=True)
class Spool:
    """A directory of sheets, bounded in number and bytes."""

    directory: Path
    most_sheets: int = MOST_SHEETS
    most_bytes: int = MOST_BYTES

    @contextmanager
    def kept(self, sheet: Sheet) -> Iterator[bool]:
        """While inside, the sheet is on disk and nobody else's; yields whether it is (or there is no room).

        Left without an exception, it is settled and removed; else it stays for whoever comes next.
        """
        path, file = self._path(sheet), self._write(sheet)
        try:
            yield file is not None
            if file is not None:
                path.unlink(missing_ok=True)
        finally:
            if file is not None:
                os.close(file)

    def deliver(
        self, give: Callable[[Sheet], object], give_all: Callable[[Sequence[Sheet]], object] | None = None
    ) -> int:
        """Give in what others left; how many. That the database is away passes through, and the sheet stays.

        So does one that cannot be given in for any other reason, but it keeps nobody from anything else:
        `give_all` takes several at once, and where that fails each is given in by itself.
        """
        count, waiting = 0, self.waiting()
        for first in range(0, len(waiting), AT_ONCE):
            with ExitStack() as locks:
                held = list(self._readable(waiting[first : first + AT_ONCE], locks))
                several = [sheet for _, sheet in held]
                if give_all is not None and len(held) > 1 and _given(give_all, several):
                    done = held
                else:
                    done = [(path, sheet) for path, sheet in held if _given(give, sheet)]
                for path, _ in done:
                    path.unlink(missing_ok=True)
                count += len(done)
        return count

    def waiting(self) -> list[Path]:
        """The sheets that wait, whoever holds them."""
        if not self.directory.is_dir():
            return []
        return sorted(self.directory.glob("*.json"))

    def _path(self, sheet: Sheet) -> Path:
        return self.directory / f"{sheet.match_id}.{sheet.token}.json"

    def _write(self, sheet: Sheet) -> int | None:
        """The open, locked file, safe on the disk under its name; None if there is no room for it."""
        path, text = self._path(sheet), sheet.dumps()
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._has_room(len(text)):
                log.error("spool_full", directory=str(self.directory), match=sheet.match_id)
                return None
            return _written(part, path, text)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            log.error("spool_not_written", match=sheet.match_id, error=str(error))
            return None

    def _has_room(self, size: int) -> bool:
        self._sweep()
        sizes = [_size(path) for path in self.waiting()]
        return len(sizes) < self.most_sheets and sum(sizes) + size <= self.most_bytes

    def _readable(self, paths: Sequence[Path], locks: ExitStack) -> Iterator[tuple[Path, Sheet]]:
        """Those that nobody is at, ours until the locks are let go; what is no sheet is set aside."""
        for path in paths:
            file = locks.enter_context(_locked(path))
            if file is None:
                continue  # its writer is still at it
            try:
                sheet = Sheet.loads(_read(file))
            except ValueError as error:
                log.error("sheet_unreadable", path=str(path), error=str(error))
                self._set_aside(path)
            else:
                yield path, sheet

    def _set_aside(self, path: Path) -> None:
        """For whoever can read it; of too many those that were first."""
        with suppress(OSError):
            path.rename(path.with_suffix(ASIDE))
            aside = sorted(self.directory.glob(f"*{ASIDE}"), key=lambda each: each.stat().st_mtime)
            for old in aside[:-MOST_ASIDE]:
                old.unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Half-written files of the dead."""
        for part in self.directory.glob("*.part"):
            with _locked(part) as file:
                if file is not None:
                    part.unlink(missing_ok=True)


def _given(give: Callable[[T], object], told: T) -> bool:
    try:
        give(told)
    except Unavailable:
        raise
    except Exception:
        matches = [each.match_id for each in ([told] if isinstance(told, Sheet) else told)]
        log.exception("sheet_not_given_in", matches=matches)
        return False
    return True


def _written(part: Path, path: Path, text: bytes) -> int:
    file = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        view = memoryview(text)
        while view:
            view = view[os.write(file, view) :]
        os.fsync(file)
        part.rename(path)
        sync(path.parent)
    except BaseException:
        os.close(file)
        raise
    return file


@contextmanager
def _locked(path: Path) -> Iterator[int | None]:
    """The open file under a lock of ours; None if another has it, or it is gone."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        yield file if _ours(file, path) else None
    finally:
        os.close(file)


def _ours(file: int, path: Path) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False


def _read(file: int) -> bytes:
    with open(file, "rb", closefd=False) as opened:
        return opened.read()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
