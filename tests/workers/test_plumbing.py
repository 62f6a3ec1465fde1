"""Pipes of archives: like any other to the bot, and no news from one seat to another."""

import errno
import os
import threading
from typing import Any

import pytest

from loadtests import proving
from loadtests.archives import archived
from service.limits import Limits
from workers.sandbox import BotCode, Sandbox, filters, plumbing

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(os.getuid() != 0, reason="only root has ushers, through whom the kernel asks"),
]
HEAD = """
import asyncio, ctypes, errno, fcntl, json, os, socket, subprocess, sys

def number():
    ends = os.pipe()
    numbers = [os.fstat(end).st_ino for end in ends]
    for end in ends:
        os.close(end)
    assert numbers[0] == numbers[1]
    return numbers[0]

def start():
    pass

START
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "start":
        start()
        print(json.dumps({"ready": True}), flush=True)
        continue
    if told["type"] == "end":
        break
    WORK
    print(json.dumps({"id": told["id"], "move": told["legal"][0]}), flush=True)
"""
ROOMY = Limits(decision_ms=10_000, start_ms=30_000, decision_cpu_ms=2_000)


def bot(work: str = "pass", start: str = "") -> BotCode:
    text = HEAD.replace("START", start).replace("WORK", work)
    files = {"bot.toml": b'run = ["python", "main.py"]', "main.py": text.encode()}
    return BotCode("bot.zip", "zip", archived(files))


def test_no_seat_learns_how_many_pipes_another_made(table, sandbox: Sandbox) -> None:
    reader = bot("print(number(), file=sys.stderr)")
    told = [
        table(bot(f"[number() for _ in range({many})]"), reader, limits=ROOMY).usage[1].log.split()
        for many in (0, 300)
    ]
    assert told[0] == told[1] and len(told[0]) > 3, "nor how many were made in the match before"
    assert table(bot(), reader, at=sandbox, limits=ROOMY).usage[1].log.split() == told[0]


@pytest.mark.parametrize(
    "work",
    [
        "ends = os.pipe(); os.write(ends[1], b'x' * 5_000); os.close(ends[1]);"
        " assert len(os.read(ends[0], 9_999)) == 5_000 and os.read(ends[0], 9) == b''",
        "ends = os.pipe2(os.O_NONBLOCK); assert not any(map(os.get_blocking, ends))",
        "assert all(map(os.get_blocking, os.pipe()))",
        "assert all(fcntl.fcntl(end, fcntl.F_GETFD) & fcntl.FD_CLOEXEC for end in os.pipe())",
        "assert not any(fcntl.fcntl(end, fcntl.F_GETFD) & fcntl.FD_CLOEXEC for end in os.pipe2(0))",
        'code = "print(input()[::-1])"\n'
        "    said = subprocess.run([sys.executable, '-c', code], input=b'abc\\n', stdout=subprocess.PIPE)\n"
        "    assert said.stdout == b'cba\\n'",
    ],
    ids=["bytes", "not waiting", "waiting", "closed by programs", "kept by programs", "a program's"],
)
def test_a_pipe_is_a_pipe(work: str, table) -> None:
    assert table(bot(work), limits=ROOMY).outcome.faults == ()


@pytest.mark.parametrize("at", ["0", "8", "2**63 - 1", "2**64 - 8"])
def test_a_place_that_is_none_is_refused_and_the_next_pipe_comes(at: str, table) -> None:
    work = f"assert ctypes.CDLL(None).syscall(SYS_PIPE, ctypes.c_void_p({at}), 0) == -1\n    number()"
    numbered = f"SYS_PIPE = {next(iter(filters.numbers(['pipe2'])))}"
    assert table(bot(work, numbered), limits=ROOMY).outcome.faults == ()


def test_who_holds_too_many_is_told_so(table) -> None:
    work = "held = []\n    while True: held.append(os.pipe())"
    (fault,) = table(bot(work), limits=ROOMY).outcome.faults
    assert (str(fault.kind), "[Errno 24]" in fault.text) == ("escape", True)


def test_an_event_loop_is_made_before_a_bot_is_ready_and_serves_it_afterwards(table) -> None:
    start = "loop = asyncio.new_event_loop()"
    assert table(bot("loop.run_until_complete(asyncio.sleep(0))", start), limits=ROOMY).outcome.faults == ()
    (fault,) = table(bot("socket.socketpair()"), limits=ROOMY).outcome.faults
    assert str(fault.kind) == "escape" and "before it is ready" in fault.text


def test_where_we_may_not_make_them_the_kernel_does(table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plumbing, "_file_system", lambda: -1)
    work = "number()\n    asyncio.new_event_loop().close()"
    assert table(bot(work), limits=ROOMY).outcome.faults == ()


def test_where_a_bots_memory_is_closed_to_us_the_kernel_makes_them(
    table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "not yours")

    monkeypatch.setattr(plumbing, "open", closed, raising=False)
    assert table(bot("number()"), limits=ROOMY).outcome.faults == ()


def test_nothing_stays_open(sandbox: Sandbox, table) -> None:
    table(bot("number()"), limits=ROOMY)
    before = proving.open_descriptors(sandbox)
    table(bot("held = [os.pipe() for _ in range(9)]"), limits=ROOMY)
    assert proving.open_descriptors(sandbox) == before
    for usher in sandbox.launcher.one_shot.parents.values():  # type: ignore[attr-defined]
        usher.close()
    assert proving.open_descriptors(sandbox) == before


def test_what_its_pipes_cost_us_a_bot_pays(table, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    assert table(bot("number()"), limits=ROOMY).outcome.faults == ()
    usher = sandbox.launcher.one_shot.parents[0]  # type: ignore[attr-defined]
    assert usher.plumbing.cpu_ns > 0
    monkeypatch.setattr(plumbing.Plumbing, "cpu_ns", 3_600 * 10**9)
    (fault,) = table(bot(), limits=ROOMY).outcome.faults
    assert (str(fault.kind), "ms of CPU" in fault.text) == ("start", True)


def test_what_a_pipe_is_made_in_stays_until_it_is_made(
    table, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else we would make one elsewhere, or keep its ends, for who is ended while it asks."""
    table(bot("number()"), limits=ROOMY)
    before, waited = proving.open_descriptors(sandbox), []
    usher = sandbox.launcher.one_shot.parents[0]  # type: ignore[attr-defined]

    def ended_meanwhile(*told: Any, **more: Any) -> object:
        ending = threading.Thread(target=usher.plumbing.end)
        ending.start()
        ending.join(0.01)
        waited.append(ending.is_alive())
        return open(*told, **more)

    monkeypatch.setattr(plumbing, "open", ended_meanwhile, raising=False)
    table(bot("number()"), limits=ROOMY)
    assert waited[0] and proving.open_descriptors(sandbox) == before
