"""One `rage up` for each data directory: a lock file that the kernel lets go when its holder is gone."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any


class AlreadyRunning(Exception):
    """Someone holds the lock; `holder` is what they wrote into it (pid, address), as far as readable."""

    def __init__(self, holder: dict[str, Any]) -> None:
        self.holder = holder
        super().__init__(f"held by process {holder.get('pid', '?')}")


class Lock:
    """Held from `take` to `release`; the file is removed on release and harmless if it is not."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def take(self) -> None:
        """Raises `AlreadyRunning`."""
        while self._file is None:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                raise AlreadyRunning(holder(self._path)) from None
            if _is_still(file, self._path):
                self._file = file
            else:
                os.close(file)  # the holder before us removed it between our open and our lock

    @property
    def held(self) -> bool:
        return self._file is not None

    @property
    def file(self) -> int:
        """The open file: whoever inherits it holds the lock too."""
        assert self._file is not None
        return self._file

    def write(self, **facts: Any) -> None:
        """What the next one should be told: written by the holder only."""
        assert self._file is not None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, json.dumps(facts).encode(), 0)

    def release(self) -> None:
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = None


def holder(path: Path) -> dict[str, Any]:
    """What the lock's holder wrote; empty if nothing readable is there."""
    try:
        facts = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def running(path: Path) -> dict[str, Any] | None:
    """What the present holder wrote, or None when nobody holds it. Looks without taking it."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return holder(path)
    except OSError:
        return None
    return None


def _is_still(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False
