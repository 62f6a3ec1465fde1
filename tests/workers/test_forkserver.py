"""The warm parents: none of a bot's life reaches the next, and a parent that fails is nobody's loss."""

import io
import json
import os
import signal
import struct
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from loadtests import proving
from service.limits import Limits
from workers.sandbox import BotCode, Sandbox, SandboxError

pytestmark = pytest.mark.sandbox
PLAY = "\ndef bid(view):\n    return 0\n\ndef play(view):\n    return view['legal'][0]\n"
DICE = """
import random, sys
print("BEFORE", hash("rage"), random.random(), sys.flags.hash_randomization, sys.argv, sys.path)

def start(info):
    print("AFTER", random.random(), random.gauss(0, 1))
"""
WIRE = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "start":
        print("zipped", file=sys.stderr)
        answer = {"ready": True}
    elif said["type"] == "end":
        break
    else:
        answer = {"id": said["id"], "move": said["legal"][0]}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture(scope="module")
def warm() -> Iterator[Sandbox]:
    probed = Sandbox.probe(launcher="fork-server")
    yield probed
    probed.close()


def log_of(played) -> str:
    assert played.outcome.faults == ()
    return played.usage[0].log


def test_dice_and_hashes_are_those_of_a_process_started_cold(table, warm: Sandbox, one_shot: Sandbox) -> None:
    assert log_of(table(DICE + PLAY, at=warm)) == log_of(table(DICE + PLAY, at=one_shot)) != ""


def test_nothing_of_one_bot_is_there_for_the_next(table, warm: Sandbox) -> None:
    mark = """
import builtins, json, os, sys
print("FOUND", hasattr(builtins, "mark"), os.path.exists("/tmp/mark"), hasattr(json, "mark"))
builtins.mark = json.mark = sys.mark = open("/tmp/mark", "w").write("x")
"""
    logs = [log_of(table(mark + PLAY, at=warm)) for _ in range(2)]
    assert logs == ["FOUND False False False\n"] * 2


def test_nothing_tells_a_bot_how_many_there_were_before(table, warm: Sandbox) -> None:
    """Else it knew which rotation of a deal this is."""
    look = """
import json, sys
frame, found = sys._getframe(), []

def numbers(thing, depth=4):
    if type(thing) is int:
        yield thing
    inside = thing
    if not isinstance(thing, (type, type(sys))):
        names = [*getattr(thing, "__dict__", ()), *getattr(type(thing), "__slots__", ()), "value", "contents"]
        inside = [getattr(thing, name) for name in names if hasattr(thing, name)] or thing
    if depth and isinstance(inside, (dict, list, tuple)):
        for each in inside.values() if isinstance(inside, dict) else inside:
            yield from numbers(each, depth - 1)

while frame := frame.f_back:
    for thing in [*frame.f_locals.values(), *frame.f_globals.values()]:
        found += numbers(thing)
print(json.dumps(found))
"""
    seen = [json.loads(log_of(table(look + PLAY, at=warm))) for _ in range(3)]
    assert len(set(map(tuple, seen))) == 3, "each has its own number, so all was looked through"
    small = [[number for number in found if number < 1_000_000] for found in seen]
    assert small[0] == small[1] == small[2], "no number that could be a count is another than before"


@pytest.mark.parametrize("launcher", ["warm", "locked"])
def test_what_python_counts_tells_nobody_how_many_there_were_before(launcher: str, table, request) -> None:
    """Each change of any dictionary is counted, in all processes that come of one."""
    if sys.version_info >= (3, 13):
        pytest.skip("this Python counts no more")
    at = request.getfixturevalue(launcher)
    source = "import ctypes\nprint(ctypes.c_uint64.from_address(id({}) + 24).value)\n" + PLAY
    counts = [log_of(table(source, at=at)) for _ in range(5)]
    assert counts[0] == counts[2] == counts[4] != ""


def test_each_bot_throws_its_own_dice_with_numpy(table, warm: Sandbox) -> None:
    if not warm.python.numpy:
        pytest.skip("this machine's Python has no numpy for bots")
    source = "import numpy\nprint(numpy.random.random())" + PLAY
    first, second = (log_of(table(source, at=warm)) for _ in range(2))
    assert first != second


def test_no_seat_shares_a_parent(table, warm: Sandbox) -> None:
    table(PLAY, PLAY, at=warm)
    parents = [warm.launcher.parents[slot, False] for slot in (0, 1)]
    assert len({pid for parent in parents for pid in parent.pids()}) == 4
    assert (
        len(
            {
                os.stat(f"/proc/{parent.pids()[1]}/ns/{kind}").st_ino
                for parent in parents
                for kind in ("pid", "net", "ipc", "uts", "mnt", "user")
            }
        )
        == 12
    )
    if warm.mode == "A":
        assert parents[0].group.memory != parents[1].group.memory


