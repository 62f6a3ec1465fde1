"""Child programs kept running: started in order, started again when they end, stopped in the reverse order.

One thread starts and watches them all. The kernel asks a child to end when the *thread* that started it does,
so that thread lives exactly as long as the crew; guard.py sees to those who do not listen. So a supervisor
that is killed outright leaves nobody behind.
"""

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from service.guard import Guard
from service.logfiles import open_log, rotate, tail
from service.tether import end_group, ended, ending, tied_to

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0  # seconds before a child that ended is started again
STEADY = 30.0  # seconds a child must run for its earlier ends to be forgotten
TRIES = 3  # ends before it was ever ready that make a child a lost cause
LOOK_EVERY = 0.1  # seconds


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
        self._guard = Guard()
        self._logs = logs
        self._directory = directory
        self._tell = tell
        self._places: dict[str, _Place] = {}
        self._starts: queue.SimpleQueue[tuple[Child, Future[None]]] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._live, name="crew", daemon=True)

    # What the owner calls, from any thread.

    def begin(self, keep_open: Sequence[int] = ()) -> None:
        """`keep_open`: descriptors that stay open until the last child is gone, even if we are killed."""
        self._guard.keep_open = tuple(keep_open)
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
        """False once it was told to stop, or if keeping the crew itself broke down."""
        return self._thread.is_alive() and not self._stopping.is_set()

    @property
    def stopping(self) -> bool:
        """Whether it was told to stop."""
        return self._stopping.is_set()

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
        with self._guard:
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
                start_new_session=True, preexec_fn=tied_to(os.getpid()),
            )  # fmt: skip
        place.started = time.monotonic()
        self._guard.add(place.program.pid)

    def _look_after(self, place: _Place) -> None:
        now = time.monotonic()
        if place.program is None:
            if now >= place.due:
                self._start_again(place)
        elif ended(place.program):
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
        self._end_group(place.program)
        place.last = ending(place.program.returncode)
        place.ends = 1 if now - place.started > STEADY else place.ends + 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (place.ends - 1))
        place.program, place.due = None, now + pause
        self._tell(f"{place.child.name} {place.last}; starting it again in {pause:.1f} s (log: {place.log})")

    def _end(self, place: _Place) -> None:
        if place.program is None:
            return
        os.kill(place.program.pid, signal.SIGTERM)  # `terminate` would bury one that has just ended
        limit = time.monotonic() + place.child.grace
        while not ended(place.program) and time.monotonic() < limit and not self._hurry.is_set():
            time.sleep(0.02)
        self._end_group(place.program)
        place.program = None

    def _end_group(self, program: "subprocess.Popen[bytes]") -> None:
        end_group(program)
        self._guard.forget(program.pid)

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
