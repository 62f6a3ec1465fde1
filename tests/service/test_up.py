"""`rage up` as one meets it: what it refuses, what it shows, how it ends. Real programs, real signals."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from service import checks
from service.checks import Unfit
from service.crew import Interrupted
from service.doctor import State, examine
from service.lock import AlreadyRunning, Lock, running
from service.settings import Settings
from service.supervisor import Supervisor

pytestmark = pytest.mark.timeout(300)  # many programs start and stop
COMMAND = [sys.executable, "-c", "from service.up import up; up(prog_name='rage up')"]


def eventually(holds: Callable[[], object], seconds: float = 60) -> bool:
    limit = time.monotonic() + seconds
    while not holds() and time.monotonic() < limit:
        time.sleep(0.05)
    return bool(holds())


def refused(data: Path, *options: str, **env: str) -> str:
    """What is said by a start that must fail: one message, status 1, no traceback."""
    argv = [*COMMAND, "--data-dir", str(data), *options]
    said = subprocess.run(argv, env={**os.environ, **env}, capture_output=True, text=True, timeout=200)
    assert said.returncode == 1
    assert said.stderr.startswith("Error: ")
    assert "Traceback" not in said.stderr + said.stdout
    return said.stderr


def programs_of(data: Path) -> dict[int, str]:
    """Every living process that was started for this data directory, whoever its parent is now.

    Known by its environment, or by its working directory where it has written over the former.
    """
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state = (place / "stat").read_text().rpartition(")")[2].split()[0]
            told = f"RAGE_DATA_DIR={data}".encode() in (place / "environ").read_bytes().split(b"\0")
            if state != "Z" and (told or (place / "cwd").readlink().is_relative_to(data)):
                found[int(place.name)] = (place / "cmdline").read_text().replace("\0", " ").strip()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


class Running:
    """A `rage up` on a data directory and a free port."""

    def __init__(self, data: Path) -> None:
        self.data = data
        env = {**os.environ, "RAGE_DATA_DIR": str(data), "RAGE_WORKERS": "1", "RAGE_PORT": "0"}
        self.program = subprocess.Popen(
            COMMAND,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background shell ignores it
        )
        self.screen = ""

    def up(self) -> "Running":
        """Reads the screen up to the line that says how to stop."""
        assert self.program.stdout is not None
        while "To stop" not in self.screen:
            line = self.program.stdout.readline()
            assert line, f"it ended: {self.screen}"
            self.screen += line
        return self

    @property
    def address(self) -> str:
        return str(re.findall(r"http://\S+", self.screen)[0])

    def ready(self) -> dict[str, object]:
        with urllib.request.urlopen(f"{self.address}/readyz", timeout=10) as answer:
            return dict(json.load(answer))

    def leader(self, name: str) -> int:
        """The process of one child: the one in a session of its own."""
        for pid, words in programs_of(self.data).items():
            with suppress(ProcessLookupError):  # it has ended since
                if name in words and os.getsid(pid) == pid:
                    return pid
        return 0

    def end(self, number: int) -> int:
        self.program.send_signal(number)
        self.screen += self.program.communicate(timeout=200)[0]
        return self.program.returncode


@pytest.fixture
def begun() -> Iterator[Callable[[Path], Running]]:
    started: list[Running] = []

    def begin(data: Path) -> Running:
        started.append(Running(data))
        return started[-1]

    yield begin
    for each in started:
        if each.program.poll() is None:
            each.end(signal.SIGTERM)


# What is refused before anything starts.


def test_a_directory_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = refused(tmp_path / "file" / "data")
    assert "Cannot write into the data directory" in said
    assert "--data-dir" in said


def test_a_taken_port_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        said = refused(tmp_path, "--port", str(other.getsockname()[1]))
    assert "taken by another program" in said
    assert "--port 0" in said
    assert programs_of(tmp_path) == {}
    assert not (tmp_path / "run" / "rage.lock").exists()


def test_an_address_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    assert "--host" in refused(tmp_path, "--host", "192.0.2.1")
    assert "--host" in refused(tmp_path, "--host", "no.such.name.invalid")


def test_a_bad_option_is_refused_by_its_setting(tmp_path: Path) -> None:
    assert "RAGE_PORT must be a whole number" in refused(tmp_path, "--port", "http")


def test_a_machine_without_a_sandbox_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    said = refused(tmp_path, "--port", "0", PATH=str(tmp_path / "bin"))
    assert "Bots cannot be run safely" in said
    assert "apt-get install bubblewrap" in said
    assert not (tmp_path / "run" / "rage.lock").exists()


def test_a_database_that_does_not_answer_is_refused_without_showing_its_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    said = refused(tmp_path, "--port", "0", RAGE_DATABASE_URL="postgresql://rage:hunter2@127.0.0.1:1/rage")
    assert "RAGE_DATABASE_URL" in said
    assert "hunter2" not in said
    assert programs_of(tmp_path) == {}


def test_a_full_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "LEAST_DISK", 1 << 62)
    with pytest.raises(Unfit, match="make room"):
        checks.disk(tmp_path)


# The lock.


def test_only_one_holds_the_lock_and_the_other_learns_who(tmp_path: Path) -> None:
    path = tmp_path / "rage.lock"
    first = Lock(path)
    first.take()
    first.write(pid=1, address="http://here")
    assert running(path) == {"pid": 1, "address": "http://here"}
    with pytest.raises(AlreadyRunning) as taken:
        Lock(path).take()
    assert taken.value.holder["pid"] == 1
    first.release()
    assert running(path) is None
    assert not path.exists()


def test_a_lock_file_left_by_a_killed_holder_is_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "rage.lock"
    path.write_text('{"pid": 1')
    lock = Lock(path)
    lock.take()
    lock.release()


# The whole.


@pytest.mark.story
@pytest.mark.sandbox
def test_up_serves_restarts_what_is_killed_and_leaves_nothing(
    tmp_path: Path, begun: Callable[[Path], Running]
) -> None:
    first = begun(tmp_path).up()
    token = re.search(r"Admin token +(rage_\S+)", first.screen)
    assert token
    assert first.ready()["workers"]
    found = examine({**os.environ, "RAGE_DATA_DIR": str(tmp_path)})
    assert {each.state for each in found} == {State.WELL}, found
    said = refused(tmp_path, "--port", "0")
    assert f"already runs on {tmp_path}" in said
    assert f"process {first.program.pid}" in said
    assert first.address in said
    for name in ("valkey-server", "granian", "celery"):
        killed = first.leader(name)
        assert killed, f"no {name} among {programs_of(tmp_path)}"
        os.kill(killed, signal.SIGKILL)
        assert eventually(lambda of=name, old=killed: first.leader(of) not in (0, old))  # type: ignore[misc]
    assert eventually(lambda: _serves(first))
    assert first.end(signal.SIGINT) == 0
    assert "has stopped" in first.screen
    assert first.screen.count("was ended by SIGKILL") == 3
    assert programs_of(tmp_path) == {}
    assert {path.name for path in (tmp_path / "run").iterdir()} & {"rage.lock", "valkey.sock"} == set()
    again = begun(tmp_path).up()
    assert "Admin token" not in again.screen
    assert again.end(signal.SIGTERM) == 0
    assert programs_of(tmp_path) == {}


@pytest.mark.story
@pytest.mark.sandbox
def test_up_killed_outright_leaves_no_process_and_starts_again(
    tmp_path: Path, begun: Callable[[Path], Running]
) -> None:
    first = begun(tmp_path).up()
    assert len(programs_of(tmp_path)) > 5
    first.program.kill()
    second = begun(tmp_path).up()
    assert str(first.program.pid) not in second.screen
    older = {pid for pid in programs_of(tmp_path) if os.getsid(pid) == first.program.pid}
    assert older == set()
    assert second.end(signal.SIGTERM) == 0
    assert programs_of(tmp_path) == {}


@pytest.mark.story
@pytest.mark.sandbox
def test_a_stop_while_starting_leaves_nothing(tmp_path: Path, begun: Callable[[Path], Running]) -> None:
    first = begun(tmp_path)
    assert eventually(lambda: first.leader("valkey-server"))
    assert first.end(signal.SIGTERM) == 0
    assert programs_of(tmp_path) == {}
    assert not (tmp_path / "run" / "rage.lock").exists()


@pytest.mark.story
@pytest.mark.sandbox
def test_a_supervisor_within_a_program_serves_and_stops(tmp_path: Path) -> None:
    settings = Settings.from_environment(
        {"RAGE_DATA_DIR": str(tmp_path), "RAGE_PORT": "0", "RAGE_WORKERS": "1"}
    )
    steps: list[str] = []
    with Supervisor(settings, house=False, step=steps.append) as supervisor:
        assert supervisor.token
        with urllib.request.urlopen(f"{supervisor.address}/readyz", timeout=10) as answer:
            assert answer.status == 200
        pids = supervisor.pids
        assert list(pids) == ["valkey", "players", "api", "desk", "beat"]
        assert not supervisor.wait(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids.values())
    assert steps[0] == "Trying the sandbox"


def test_a_supervisor_told_to_stop_before_it_starts_does_not_start(tmp_path: Path) -> None:
    supervisor = Supervisor(Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path), "RAGE_PORT": "0"}))
    supervisor.ask_to_stop()
    with pytest.raises(Interrupted):
        supervisor.start()
    assert not (tmp_path / "run" / "rage.lock").exists()


def _serves(running: Running) -> bool:
    try:
        return bool(running.ready()["workers"])
    except OSError:
        return False
