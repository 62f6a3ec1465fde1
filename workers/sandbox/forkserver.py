"""The launcher that keeps a warm, bot-free parent for each seat and has it make a fresh child for each bot.

Python files start this way; archives may bring their own programs and start one by one through bubblewrap.
"""

import contextlib
import os
import secrets
import shutil
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from service.limits import Limits
from workers.sandbox import kernel
from workers.sandbox.bubblewrap import Bubblewrap
from workers.sandbox.code import BotCode
from workers.sandbox.errors import refused
from workers.sandbox.family import Parent
from workers.sandbox.nursery import Nursery
from workers.sandbox.pipes import Pipes
from workers.sandbox.policy import KIB, MIB, POLICY, limits_of
from workers.sandbox.running import Ending, Running


@dataclass(slots=True, kw_only=True)
class Forked(Running):
    """A bot that a seat's parent made: one process, `bot` a descriptor of it.

    Without namespaces its `folder` is ours to remove.
    """

    parent: Parent
    number: int
    bot: int
    folder: Path | None = None
    _known: int = 0

    def _pid(self) -> int:
        if not self._known and self.bot >= 0:
            self._known = _numbered(self.bot)
        return self._known

    def _peak(self) -> int:
        return self._beyond(self.peak_of(self._pid())) if self._pid() else 0

    def _beyond(self, kib: int) -> int:
        """What is the bot's own of its memory."""
        return max(kib - self.parent.held.private // KIB, 0)

    def note_peak(self) -> None:
        """Its parent tells."""

    def _ask(self, number: int) -> None:
        """By its descriptor: another process may bear its number by now."""
        signal.pidfd_send_signal(self.bot, number)

    def _kill(self) -> None:
        """All its threads, and by its parent all that there might be beside it."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.bot, signal.SIGKILL)

    def _kill_hard(self) -> None:
        self.parent.close()

    def _wait(self, seconds: float) -> bool:
        if self._ending is None and (told := self.parent.report(self.number, seconds)):
            self._note_end(told)
        return self._ending is not None

    def _note_end(self, told: dict[str, Any]) -> None:
        trouble = str(told.get("failed", ""))
        seen = self.parent.own(self.parent.last if trouble else self.parent.counted())
        status = None if trouble else int(told["status"])
        failed = not self._killed and status not in (0, None)
        self._ending = Ending(
            status=status,
            cpu_ns=max(self._cpu_ns, int(told["cpu_ns"]) if failed else 0),
            memory_kb=max(self._memory_kb, self._beyond(int(told.get("memory_kb", 0))), seen.used_up_kb),
            out_of_memory=seen.ended_at_limit,
            host_out_of_memory=seen.ended_below_limit,
            refused_processes=seen.refused_processes > 0,
            trouble="" if seen.ended_at_limit else trouble,
        )

    def _clear(self) -> None:
        if self.bot >= 0:
            os.close(self.bot)
            self.bot = -1
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(slots=True)
class ForkServer:
    """Starts sandboxes for one worker; a seat's parent is made when the seat is first taken."""

    nursery: Nursery
    one_shot: Bubblewrap
    parents: dict[tuple[int, bool], Parent] = field(default_factory=dict)

    name = "fork-server"

    def launch(self, code: BotCode, limits: Limits, *, slot: int, cpu_seconds: int) -> Running:
        """A fresh sandbox with the bot starting in it; raises `SandboxError`."""
        if code.kind != "py":
            return self.one_shot.launch(code, limits, slot=slot, cpu_seconds=cpu_seconds)
        memory = limits.memory_mb * MIB
        parent = self._parent(slot, memory, numpy=self._wants_numpy(code))
        try:
            return self._start(parent, code, memory, cpu_seconds)
        except OSError as error:
            parent.close()
            raise refused("a sandbox could not be started", error) from error

    def close(self) -> None:
        """End all parents, and what starts archives."""
        self.one_shot.close()
        for parent in self.parents.values():
            parent.close()
        self.parents.clear()

    def _wants_numpy(self, code: BotCode) -> bool:
        return self.nursery.runtime.numpy and b"numpy" in code.content

    def _parent(self, slot: int, memory: int, *, numpy: bool) -> Parent:
        """The seat's parent; one that has failed, or whose bot was never stopped, is replaced."""
        known = self.parents.get((slot, numpy))
        if known is None or not known.fit():
            if known is not None:
                known.close()
            known = self.parents[slot, numpy] = self.nursery.parent(slot, numpy=numpy)
        known.limit(memory)
        return known

    def _start(self, parent: Parent, code: BotCode, memory: int, cpu_seconds: int) -> Running:
        room = POLICY.address_room if parent.group is not None else 0
        number = secrets.randbits(48)  # a bot may find it in its memory: a count would tell it the rotation
        order = {
            "number": number,
            "limits": limits_of(parent.held.address + memory + room, cpu_seconds),
        }
        with Pipes() as pipes:
            stdin, stdout, stderr = pipes.streams()
            bot = parent.launch(
                order, [stdin, stdout, stderr, pipes.data(code.file_name().encode() + b"\n" + code.content)]
            )
            pipes.kept = True
        return Forked(
            stdin=pipes.ours[0],
            stdout=pipes.ours[1],
            stderr=pipes.ours[2],
            memory_limit=memory,
            shows_where=True,
            parent=parent,
            number=number,
            bot=bot,
        )


def _numbered(descriptor: int) -> int:
    """The process of a descriptor as the host numbers it; 0 once it is gone."""
    words = kernel.told(f"/proc/self/fdinfo/{descriptor}").partition("Pid:")[2].split(maxsplit=1)
    return max(int(words[0]), 0) if words else 0
