"""The crew of child programs, tried with small real programs and real signals."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service import crew
from service.crew import Child, ChildFailed, Crew, Interrupted
from service.logfiles import rotate

WRITES_ITS_NAME = """
import os, signal, sys, time
def end(*_):
    with open(sys.argv[2], "a") as file:
        file.write(sys.argv[1] + "\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("up", flush=True)
time.sleep(600)
"""
DEAF = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
print("up", flush=True)
time.sleep(600)
"""
SUPERVISOR = """
import sys, time
from pathlib import Path
from service.crew import Child, Crew
crew = Crew(logs=Path(sys.argv[1]), directory=Path(sys.argv[1]), tell=print)
crew.begin()
for name in ("a", "b"):
    crew.launch(Child(name, [sys.executable, "-c", sys.argv[2]], {}))
print(*crew.pids().values(), flush=True)
time.sleep(600)
"""


def eventually(holds: Callable[[], object], seconds: float = 20) -> bool:
    limit = time.monotonic() + seconds
    while not holds() and time.monotonic() < limit:
        time.sleep(0.02)
    return bool(holds())


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def group(leader: int) -> list[int]:
    found = subprocess.run(["pgrep", "-g", str(leader)], capture_output=True, text=True).stdout.split()
    return [int(pid) for pid in found if alive(int(pid))]


class Stage:
    """A crew, the sentences it told, and children that are one line of Python each."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.told: list[str] = []
        self.crew = Crew(logs=place / "logs", directory=place, tell=self.told.append)

    def child(
        self, name: str, code: str, *arguments: str, grace: float = 5.0, needs: str | None = "up"
    ) -> Child:
        log = self.place / "logs" / f"{name}.log"
        ready = (lambda: needs in log.read_text()) if needs else (lambda: False)
        argv = [sys.executable, "-c", textwrap.dedent(code), *arguments]
        return Child(name, argv, dict(os.environ), ready=ready, grace=grace)

    def run(self, *children: Child) -> None:
        for child in children:
            self.crew.launch(child)
            self.crew.wait_ready(child.name)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    made.crew.begin()
    yield made
    made.crew.stop()


def test_children_stop_in_the_reverse_of_the_order_they_started_in(stage: Stage) -> None:
    order = stage.place / "order"
    stage.run(*(stage.child(name, WRITES_ITS_NAME, name, str(order)) for name in ("valkey", "api", "beat")))
    pids = stage.crew.pids()
    stage.crew.stop()
    assert order.read_text().split() == ["beat", "api", "valkey"]
    assert not any(alive(pid) for pid in pids.values())
    assert stage.told == []


def test_a_deaf_child_is_killed_together_with_its_own_children(stage: Stage) -> None:
    stage.run(stage.child("deaf", DEAF, grace=0.3))
    leader = stage.crew.pids()["deaf"]
    assert eventually(lambda: len(group(leader)) == 2)
    stage.crew.stop()
    assert group(leader) == []


def test_one_that_ends_by_itself_just_then_keeps_nobody_from_stopping(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = stage.place / "order"
    stage.run(*(stage.child(name, WRITES_ITS_NAME, name, str(order)) for name in ("valkey", "api")))
    pids = stage.crew.pids()
    monkeypatch.setattr(crew, "LOOK_EVERY", 600.0)
    time.sleep(0.3)  # the crew looks a last time
    os.kill(pids["api"], signal.SIGKILL)
    assert eventually(lambda: not alive(pids["api"]))
    stage.crew.stop()
    assert stage.crew.pids() == {}
    assert order.read_text().split() == ["valkey"]


def test_asking_twice_waits_for_nobody(stage: Stage) -> None:
    stage.run(stage.child("deaf", DEAF, grace=3600))
    stage.crew.ask_to_stop()
    stage.crew.ask_to_stop()
    stage.crew.stop()
    assert stage.crew.pids() == {}


def test_a_killed_child_is_started_again_and_told_about(stage: Stage) -> None:
    stage.run(stage.child("api", WRITES_ITS_NAME, "api", str(stage.place / "order")))
    first = stage.crew.pids()["api"]
    os.kill(first, signal.SIGKILL)
    assert eventually(lambda: stage.crew.pids().get("api", first) != first)
    assert "api was ended by SIGKILL" in stage.told[0]


def test_what_a_killed_child_leaves_behind_is_killed_before_it_is_started_again(stage: Stage) -> None:
    stage.run(stage.child("players", DEAF))
    first = stage.crew.pids()["players"]
    assert eventually(lambda: len(group(first)) == 2)
    os.kill(first, signal.SIGKILL)
    assert eventually(lambda: stage.crew.pids().get("players", first) != first)
    assert group(first) == []


def test_the_pause_before_each_new_start_doubles(stage: Stage) -> None:
    stage.crew.launch(stage.child("beat", "raise SystemExit(3)"))
    assert eventually(lambda: len(stage.told) >= 3)
    assert [told.split(" in ")[1].split(" s")[0] for told in stage.told[:3]] == ["0.2", "0.4", "0.8"]
    assert all("ended with status 3" in told for told in stage.told)


def test_a_child_that_will_not_start_is_given_up_with_its_last_words(stage: Stage) -> None:
    stage.crew.launch(stage.child("api", "raise SystemExit('no such table: bots')"))
    with pytest.raises(ChildFailed, match="no such table: bots"):
        stage.crew.wait_ready("api")


def test_another_child_that_fails_ends_the_waiting_too(stage: Stage) -> None:
    stage.crew.launch(stage.child("api", "import time; time.sleep(600)", needs=None))
    stage.crew.launch(stage.child("players", "raise SystemExit('broken import')"))
    with pytest.raises(ChildFailed, match="broken import"):
        stage.crew.wait_ready("api", "players")


def test_a_program_that_is_not_there_is_said_plainly(stage: Stage) -> None:
    with pytest.raises(ChildFailed, match="ghost could not be started"):
        stage.crew.launch(Child("ghost", ["/no/such/program"], {}))


def test_waiting_for_a_child_ends_when_the_crew_is_told_to_stop(stage: Stage) -> None:
    stage.crew.launch(stage.child("api", "import time; time.sleep(600)", needs=None))
    stage.crew.ask_to_stop()
    with pytest.raises(Interrupted):
        stage.crew.wait_ready("api")
    with pytest.raises(Interrupted):
        stage.crew.launch(stage.child("late", "pass"))


@pytest.mark.parametrize(
    ("code", "each"), [("import time; time.sleep(600)", 1), (DEAF, 2)], ids=["willing", "deaf"]
)
def test_a_supervisor_killed_outright_leaves_no_orphan(tmp_path: Path, code: str, each: int) -> None:
    argv = [sys.executable, "-c", SUPERVISOR, str(tmp_path), code]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        leaders = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(leaders) == 2
        assert eventually(lambda: [len(group(leader)) for leader in leaders] == [each, each])
        parent.kill()
        assert eventually(lambda: not any(group(leader) for leader in leaders))


def test_a_large_log_starts_again_and_the_writer_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "api.log"
    with path.open("ab", buffering=0) as writer:
        for text in (b"first ", b"second ", b"third "):
            writer.write(text * 100)
            assert rotate(path, largest=100)
        writer.write(b"now\n")
    assert path.read_bytes() == b"now\n"
    assert (tmp_path / "api.log.1").read_bytes() == b"third " * 100
    assert (tmp_path / "api.log.2").read_bytes() == b"second " * 100
    assert len(list(tmp_path.iterdir())) == 3
    assert not rotate(path, largest=100)
