"""The sandbox as the rest of the worker sees it: probed once, then asked for fresh seats."""

import ctypes
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from service.limits import Limits
from workers.sandbox import bubblewrap, claims, filters, groups, hierarchy, landlock, runtime
from workers.sandbox.claims import Claim
from workers.sandbox.code import BotCode
from workers.sandbox.errors import SandboxError, SandboxLate, SandboxUnavailable
from workers.sandbox.forkserver import ForkServer
from workers.sandbox.nursery import Nursery
from workers.sandbox.running import Running
from workers.sandbox.selftest import try_out
from workers.sandbox.usher import UsherNursery

PR_SET_CHILD_SUBREAPER = 36


class Launcher(Protocol):
    """What starts a seat; `name` is what operators read."""

    name: str

    def launch(self, code: BotCode, limits: Limits, *, slot: int, cpu_seconds: int) -> Running:
        """A fresh sandbox in which the bot is starting."""

    def close(self) -> None:
        """End what lasts between launches; idempotent."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked of a probe."""

    python: str | None
    interpreters: Mapping[str, str]
    launcher: str | None
    groups: bool


@dataclass(slots=True)
class Sandbox:
    """Made by `probe` in the very process that launches; not to be carried over a fork."""

    mode: str
    launcher: Launcher
    claim: Claim
    python: runtime.Runtime
    owner: int
    cgroups: int | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def probe(
        cls,
        *,
        python: str | None = None,
        require_groups: bool = False,
        use_groups: bool = True,
        launcher: str | None = None,
        interpreters: Mapping[str, str] | None = None,
    ) -> "Sandbox":
        """The strongest sandbox this machine allows, tried out with a bot; raises `SandboxUnavailable`.

        A machine that is merely too slow to show it gets no weaker one: `SandboxLate`.

        `python`: the interpreter bots get (default: the system's). Without `use_groups`, or where no control
        group can be made, it is mode B: one process a bot, no scratch space; `require_groups` refuses that.
        `launcher`: `fork-server`, `one-shot` or `landlock` and no other (default: the first that works).
        `interpreters`: paths of what archives may run on beside Python, by the names they know.
        """
        wanted = Wanted(python, interpreters or {}, launcher, require_groups)
        if launcher == "landlock":
            return cls._without_namespaces(wanted)
        program = bubblewrap.found()
        try:
            return cls._with_namespaces(program, wanted, hierarchy.find() if use_groups else None)
        except SandboxLate:
            raise
        except SandboxUnavailable as error:
            if launcher is not None or require_groups:
                raise
            return cls._second_best(wanted, error)

    @classmethod
    def _with_namespaces(cls, program: str, wanted: "Wanted", places: groups.Groups | None) -> "Sandbox":
        adopt_orphans()
        filters.compiled(forks=False)
        if places is None and wanted.groups:
            raise SandboxUnavailable(
                "no control group for memory and pids can be made; run as root or delegate one"
            )
        folder = claims.home()
        made = runtime.prepare(wanted.python, folder, wanted.interpreters)
        claim = claims.claim(folder, places.parents() if places else set())
        ushers = UsherNursery(program, made, claim, places) if places and os.getuid() == 0 else None
        one_shot = bubblewrap.Bubblewrap(program, made, claim, places, ushers)
        forks = ForkServer(Nursery(program, made, claim, places), one_shot)
        sandbox = cls("A" if places else "B", one_shot, claim, made, os.getpid())
        sandbox.cgroups = places.version if places else None
        sandbox.notes = _notes(places)
        try:
            sandbox._try_out()
            if wanted.launcher != one_shot.name:
                sandbox._speed_up(forks, required=wanted.launcher == forks.name)
        except BaseException:
            sandbox.close()
            raise
        return sandbox

    @classmethod
    def _second_best(cls, wanted: "Wanted", why: SandboxUnavailable) -> "Sandbox":
        """Mode C, or the first reason with the second."""
        try:
            sandbox = cls._without_namespaces(wanted)
        except SandboxUnavailable as error:
            if str(error) == str(why):
                raise
            raise SandboxUnavailable(f"{why}. Nor does it go without namespaces: {error}") from error
        sandbox.notes += (f"no namespaces: {why}",)
        return sandbox

    @classmethod
    def _without_namespaces(cls, wanted: "Wanted") -> "Sandbox":
        landlock.check()
        adopt_orphans()
        folder = claims.home()
        made = runtime.prepare(wanted.python, folder, wanted.interpreters)
        claim = claims.claim(folder, set())
        locked = landlock.Landlock(made, claim, landlock.OpenNursery("", made, claim, None))
        sandbox = cls("C", locked, claim, made, os.getpid())
        sandbox.notes = (*_notes(None)[1:], "Landlock alone: a bot is one process with one thread (mode C)")
        try:
            sandbox._try_out()
        except BaseException:
            sandbox.close()
            raise
        return sandbox

    def description(self) -> dict[str, Any]:
        """What an operator wants to read, as JSON values."""
        return {
            "mode": self.mode,
            "launcher": self.launcher.name,
            "python": self.python.version,
            "numpy": self.python.numpy,
            "interpreters": dict(self.python.interpreters),
            "cgroups": self.cgroups,
            "user_per_seat": os.getuid() == 0,
            "notes": list(self.notes),
        }

    def launch(self, code: BotCode, limits: Limits, *, slot: int, cpu_seconds: int = 3600) -> Running:
        """A fresh process for a seat. `cpu_seconds` is only the kernel's backstop; raises `SandboxError`."""
        if os.getpid() != self.owner:
            raise SandboxError("a sandbox was probed in another process; probe it in each worker process")
        return self.launcher.launch(code, limits, slot=slot, cpu_seconds=cpu_seconds)

    def close(self) -> None:
        """Give the block of seats back and sweep it; idempotent."""
        if os.getpid() == self.owner and self.claim.lock >= 0:
            self.launcher.close()
            self.claim.release()
            self.python.release()

    def _speed_up(self, forks: ForkServer, *, required: bool) -> None:
        """Have the fork-server start bots if it stands the same test."""
        slow, self.launcher = self.launcher, forks
        try:
            self._try_out()
        except SandboxError as error:
            forks.close()
            self.launcher = slow
            if required or isinstance(error, SandboxLate):
                raise
            self.notes += (f"every bot starts slowly, in a bubblewrap of its own: {error}",)

    def _try_out(self) -> None:
        try_out(lambda code: self.launch(code, Limits(memory_mb=64), slot=0))


def adopt_orphans() -> None:
    """Have what bubblewrap leaves behind fall to this process, which reaps it, not to a slow process 1."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _notes(places: groups.Groups | None) -> tuple[str, ...]:
    notes = []
    if places is None:
        notes.append("no control groups: a bot is one process with no scratch space (mode B)")
    if os.getuid() != 0:
        notes.append("not root: all seats' bots run under the service's own user id")
    return tuple(notes)
