"""Who uses which user ids: a worker claims a numbered block of seats; those of dead workers are swept.

A claim is a locked file. The kernel drops the lock when its worker ends, however it ends, so a claim that can
be locked has no owner, and whatever bears its number (processes, groups, unpacked bots) is refuse.
"""

import contextlib
import fcntl
import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox import groups
from workers.sandbox.errors import SandboxUnavailable

FIRST_UID = 63_000
SEATS = 16
BLOCKS = range(64)


@dataclass(slots=True)
class Claim:
    """One worker's block: user ids for its seats and a folder for unpacked bots."""

    number: int
    folder: Path
    lock: int
    parents: set[Path]

    @property
    def name(self) -> str:
        """What this claim's groups and folders are called by."""
        return f"{os.getuid()}.{self.number}"

    def uid(self, slot: int) -> int:
        """The user (and group) id of a seat's bot, when we may choose one."""
        if not 0 <= slot < SEATS:
            raise ValueError(f"slot must be from 0 to {SEATS - 1}")
        return FIRST_UID + self.number * SEATS + slot

    def release(self) -> None:
        """Sweep what is ours and give the block back."""
        if self.lock >= 0:
            sweep(self)
            os.close(self.lock)
            self.lock = -1


def home() -> Path:
    """A folder only we may write to, from which programs may be started; raises `SandboxUnavailable`."""
    reasons = []
    for folder in _candidates():
        if reason := _unfit(folder):
            reasons.append(f"{folder}: {reason}")
        else:
            return folder
    raise SandboxUnavailable("no folder for the sandbox's Python and bots: " + "; ".join(reasons))


def claim(folder: Path, parents: set[Path]) -> Claim:
    """The first free block. Blocks of dead workers are swept on the way."""
    blocks = folder / "claims"
    blocks.mkdir(mode=0o711, exist_ok=True)
    mine = None
    for number in BLOCKS:
        path = blocks / str(number)
        if (mine is not None and not path.exists()) or _belongs_to_people(number):
            continue
        candidate = _lock(path, number, parents)
        if candidate is None:
            continue
        sweep(candidate)
        if mine is None:
            mine = candidate
            (path / "parents").write_text("\n".join(map(str, parents)))
        else:
            os.close(candidate.lock)
    if mine is None:
        raise SandboxUnavailable(
            f"all {len(BLOCKS)} blocks of seats on this machine are in use; start fewer workers"
        )
    return mine


def sweep(block: Claim) -> None:
    """Remove every process, group and folder that bears this block's number."""
    for pid in _processes(block):
        with contextlib.suppress(OSError):
            os.kill(pid, 9)
    for group in groups.leftovers(block.parents, block.name):
        groups.remove(group)
    for folder in block.folder.glob("bot-*"):
        shutil.rmtree(folder, ignore_errors=True)


def _belongs_to_people(number: int) -> bool:
    """Whether somebody on this machine has one of the block's user ids; sweeping must never reach them."""
    if os.getuid() != 0:
        return False
    first = FIRST_UID + number * SEATS
    return any(_has_name(uid) for uid in range(first, first + SEATS))


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
        return True
    except KeyError:
        return False


def _lock(path: Path, number: int, parents: set[Path]) -> Claim | None:
    path.mkdir(mode=0o711, exist_ok=True)
    lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return Claim(number, path, lock, parents | _noted(path / "parents"))


def _noted(path: Path) -> set[Path]:
    try:
        return {Path(line) for line in path.read_text().splitlines() if line}
    except OSError:
        return set()


def _processes(block: Claim) -> Iterator[int]:
    """Processes of the block's user ids; without root, bots share our own id and die with their worker."""
    if os.getuid() != 0:
        return
    uids = range(block.uid(0), block.uid(SEATS - 1) + 1)
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid in uids:
                yield int(entry.name)


def _candidates() -> list[Path]:
    if os.getuid() == 0:
        return [Path("/var/lib/rage-sandbox"), Path("/run/rage-sandbox"), Path("/var/tmp/rage-sandbox")]  # noqa: S108
    own = f"rage-sandbox-{os.getuid()}"
    at_home = os.path.expanduser("~")
    cache = [Path(at_home, ".cache", "rage-sandbox")] if os.access(at_home, os.W_OK) else []
    return [*cache, Path(tempfile.gettempdir()) / own]


def _unfit(folder: Path) -> str | None:
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o711, exist_ok=True)
        seen = folder.lstat()
        flags = os.statvfs(folder).f_flag
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid() or seen.st_mode & 0o022:
        return "belongs to somebody else or others may write to it"
    if flags & os.ST_NOEXEC or flags & os.ST_RDONLY:
        return "on a file system without programs or writing"
    return None if os.access(folder, os.W_OK) else "not writable"
