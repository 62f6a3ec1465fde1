"""An installation in one process's care: checked, started in order, kept running, stopped without a trace."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from service import checks, valkey
from service.checks import Unfit, environment
from service.crew import ChildFailed, Crew, Interrupted
from service.lock import AlreadyRunning, Lock
from service.prepare import prepare
from service.programs import broker, programs
from service.settings import Settings

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - how to reach what listens on every address
WHY_NOT = (
    Unfit,
    ChildFailed,
    valkey.ServerUnavailable,
)  # what a start may fail of; each text says what to do
STILL_TRYING = "Still trying the sandbox: this machine is slow just now"
AFTERMATH = 10.0  # seconds given to the programs of a killed supervisor to be gone


class Supervisor:
    """An installation in this process's care. `tell` gets a sentence about whatever happens later on.

    `start` may raise `Unfit`, `ChildFailed`, `ServerUnavailable` or `Interrupted`, and then nothing is left
    running; `token` is the first administrator's, only when this start made the account.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        house: bool = True,
        tell: Callable[[str], None] = lambda text: None,
        step: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.settings = settings
        self.token: str | None = None
        self.logs = settings.data_dir / "logs"
        self._house = house
        self._step = step
        self._lock = Lock(lock_path(settings))
        self._crew = Crew(logs=self.logs, directory=settings.data_dir, tell=tell)

    @property
    def address(self) -> str:
        """Where the API is; its port is certain once `start` returned."""
        host = EVERYWHERE.get(self.settings.host, self.settings.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.settings.port}"

    @property
    def pids(self) -> dict[str, int]:
        """The programs that run now."""
        return self._crew.pids()

    def start(self) -> None:
        """Everything up and answering, or an exception and nothing left."""
        try:
            self._check()
            self._start()
        except BaseException:
            self.stop()
            raise

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it was told to stop (or broke down) within that time; then call `stop`."""
        limit = None if seconds is None else time.monotonic() + seconds
        while self._crew.working and (limit is None or time.monotonic() < limit):
            time.sleep(0.1)
        return not self._crew.working

    def ask_to_stop(self) -> None:
        """May be called by a signal's handler; asked twice, nobody is waited for."""
        self._crew.ask_to_stop()

    def stop(self) -> None:
        """Stops everything in order and leaves neither process nor socket nor lock behind."""
        self._crew.stop()
        if self._lock.held and self.settings.redis_url is None:
            valkey.tidy(self.settings)
        self._lock.release()

    def __enter__(self) -> "Supervisor":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _check(self) -> None:
        settings = self.settings
        checks.data_directory(settings.data_dir)
        self._take_lock()
        checks.disk(settings.data_dir)
        self.settings = replace(settings, port=checks.free_port(settings.host, settings.port))
        self._lock.write(pid=os.getpid(), address=self.address)
        self._step("Trying the sandbox")
        checks.sandbox(environment(self.settings), settings.data_dir, self._still)

    def _still(self) -> None:
        if self._crew.stopping:
            raise Interrupted
        self._step(STILL_TRYING)

    def _take_lock(self) -> None:
        """One supervisor a data directory; after a killed one its guard holds the lock for a moment more."""
        limit = time.monotonic() + AFTERMATH
        while True:
            try:
                return self._lock.take()
            except AlreadyRunning as taken:
                if time.monotonic() > limit or _lives(taken.holder.get("pid")):
                    raise Unfit(_taken(self.settings.data_dir, taken)) from None
                self._step("Waiting for the programs of one that was killed")
                time.sleep(0.2)

    def _start(self) -> None:
        self._crew.begin(keep_open=[self._lock.file])
        self._step("Starting the broker")
        for child in broker(self.settings):
            self._crew.launch(child)
            self._crew.wait_ready(child.name)
        self._step("Preparing the database")
        self.token = prepare(self.settings, house=self._house)
        self._step("Starting the API and the workers")
        children = programs(self.settings, self.address)
        for child in children:
            self._crew.launch(child)
        self._crew.wait_ready(*(child.name for child in children))


def lock_path(settings: Settings) -> Path:
    return settings.data_dir / "run" / "rage.lock"


def _lives(pid: object) -> bool:
    """Whether that process is there and not merely waiting to be forgotten by its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _taken(directory: Path, taken: AlreadyRunning) -> str:
    pid, address = taken.holder.get("pid", "?"), taken.holder.get("address", "an address not known yet")
    return (
        f"Rage Arena already runs on {directory}: {address}, process {pid}. "
        f"Stop that one (Ctrl-C there, or kill {pid}), or give this one a --data-dir and --port of its own."
    )
