"""The log files of the programs `rage up` starts: kept small, read from the end, followed on a screen.

A child appends straight to its file, so that its last words are there even when the supervisor is gone.
"""

import shutil
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

LARGEST = 10 << 20  # bytes, then the file starts again
KEPT = 2  # older files beside it: NAME.log.1, NAME.log.2


def open_log(path: Path) -> BinaryIO:
    """The file to give to a child as its output: appended to, so that `rotate` may cut it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("ab", buffering=0)


def rotate(path: Path, *, largest: int = LARGEST) -> bool:
    """Starts the file again once it is too large; whoever writes to it notices nothing."""
    if not path.exists() or path.stat().st_size < largest:
        return False
    with suppress(OSError):  # on a full disk the old lines are what is given up
        for number in range(KEPT, 1, -1):
            older = path.with_name(f"{path.name}.{number - 1}")
            if older.exists():
                older.replace(path.with_name(f"{path.name}.{number}"))
        shutil.copyfile(path, path.with_name(f"{path.name}.1"))
    with path.open("r+b") as file:
        file.truncate()
    return True


def tail(path: Path, lines: int = 12) -> str:
    """The last lines, for a message about a program that would not start."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 200 * lines))
        text = file.read().decode(errors="replace")
    return "\n".join(text.splitlines()[-lines:])


class Follower:
    """Hands every new line of some log files to `show(name, line)` until stopped."""

    def __init__(self, paths: Sequence[Path], show: Callable[[str, str], None]) -> None:
        self._read = {path: path.stat().st_size if path.exists() else 0 for path in paths}
        self._show = show
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="log-follower", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._stopped.wait(0.2):
            self._look()
        self._look()

    def _look(self) -> None:
        for path in self._read:
            if path.exists():
                self._look_at(path)

    def _look_at(self, path: Path) -> None:
        with path.open("rb") as file:
            if path.stat().st_size < self._read[path]:
                self._read[path] = 0  # rotated
            file.seek(self._read[path])
            whole, newline, _ = file.read(1 << 20).rpartition(b"\n")
        self._read[path] += len(whole) + len(newline)
        for line in whole.decode(errors="replace").splitlines():
            self._show(path.stem, line)