def test_a_parent_outlives_its_bots_and_serves_again(table, warm: Sandbox) -> None:
    table(PLAY, at=warm)
    before = warm.launcher.parents[0, False].pids()
    table("import os\nos._exit(3)", at=warm)
    table(PLAY, at=warm)
    assert warm.launcher.parents[0, False].pids() == before


@pytest.mark.parametrize("which", [0, 1], ids=["bubblewrap", "the parent"])
def test_a_parent_that_dies_is_replaced_and_the_match_played_again(
    which: int, table, warm, quiet_match
) -> None:
    table(PLAY, at=warm)
    os.kill(warm.launcher.parents[0, False].pids()[which], signal.SIGKILL)
    assert table(PLAY, at=warm).outcome == quiet_match.outcome


def test_a_parent_that_dies_during_a_match_is_nobodys_loss(table, warm: Sandbox, quiet_match) -> None:
    killed = []

    def kill(finished: int, rounds: int) -> None:
        if not killed:
            killed.append(warm.launcher.parents[0, False].pids()[1])
            os.kill(killed[0], signal.SIGKILL)

    played = table(PLAY, at=warm, on_round=kill)
    assert killed and played.outcome == quiet_match.outcome


@pytest.fixture(scope="module")
def quiet_match(table, one_shot: Sandbox):
    return table(PLAY, at=one_shot)


def test_a_parent_that_is_ended_leaves_no_descriptor(table, warm: Sandbox) -> None:
    table(PLAY, at=warm)
    before = proving.open_descriptors(warm)
    warm.launcher.parents[0, False].close()
    assert proving.open_descriptors(warm) == before
    table(PLAY, at=warm)
    assert proving.open_descriptors(warm) == before


def test_a_parent_that_hangs_is_given_up(warm: Sandbox, table, monkeypatch, quiet_match) -> None:
    monkeypatch.setattr("workers.sandbox.family.PATIENCE", 2.0)
    table(PLAY, at=warm)
    os.kill(warm.launcher.parents[0, False].pids()[1], signal.SIGSTOP)
    assert table(PLAY, at=warm).outcome == quiet_match.outcome


def test_a_parent_that_cannot_start_says_why(monkeypatch, leftovers) -> None:
    probed = Sandbox.probe(launcher="fork-server")
    try:
        probed.launcher.close()
        monkeypatch.setattr(probed.launcher.nursery, "program", "/nowhere/bwrap")
        with pytest.raises(SandboxError, match=r"did not start.*/nowhere/bwrap"):
            probed.launch(BotCode("bot.py", "py", b""), Limits(), slot=0)
        end = time.monotonic() + 60  # what was ended by closing may still be dying
        while left := leftovers(probed):
            assert time.monotonic() < end, left
    finally:
        probed.close()


def test_an_archive_with_programs_starts_by_itself(table, warm: Sandbox) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bot.toml", 'run = ["python", "main.py"]')
        archive.writestr("main.py", WIRE)
    assert log_of(table(BotCode("zipped.zip", "zip", packed.getvalue()), at=warm)) == "zipped\n"


def test_closing_leaves_no_parent_and_no_group(table, leftovers) -> None:
    probed = Sandbox.probe(launcher="fork-server")
    table(PLAY, at=probed)
    pids = [pid for parent in probed.launcher.parents.values() for pid in parent.pids()]
    probed.close()
    assert pids and not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    assert leftovers(probed) == {}


LEAVE = """
import ctypes, os, socket, time
libc = ctypes.CDLL(None, use_errno=True)

def queues(flags):
    return [libc.shmget(77, 9, flags) >= 0, libc.semget(77, 1, flags) >= 0, libc.msgget(77, flags) >= 0]

def start(info):
    named, door = (socket.socket(family) for family in (socket.AF_UNIX, socket.AF_INET))
    print("FOUND", queues(0), os.listdir("/tmp"), os.getpid(), socket.gethostname())
    named.bind("\\0rage")
    door.bind(("0.0.0.0", 7777))
    door.listen()
    print("LEFT", queues(0o1666), libc.sethostname(b"x", 1), socket.socket().connect_ex(("127.0.0.1", 7777)))
    open("/tmp/left", "w").close()
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
"""
FOUND = "FOUND [False, False, False] [] 2 table\nLEFT [True, True, True] -1 101\n"


def test_even_without_a_filter_nothing_stays_in_a_seats_namespaces(table, monkeypatch, leftovers) -> None:
    """The network is shared by the bots that follow one another in a seat; the rest is each one's own."""
    allow_all = struct.pack("HBBI", 6, 0, 0, 0x7FFF_0000)
    monkeypatch.setattr("workers.sandbox.filters.compiled", lambda **_: allow_all)
    probed = Sandbox.probe(launcher="fork-server")
    try:
        if probed.mode != "A":
            pytest.skip("no scratch space to leave anything in")
        for _ in range(2):
            assert log_of(table(LEAVE + PLAY, at=probed)) == FOUND
            assert leftovers(probed) == {}
    finally:
        probed.close()
