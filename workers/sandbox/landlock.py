"""The launcher for where no namespace can be had: Landlock, the system call filter and limits of the process.

Such a bot is one process with one thread and nowhere to write. It runs under the service's own user id (root
gives each seat one of its own), so Landlock must be of version 6, which keeps signals in.
"""

import contextlib
import ctypes
import os
import secrets
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from service.limits import Limits
from workers.sandbox import filters, inside, walls
from workers.sandbox.claims import Claim
from workers.sandbox.code import BotCode
from workers.sandbox.errors import SandboxUnavailable, refused
from workers.sandbox.family import Parent
from workers.sandbox.forkserver import Forked
from workers.sandbox.groups import Group
from workers.sandbox.nursery import Nursery
from workers.sandbox.pipes import Pipes
from workers.sandbox.policy import ENVIRONMENT, MIB, limits_of
from workers.sandbox.running import Running
from workers.sandbox.runtime import Runtime
from workers.sandbox.unpack import Unpacked, place, unpack

OLDEST = 6
READ_WRITE = 2 | 4
MISSING = (
    "neither user namespaces nor Landlock version 6 (Linux 6.12) are to be had; allow user namespaces, or "
    "use a newer kernel with landlock in its lsm= and a seccomp profile that lets the landlock calls through"
)


def check() -> None:
    """Raises `SandboxUnavailable` where Landlock is missing or too old."""
    version = ctypes.CDLL(None, use_errno=True).syscall(walls.LANDLOCK_CREATE, None, 0, 1)
    if version < OLDEST:
        raise SandboxUnavailable(MISSING)


@dataclass(slots=True)
class OpenNursery(Nursery):
    """Makes parents that stand on the host itself; only their bots are locked in."""

    @property
    def inside(self) -> bool:
        """There is no bubblewrap."""
        return False

    def _filter(self) -> bytes:
        return filters.compiled(forks=False, threads=False)

    def _settings(self, control: int, rules: int, *, numpy: bool) -> dict[str, Any]:
        reading = [self.runtime.root, self.runtime.engine, self._library()]
        opened: list[list[Any]] = [[str(path), walls.LANDLOCK_READ] for path in reading]
        opened += [["/dev/null", READ_WRITE], ["/dev/urandom", READ_WRITE]]
        # the class above is made anew by `slots`, so super() would look in the wrong place
        return {**Nursery._settings(self, control, rules, numpy=numpy), "open": opened, "scratch": None}

    def _command(self, settings: dict[str, Any], group: Group | None, uid: int) -> list[str]:
        command = inside.command(self.runtime.outside(self.runtime.python), settings)
        drop = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--bounding-set=-all", "--"]
        environment = ["env", "-i", *(f"{name}={value}" for name, value in self._environment().items())]
        whole = [*(drop if os.getuid() == 0 else []), *environment, *command]
        lines = ["echo 1000 > /proc/self/oom_score_adj", "ulimit -c 0", f"exec {shlex.join(whole)}"]
        return ["/bin/sh", "-ec", "\n".join(lines)]

    def _environment(self) -> dict[str, str]:
        path = f"{self._library()}:{self.runtime.root}/usr/lib/rage"
        return ENVIRONMENT | {"PYTHONPATH": path, "PYTHONHOME": self.runtime.home()}

    def _library(self) -> Path:
        """A folder in which the engine bears its name."""
        folder = self.claim.folder / "library"
        folder.mkdir(mode=0o755, exist_ok=True)
        link = folder / "engine"
        if not link.is_symlink() or link.readlink() != self.runtime.engine:
            link.unlink(missing_ok=True)
            link.symlink_to(self.runtime.engine)
        return folder


@dataclass(slots=True)
class Landlock:
    """Starts bots for one worker, each a locked-in child of its seat's parent."""

    runtime: Runtime
    claim: Claim
    nursery: OpenNursery
    parents: dict[int, Parent] = field(default_factory=dict)

    name = "landlock"

    def launch(self, code: BotCode, limits: Limits, *, slot: int, cpu_seconds: int) -> Running:
        """A fresh sandbox with the bot starting in it; raises `SandboxError`."""
        owner = self.claim.uid(slot) if os.getuid() == 0 else None
        with self._laid_out(code, owner) as (folder, unpacked):
            known = self._parent(slot)
            run = self._run(unpacked)
            address = (0 if run else known.held.address) + limits.memory_mb * MIB
            order = {
                "number": (number := secrets.randbits(48)),
                "limits": _limits(address, cpu_seconds),
                "folder": str(folder),
                "run": run,
            }
            with Pipes() as pipes:
                bot = known.launch(order, [*pipes.streams(), pipes.data(code.file_name().encode() + b"\n")])
                pipes.kept = True
            return Forked(
                stdin=pipes.ours[0],
                stdout=pipes.ours[1],
                stderr=pipes.ours[2],
                memory_limit=limits.memory_mb * MIB,
                shows_where=run is None,
                parent=known,
                number=number,
                bot=bot,
                folder=folder,
            )

    def close(self) -> None:
        """End all parents."""
        for known in self.parents.values():
            known.close()
        self.parents.clear()

    @contextlib.contextmanager
    def _laid_out(self, code: BotCode, owner: int | None) -> Iterator[tuple[Path, Unpacked]]:
        """The bot's folder; removed again if the launch fails."""
        unpacked = unpack(code, self.claim.folder, owner, self.runtime)
        folder = unpacked.folder or self._source(unpacked, owner)
        try:
            yield folder, unpacked
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise refused("a sandbox could not be started", error) from error
            raise

    def _source(self, unpacked: Unpacked, owner: int | None) -> Path:
        folder = place(self.claim.folder)
        folder.mkdir(mode=0o700)
        (folder / "bot.py").write_bytes(unpacked.source or b"")
        (folder / "bot.py").chmod(0o644)
        if owner is not None:
            os.chown(folder, 0, owner)
            folder.chmod(0o750)
        return folder

    def _run(self, unpacked: Unpacked) -> list[str] | None:
        if unpacked.folder is None:
            return None
        name, *rest = unpacked.run
        program = self.runtime.program(name)
        return [program, *rest] if program == name else [*self.runtime.outside(program), *rest]

    def _parent(self, slot: int) -> Parent:
        known = self.parents.get(slot)
        if known is None or not known.fit():
            if known is not None:
                known.close()
            known = self.parents[slot] = self.nursery.parent(slot, numpy=False)
        return known


def _limits(address: int, cpu_seconds: int) -> dict[str, int]:
    """Without a count of processes: it would be one for all seats, and the filter allows none anyway."""
    limits = limits_of(address, cpu_seconds)
    del limits["RLIMIT_NPROC"]
    return limits
