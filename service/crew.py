"""Child programs kept running: started in order, started again when they end, stopped in the reverse order.

One thread starts and watches them all. The kernel ends a child when the *thread* that started it ends, so
that thread lives exactly as long as the crew, and a supervisor killed outright leaves nobody behind.
"""

import ctypes
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from service.logfiles import open_log, rotate, tail

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0  # seconds before a child that ended is started again
STEADY = 30.0  # seconds a child must run for its earlier ends to be forgotten
TRIES = 3  # ends before it was ever ready that make a child a lost cause
LOOK_EVERY = 0.1  # seconds
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Child:
    """One program. `ready` may be asked often and must not take long; `grace`: seconds to end by itself."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    ready: Callable[[], bool] = lambda: True
    grace: float = 3.0
    start_limit: float = 60.0


class ChildFailed(Exception):
    """A child that would not start; the text holds its last words."""


class Interrupted(Exception):
    """The crew was told to stop while it was starting."""


@dataclass(slots=True)
class _Place:
    """A child's place in the crew: what runs there now, and how it went so far."""

    child: Child
    log: Path
    program: "subprocess.Popen[bytes] | None" = None
    started: float = 0.0
    ends: int = 0  # since it last ran steadily
    due: float = 0.0  # when to start it again
    last: str = "did not start"


class Crew:
    """Starts and keeps child programs. `tell` gets a sentence about every unexpected end."""

    def __init__(self, *, logs: Path, directory: Path, tell: Callable[[str], None]) -> None:
        self._logs = logs
        self._directory = directory
        self._tell = tell
        self._places: dict[str, _Place] = {}
        self._starts: queue.SimpleQueue[tuple[Child, Future[None]]] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._live, name="crew", daemon=True)

    # What the owner calls, from any thread.

    def begin(self) -> None:
        self._thread.start()

    def launch(self, child: Child) -> None:
        """Starts a child; returns as soon as it runs. Raises `ChildFailed`, `Interrupted`."""
        done: Future[None] = Future()
        self._starts.put((child, done))
        while not done.done() and self._thread.is_alive():
            with suppress(TimeoutError):
                done.result(timeout=LOOK_EVERY)
        if not done.done():
            raise Interrupted
        done.result()

    def wait_ready(self, *names: str) -> None:
        """Returns once every named child is ready. Raises `ChildFailed`, `Interrupted`."""
        limit = time.monotonic() + max(self._places[name].child.start_limit for name in names)
        waiting = list(names)
        while waiting:
            if self._stopping.is_set():
                raise Interrupted
            self._give_up_on_lost_causes()
            waiting = [name for name in waiting if not self._is_ready(name, limit)]
            self._stopping.wait(LOOK_EVERY if waiting else 0)

    def pids(self) -> dict[str, int]:
        """The children that run now."""
        running = {name: place.program for name, place in list(self._places.items())}
        return {name: program.pid for name, program in running.items() if program is not None}

    @property
    def working(self) -> bool:
        """False once everybody was stopped, or if keeping the crew itself broke down."""
        return self._thread.is_alive()

    def ask_to_stop(self) -> None:
        """Lets the crew stop; asked again, it does not wait for anyone. Safe in a signal's hands."""
        if self._stopping.is_set():
            self._hurry.set()
        self._stopping.set()

    def stop(self) -> None:
        """Stops everybody, the last started first, and returns when nobody is left."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    # What happens in the crew's own thread.

    def _live(self) -> None:
        try:
            while not self._stopping.wait(LOOK_EVERY):
                self._start_asked()
                for place in self._places.values():
                    self._look_after(place)
        finally:
            for place in reversed(self._places.values()):
                self._end(place)

    def _start_asked(self) -> None:
        while not self._starts.empty():
            child, done = self._starts.get()
            place = _Place(child, self._logs / f"{child.name}.log")
            try:
                self._start(place)
            except OSError as error:
                done.set_exception(ChildFailed(f"{child.name} could not be started: {error}"))
            else:
                self._places = {**self._places, child.name: place}
                done.set_result(None)

    def _start(self, place: _Place) -> None:
        rotate(place.log)
        with open_log(place.log) as log:
            place.program = subprocess.Popen(
                list(place.child.argv), env=dict(place.child.env), cwd=self._directory,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=_tied_to(os.getpid()),
            )  # fmt: skip
        place.started = time.monotonic()

    def _look_after(self, place: _Place) -> None:
        now = time.monotonic()
        if place.program is None:
            if now >= place.due:
                self._start_again(place)
        elif _ended(place.program):
            self._note_end(place, now)
        else:
            rotate(place.log)

    def _start_again(self, place: _Place) -> None:
        try:
            self._start(place)
        except OSError as error:
            place.due = time.monotonic() + LONGEST_PAUSE
            self._tell(f"{place.child.name} could not be started: {error}")

    def _note_end(self, place: _Place, now: float) -> None:
        assert place.program is not None
        _end_group(place.program)
        place.last = _ending(place.program.returncode)
        place.ends = 1 if now - place.started > STEADY else place.ends + 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (place.ends - 1))
        place.program, place.due = None, now + pause
        self._tell(f"{place.child.name} {place.last}; starting it again in {pause:.1f} s (log: {place.log})")

    def _end(self, place: _Place) -> None:
        if place.program is None:
            return
        place.program.terminate()
        limit = time.monotonic() + place.child.grace
        while not _ended(place.program) and time.monotonic() < limit and not self._hurry.is_set():
            time.sleep(0.02)
        _end_group(place.program)
        place.program = None

    # Readiness, asked in the owner's thread: it may take a moment and must not hold up the crew.

    def _is_ready(self, name: str, limit: float) -> bool:
        place = self._places[name]
        if place.program is not None and place.child.ready():
            return True
        if time.monotonic() > limit:
            raise ChildFailed(
                f"{name} is not ready after a long wait. The end of {place.log}:\n{tail(place.log)}"
            )
        return False

    def _give_up_on_lost_causes(self) -> None:
        for name, place in self._places.items():
            if place.ends >= TRIES:
                raise ChildFailed(f"{name} {place.last}. The end of {place.log}:\n{tail(place.log)}")


def _tied_to(parent: int) -> Callable[[], None]:
    """For a new child, before its program starts: end when the crew's thread ends."""
    if not sys.platform.startswith("linux"):
        return lambda: None
    prctl = ctypes.CDLL(None, use_errno=True).prctl  # looked up here: the child should only call it

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)  # the parent was gone before the tie was made

    return tie


def _ended(program: "subprocess.Popen[bytes]") -> bool:
    """Whether it ended; it stays a zombie, so that its number still belongs to its group."""
    found = os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return found is not None


def _end_group(program: "subprocess.Popen[bytes]") -> None:
    """Kills whoever is left of a program and its children, and waits until they are gone."""
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    limit = time.monotonic() + 1.0
    while time.monotonic() < limit:
        try:
            os.killpg(program.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)


def _ending(status: int) -> str:
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
