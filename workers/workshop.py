"""What one worker process has open: the database, its sandbox, the code it played lately.

Opened once a process, after the fork; it tells the database every few seconds that it is there.
"""

import os
import secrets
import socket
import threading
import time
from collections import OrderedDict
from typing import Any

import structlog

from service import desk, leases, lost, presence, sources, traces, trials
from service.errors import ServiceError
from service.settings import Settings
from service.work import Arena
from workers import alive, in_play
from workers.sandbox import BotCode, Sandbox, SandboxError, SandboxLate, SandboxUnavailable
from workers.spool import Spool

log = structlog.get_logger(__name__)
TELL_SECONDS = 5.0
REST_SECONDS = 30.0  # between two trials of a sandbox on a machine that is too busy for one
COUNT_EVERY = 12  # signs of life: so often others are counted
LASTS_KEPT = 200  # tournaments
CODES_KEPT = 64 << 20  # bytes
BIRTH = secrets.token_hex(4)  # of the worker: made before it forks, so all its processes have the same


class Workshop:
    """One process's tools. `name` is unique among all workers; `place` is its process's in the worker."""

    def __init__(self, settings: Settings, number: int) -> None:
        self.number = number
        self.place = f"{socket.gethostname()}-{BIRTH}-{number}"
        self.name = f"{self.place}-{os.getpid()}"
        self.arena = Arena.open(settings)
        self.spool = Spool(settings.data_dir / "spool")
        self.lasts: OrderedDict[str, float] = OrderedDict()  # ms of a match by tournament, the latest most
        self.workers = settings.workers  # matches that can be played at once, everywhere
        self.rest = 0.0  # seconds it left the machine alone when that was last too busy for a match
        self._died_at = in_play.noted(number)  # which is kept until it is told, or a match of its own begins
        self._heir = False
        self._signs = 0
        self._sandbox: Sandbox | None = None
        self._late: tuple[float, SandboxLate] | None = None  # until when no trial is made, and why
        self._probing = threading.Lock()
        self._codes: OrderedDict[str, BotCode] = OrderedDict()
        self._closing = threading.Event()
        self._teller = threading.Thread(target=self._tell, name="presence", daemon=True)

    @property
    def opened(self) -> bool:
        """Whether it plays matches, and has told so."""
        return self._teller.ident is not None

    def open(self) -> None:
        """Begin to tell that it is there."""
        self._teller.start()

    def close(self) -> None:
        """Say goodbye, and leave nothing of the sandbox."""
        self._closing.set()
        if self._teller.is_alive():  # or it would speak up again after the goodbye
            self._teller.join(TELL_SECONDS)
        if self._sandbox is not None:
            self._sandbox.close()
        try:
            presence.gone(self.arena, self.name)
        except ServiceError as error:
            log.warning("goodbye_not_said", error=str(error))

    def sandbox(self) -> Sandbox:
        """The sandbox, tried out when first wanted; raises `SandboxUnavailable` with what is missing."""
        with self._probing:
            if self._sandbox is None:
                self._sandbox = self._tried_out()
            return self._sandbox

    def _tried_out(self) -> Sandbox:
        """A machine that was too busy for the trial is left alone for a while."""
        if self._late is not None and time.monotonic() < self._late[0]:
            raise self._late[1]
        settings = self.arena.settings
        chosen = settings.sandbox_python
        try:
            return Sandbox.probe(python=str(chosen) if chosen else None, interpreters=settings.interpreters)
        except SandboxLate as error:
            self._late = time.monotonic() + REST_SECONDS, error
            raise

    def forget_sandbox(self) -> None:
        """Have it tried out anew before it is used again."""
        with self._probing:
            if self._sandbox is not None:
                self._sandbox.close()
            self._sandbox = None

    def code(self, version_id: str) -> BotCode:
        """A version's code; versions never change, so what was fetched is kept."""
        known = self._codes.pop(version_id, None)
        self._codes[version_id] = known or fetch(self.arena, version_id)
        while len(self._codes) > 1 and sum(len(each.content) for each in self._codes.values()) > CODES_KEPT:
            self._codes.popitem(last=False)
        return self._codes[version_id]

    def lasted(self, tournament_id: str, ms: float) -> None:
        """So long a match of it took."""
        before = self.lasts.pop(tournament_id, ms)
        self.lasts[tournament_id] = (3 * before + ms) / 4
        while len(self.lasts) > LASTS_KEPT:
            self.lasts.popitem(last=False)

    def has_time(self, tournament_id: str, until: float) -> bool:
        """Whether another match, or the most of it, ends by the (monotonic) time `until`."""
        return 1000 * (until - time.monotonic()) > self.lasts.get(tournament_id, 0.0) / 2

    def _tell(self) -> None:
        while True:
            try:
                self._sign()
                self._put_in_order()
                self._sign()  # a trial of the sandbox may take as long again
                presence.here(self.arena, self.name, *self._state())
                self._count()
            except Exception as error:  # whatever it is, the next try may go better
                log.warning("presence_not_told", error=str(error))
            if self._closing.wait(TELL_SECONDS):
                return

    def _sign(self) -> None:
        alive.sign(self.arena.settings.data_dir / "run" / "alive", self.number)

    def _count(self) -> None:
        if self._signs % COUNT_EVERY == 0:
            with self.arena.glance() as db:
                self.workers = max(presence.slots(db, self.arena.clock()), 1)
        self._signs += 1

    def _put_in_order(self) -> None:
        """What others on this machine played and could not give in; then what our predecessor held."""
        self.spool.deliver(
            lambda sheet: leases.give_in(self.arena, sheet, worker=self.name),
            lambda sheets: leases.give_in_all(self.arena, sheets, worker=self.name),
        )
        if not self._heir:
            lost.inherit(self.arena, self.place, self.name, self._died_at)
            trials.inherit(self.arena, self.place, self.name)
            self._heir = True
            if in_play.noted(self.number) == self._died_at:  # and not at a match of its own by now
                in_play.note(self.number, "")

    def _state(self) -> tuple[str | None, dict[str, Any]]:
        try:
            sandbox = self.sandbox()
        except (SandboxUnavailable, SandboxError) as error:
            log.error("no_sandbox", error=str(error))
            return None, {"error": str(error)}
        return sandbox.mode, sandbox.description()


def fetch(arena: Arena, version_id: str) -> BotCode:
    """A version's code out of the database."""
    stored = sources.stored(arena, version_id)
    return BotCode(name=stored.filename, kind=stored.kind, content=stored.content)


_open: Workshop | None = None


def here() -> Workshop:
    """This process's workshop; one that plays no matches has it opened by its first task."""
    global _open
    if _open is None:
        _open = Workshop(Settings.from_environment(os.environ), 0)
        traces.setup("desk")
    return _open


def open_for_matches(settings: Settings, number: int) -> None:
    """Called in each child that plays matches, after the fork."""
    global _open
    _open = Workshop(settings, number)
    _open.open()
    traces.setup("players")


def leave_desk() -> None:
    """Called when a worker ends: one that plays no matches may be fitting ratings."""
    if _open is not None and not _open.opened:
        try:
            desk.stop(_open.arena)
        except ServiceError as error:
            log.warning("desk_not_left", error=str(error))
        traces.stop()


def close() -> None:
    """Called when a child ends in good order."""
    if _open is not None:
        _open.close()
    traces.stop()
