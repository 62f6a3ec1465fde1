"""Results that wait on disk until the database is back, so that they outlive the worker that played them.

One file a score sheet, written whole or not at all, in the data directory, for the eyes of its owner. Whoever
holds the lock on a file tries to give it in; what a dead process left is given in by any other on this
machine. A sheet carries its lease, so one that comes too late, or twice, is refused without harm.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from service.errors import Unavailable
from service.sheet import Sheet

log = structlog.get_logger(__name__)
MOST_SHEETS = 1_000
MOST_BYTES = 64 << 20


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

    def deliver(self, give: Callable[[Sheet], object]) -> int:
        """Give in what others left; how many. That the database is away passes through, and the sheet stays.

        So does one that cannot be given in for any other reason, but it keeps nobody from anything else.
        """
        count = 0
        for path in self.waiting():
            with _locked(path) as file:
                if file is None:
                    continue  # its writer is still at it
                try:
                    sheet = Sheet.loads(_read(file))
                except ValueError as error:
                    log.error("sheet_unreadable", path=str(path), error=str(error))
                else:
                    if not _given(give, sheet):
                        continue  # it stays
                    count += 1
                path.unlink(missing_ok=True)
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

    def _sweep(self) -> None:
        """Half-written files of the dead."""
        for part in self.directory.glob("*.part"):
            with _locked(part) as file:
                if file is not None:
                    part.unlink(missing_ok=True)


def _given(give: Callable[[Sheet], object], sheet: Sheet) -> bool:
    try:
        give(sheet)
    except Unavailable:
        raise
    except Exception:
        log.exception("sheet_not_given_in", match=sheet.match_id)
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
        _sync(path.parent)
    except BaseException:
        os.close(file)
        raise
    return file


def _sync(directory: Path) -> None:
    """Have the new name on the disk too."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
