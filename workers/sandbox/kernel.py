"""The kernel's small files, read and written by the shortest way: some are for every bot."""

import os
from pathlib import Path

MOST = 4096


def threads(pid: int) -> list[str]:
    """The folders of a process's threads; none once it is gone."""
    folder = f"/proc/{pid}/task"
    try:
        return [f"{folder}/{thread}" for thread in os.listdir(folder)]
    except OSError:
        return []


def told(path: str | os.PathLike[str]) -> str:
    """What it says in one go; nothing if the file is not there, or not for us."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(descriptor, MOST).decode()
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def whole(path: Path) -> str:
    """All it says, however long; nothing if the file is not there, or not for us."""
    try:
        return path.read_text()
    except OSError:
        return ""


def tell(path: Path | str, value: int | str) -> None:
    """Write into one; raises `OSError`."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)
