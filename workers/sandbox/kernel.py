"""The kernel's small files, read by the shortest way: some are read for every bot."""

import os

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
