"""How a bubblewrap starts where each seat has groups and a user of its own: by an usher who is there already.

To enter a control group a process waits for the whole machine, often longer than all else takes. So each seat
has a small process in its groups that forks: the child mounts the scratch space, takes the limits, becomes
the seat's user, and becomes bubblewrap. What runs in it is the text of `inside`.
"""

import contextlib
import os
import shlex
import signal
from dataclasses import dataclass, field
from typing import Any

from workers.sandbox import filters, inside
from workers.sandbox.family import Parent
from workers.sandbox.groups import Group, Seen
from workers.sandbox.nursery import Nursery
from workers.sandbox.oneshot import OneShot
from workers.sandbox.policy import ENVIRONMENT, KIB, POLICY
from workers.sandbox.running import SECOND_NS, Ending, ready

RULES, TELL, SOURCE = 3, 4, 5  # bubblewrap's descriptors beside the streams
PATIENCE = 2.0  # seconds
OWN_PROCESSES = 3  # the usher, and bubblewrap outside and inside the namespace


@dataclass(slots=True)
class UsherNursery(Nursery):
    """Makes ushers. They stand on the host, as this worker does, and hold no secret."""

    @property
    def inside(self) -> bool:
        """There is no bubblewrap around it."""
        return False

    def _filter(self) -> bytes:
        return filters.asking()

    def _group(self, slot: int) -> Group | None:
        assert self.groups is not None
        name = f"rage-{self.claim.name}-usher{slot}.{self.made}"
        processes = POLICY.threads + OWN_PROCESSES
        memory = POLICY.address_room
        return self.groups.make(name, memory=memory, processes=processes, count_cpu=True, together=False)

    def _settings(self, control: int, rules: int, *, numpy: bool) -> dict[str, Any]:
        ask = next(iter(filters.numbers(["seccomp"])))
        return {"control": control, "filter": rules, "warm": [], "scratch": None, "open": [], "ask": ask}

    def _command(self, settings: dict[str, Any], group: Group | None, uid: int) -> list[str]:
        command = inside.command(self.runtime.outside(self.runtime.python), settings)
        home = ENVIRONMENT | {"PYTHONHOME": self.runtime.home(), "PYTHONPATH": ""}
        environment = ["env", "-i", *(f"{name}={value}" for name, value in home.items())]
        joins = [f"echo 0 > {shlex.quote(path)}" for path in (group.joins() if group else [])]
        lines = [*joins, "echo 1000 > /proc/self/oom_score_adj", "ulimit -c 0"]
        return ["/bin/sh", "-ec", "\n".join([*lines, f"exec {shlex.join([*environment, *command])}"])]


@dataclass(slots=True, kw_only=True)
class Ushered(OneShot):
    """A bubblewrap that a seat's usher started. `first` is a descriptor of it."""

    parent: Parent
    number: int
    first: int
    forks: bool
    _cpu_before: int = field(default=0)

    def __post_init__(self) -> None:
        self._cpu_before = (self.group.cpu_ns() if self.group else None) or 0

    def begun(self) -> None:
        """From here on no socket pairs."""
        if self.parent.plumbing is not None:
            self.parent.plumbing.begun()

    def _kill_hard(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.first, signal.SIGKILL)

    def _wait(self, seconds: float) -> bool:
        if self._ending is None and (told := self.parent.report(self.number, seconds)):
            self._note_report(told)
        return self._ending is not None

    def _note_report(self, told: dict[str, Any]) -> None:
        self._listen(0.0)
        if trouble := str(told.get("failed", "")):
            self._reap()
            self._note_loss(trouble, self.parent.own(self.parent.last))
            return
        self._conclude(
            int(told["cpu_ns"]) / SECOND_NS + self._reap_init(), self.parent.own(self.parent.counted())
        )

    def _note_loss(self, trouble: str, seen: Seen) -> None:
        """The usher is gone: by our fault, unless its bot used up the memory of both."""
        memory = seen.ended_at_limit
        kib = max(self._memory_kb, seen.used_up_kb)
        self._ending = Ending(None, self._cpu_ns, kib, memory, False, False, "" if memory else trouble)

    def _reap(self) -> None:
        """Without its usher a bubblewrap ends, and falls to us."""
        for descriptor in (self.first, self.init):
            if descriptor < 0:
                continue
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            with contextlib.suppress(OSError):
                if ready(descriptor, PATIENCE):
                    os.waitid(os.P_PIDFD, descriptor, os.WEXITED)

    def _clear(self) -> None:
        if self.first >= 0:
            os.close(self.first)
            self.first = -1
        self.group = None  # the usher's, and stays
        if self.parent.plumbing is not None:
            self.parent.plumbing.end()
        OneShot._clear(self)

    def _peak(self) -> int:
        counted = self.parent.own(self.group.seen()).memory_peak if self.group else 0
        return counted // KIB or self.peak_of(self._pid())

    def _group_cpu_ns(self) -> int | None:
        """For who may have processes; a single one has a clock of its own. What its pipes cost us is its."""
        used = self.group.cpu_ns() if self.group and self.forks else None
        pipes = self.parent.plumbing.cpu_ns if self.parent.plumbing is not None else 0
        return None if used is None else used - self._cpu_before + pipes
