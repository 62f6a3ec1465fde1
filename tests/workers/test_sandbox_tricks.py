"""Tricks that once worked: escaping a loss, keeping a worker busy for ever, and whispering between seats."""

import pytest

from engine.table import FaultKind
from service.limits import Limits
from workers.sandbox import Sandbox

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize("depth", [2, 300, 1000])
def test_a_move_nested_without_end_is_the_bots_own_fault(table, depth: int) -> None:
    nested = f"    x = []\n    for _ in range({depth}):\n        x = [x]\n    return x\n"
    played = table(f"def bid(view):\n{nested}def play(view):\n{nested}")
    assert {fault.kind for fault in played.outcome.faults if fault.seat == 0} <= {
        FaultKind.ILLEGAL,
        FaultKind.GARBAGE,
        FaultKind.CRASH,
    }
    assert any(fault.seat == 0 and fault.out for fault in played.outcome.faults)
    assert not any(fault.seat == 1 for fault in played.outcome.faults)


def test_a_bot_that_never_stops_writing_short_lines_keeps_nobody_busy(table) -> None:
    source = (
        "import os, threading, time\n"
        "page = (b'\\n' * 4000 + b'a' * 96) * 16\n"
        "def pour():\n"
        "    time.sleep(.02)\n"
        "    while True:\n"
        "        for pipe in range(1, 8):\n"
        "            try: os.write(pipe, page)\n"
        "            except OSError: pass\n"
        "begun = []\n"
        "def bid(view):\n"
        "    for _ in range(0 if begun else 3):\n"
        "        threading.Thread(target=pour, daemon=True).start()\n"
        "    begun.append(1)\n"
        "    return 0\n"
        "def play(view):\n    time.sleep(.05)\n    return view['legal'][0]\n"
    )
    played = table(source)
    assert 0 in played.outcome.out
    assert 1 not in played.outcome.out


FUTEX = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def bid(view):
    word = ctypes.c_uint32(0)
    assert libc.syscall(202, ctypes.byref(word), OPERATION, 1, None, None, 0) == WANTED, ctypes.get_errno()
    return 0
def play(view):
    return view["legal"][0]
"""


@pytest.mark.parametrize(("operation", "wanted"), [(1, -1), (3, -1), (4, -1), (5, -1), (10, -1), (129, 0)])
def test_only_threads_of_ones_own_can_be_woken(table, operation: int, wanted: int) -> None:
    source = FUTEX.replace("OPERATION", str(operation)).replace("WANTED", str(wanted))
    assert table(source).outcome.faults == ()


REFUSED = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(number, *arguments):
    return libc.syscall(number, *arguments) == -1 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS)
def bid(view):
    null = os.open("/dev/null", os.O_RDONLY)
    assert refused(221, null, 0, 0, 4), "fadvise64"
    for name in (b"/dev/null", b"/dev/urandom"):
        assert refused(132, name, None), "utime"
        assert refused(235, name, None), "utimes"
        assert refused(280, -100, name, None, 0), "utimensat"
        assert refused(261, -100, name, None), "futimesat"
    assert refused(99, ctypes.create_string_buffer(256)), "sysinfo"
    assert refused(327, null, None, 0, 0, 0, 8), "preadv2"
    assert refused(449, None, 0, 0, None, 0), "futex_waitv"
    assert refused(112), "setsid"
    return 0
def play(view):
    return view["legal"][0]
"""


def test_nothing_that_marks_what_seats_share_is_allowed(table) -> None:
    assert table(REFUSED).outcome.faults == ()


def test_threads_and_locks_of_an_honest_bot_go_on_working(table) -> None:
    source = (
        "import queue, threading\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(3)\n"
        "def bid(view):\n"
        "    inbox = queue.Queue()\n"
        "    thread = threading.Thread(target=inbox.put, args=(0,))\n"
        "    thread.start()\n    thread.join()\n"
        "    return inbox.get() + pool.submit(int, 0).result()\n"
        "def play(view):\n    return view['legal'][0]\n"
    )
    assert table(source).outcome.faults == ()


ASYNC = """
import asyncio

async def think():
    return 0

def bid(view):
    return asyncio.run(think())

def play(view):
    return view["legal"][0]
"""
NUMBERED = """
import ctypes, os
libc = ctypes.CDLL(None)

def number(made):
    assert made >= 0
    return os.fstat(made).st_ino

def bid(view):
    kinds = (libc.eventfd, (0, 0)), (libc.epoll_create1, (0,)), (libc.timerfd_create, (1, 0))
    print(len({number(make(*how)) for make, how in kinds for _ in range(3)}))
    return 0

def play(view):
    return view["legal"][0]
"""


@pytest.mark.parametrize("launcher", ["sandbox", "one_shot", "locked"])
def test_who_needs_an_event_loop_is_told_that_there_is_none(launcher: str, table, request) -> None:
    (fault,) = table(ASYNC, at=request.getfixturevalue(launcher)).outcome.faults
    assert str(fault.kind) == "escape"
    assert "asyncio does not run" in fault.text and "in bid" in fault.evidence["log_head"]


def test_what_else_a_bot_can_open_bears_no_number_of_its_own(table) -> None:
    """A number that counts would carry news from seat to seat."""
    log = table(NUMBERED).usage[0].log
    assert log.split()[0] == "1"


def test_honest_libraries_go_on_working_without_pipes(table, sandbox: Sandbox) -> None:
    source = (
        "import collections, dataclasses, decimal, functools, itertools, json, math, os, random, statistics\n"
        "import heapq, logging, pathlib, pickle, queue, tempfile, time, typing\n"
        "def bid(view):\n"
        "    assert os.stat('bot.py').st_size and pathlib.Path('bot.py').exists()\n"
        "    with tempfile.TemporaryFile() as file:\n        pickle.dump(view, file)\n"
        "    logging.getLogger().warning(random.choice([1, 2]))\n"
        "    return 0\n"
        "def play(view):\n    return view['legal'][0]\n"
    )
    if sandbox.python.numpy:
        source = "import numpy\nassert numpy.linalg.inv(numpy.eye(90)).sum() == 90\n" + source
    assert table(source, limits=Limits()).outcome.faults == ()


@pytest.mark.parametrize("launcher", ["sandbox", "one_shot"])
def test_a_bot_has_sixteen_threads_from_its_first_match_on(launcher: str, table, request) -> None:
    source = (
        "import threading, time\n"
        "def bid(view):\n"
        "    try:\n"
        "        while True:\n"
        "            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "    except RuntimeError:\n"
        "        print(threading.active_count())\n"
        "    return 0\n"
        "def play(view):\n    return view['legal'][0]\n"
    )
    log = table(source, at=request.getfixturevalue(launcher), limits=Limits()).usage[0].log
    assert log.split()[0] == "16"
