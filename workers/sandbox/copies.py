"""Folders that are filled once, in one step, and kept as long as somebody holds them."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from workers.sandbox.errors import unmade

DRAFT_SECONDS = 3600
UNUSED_SECONDS = 3600
SEAL = "complete"  # a file that is there once a folder is; who uses the folder holds a lock on it


def made(folder: Path, fill: Callable[[Path], None]) -> int:
    """A lock on the folder, which is filled and put in place as one step unless it is there already."""
    while (lock := _held(folder)) is None:
        _put(folder, fill)
    return lock


def _put(folder: Path, fill: Callable[[Path], None]) -> None:
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=folder.parent))
    try:
        fill(draft)
        (draft / SEAL).touch(mode=0o644)
        _open_to_all(draft)
        draft.rename(folder)
    except (OSError, subprocess.SubprocessError) as error:
        if not (folder / SEAL).exists():  # else another worker was faster
            raise unmade(f"the bots' Python or engine cannot be copied to {folder}", error) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _held(folder: Path) -> int | None:
    """A lock that keeps a finished folder in place as long as it is open; None if there is no such folder."""
    try:
        lock = os.open(folder / SEAL, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    fcntl.flock(lock, fcntl.LOCK_SH)
    with contextlib.suppress(OSError):
        if os.path.samestat(os.fstat(lock), (folder / SEAL).stat()):
            os.utime(lock)
            return lock
    os.close(lock)  # it was removed just now
    return None


def prune(home: Path) -> None:
    """Remove what nobody uses, and nobody has used of late: copies of older versions."""
    for folder in [*home.glob("root-*"), *home.glob("engine-*")]:
        with contextlib.suppress(OSError):
            if time.time() - (folder / SEAL).stat().st_mtime > UNUSED_SECONDS:
                _remove(folder)


def _remove(folder: Path) -> None:
    """Out of the way first, in one step and only unless somebody holds it."""
    lock = os.open(folder / SEAL, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        grave = Path(tempfile.mkdtemp(prefix="draft-", dir=folder.parent))
        folder.rename(grave / folder.name)
    finally:
        os.close(lock)
    shutil.rmtree(grave, ignore_errors=True)


def drop_old_drafts(home: Path) -> None:
    """What a process left that was killed while it copied."""
    for draft in home.glob("draft-*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - draft.stat().st_mtime > DRAFT_SECONDS:
                shutil.rmtree(draft, ignore_errors=True)


def _open_to_all(draft: Path) -> None:
    for folder, _, _ in os.walk(draft):
        os.chmod(folder, 0o755)  # noqa: S103 - for every seat's user to read
