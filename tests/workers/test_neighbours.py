"""Seats that share a core: whoever burns time on another's turn makes nobody late and pays for it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from engine.rules import RuleSet
from service.limits import Limits
from workers.match import play_match
from workers.sandbox import BotCode, Sandbox

pytestmark = pytest.mark.sandbox
RULES = RuleSet.parse({"preset": "fundex", "hand_sizes": [2, 1]})
PLAY = "\ndef bid(view):\n    return 0\n\ndef play(view):\n    return view['legal'][0]\n"
BURNER = f"""
import threading

def burn():
    while True:
        pass

def end_of_turn():
    for _ in range(12):
        threading.Thread(target=burn, daemon=True).start()
{PLAY}
play_on = play

def play(view):
    if not begun:
        begun.append(True)
        end_of_turn()
    return play_on(view)

begun = []
"""
WORKING = """
import time

def work():
    "a quarter of a second's work, as every honest bot may need"
    end = time.thread_time() + 0.25
    while time.thread_time() < end:
        pass
    return 0

def bid(view):
    return 0

def play(view):
    work()
    return view["legal"][0]
"""
LIMITS = Limits(decision_ms=500, decision_cpu_ms=100, bank_cpu_ms=1_500)


@contextmanager
def one_core() -> Iterator[int]:
    """This process and all it starts, on one core, as a worker is."""
    cores = os.sched_getaffinity(0)
    core = min(cores)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, cores)


@pytest.fixture
def pinned() -> Iterator[Sandbox]:
    """A sandbox whose warm parents are pinned as well."""
    with one_core():
        probed = Sandbox.probe()
        yield probed
        probed.close()


def matched(sandbox: Sandbox, *sources: str, limits: Limits = LIMITS):
    bots = [BotCode(f"bot{seat}.py", "py", source.encode()) for seat, source in enumerate(sources)]
    seeds = list(range(len(bots)))
    return play_match(RULES, bots, seed=bytes(32), bot_seeds=seeds, limits=limits, sandbox=sandbox)


@pytest.mark.parametrize("seats", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_a_neighbour_that_burns_on_others_turns_makes_nobody_late(seats: int, pinned: Sandbox) -> None:
    burners = [BURNER] * (seats - 1)
    alone = matched(pinned, WORKING, *[PLAY] * (seats - 1))
    beside = matched(pinned, WORKING, *burners)
    assert [fault for fault in beside.outcome.faults if fault.seat == 0] == []
    assert beside.outcome.scores[0] == alone.outcome.scores[0]


def test_a_burner_is_ended_on_anothers_turn_and_told_at_its_own(pinned: Sandbox) -> None:
    waiting = PLAY.replace("return view", "import time; time.sleep(0.5); return view")
    limits = Limits(decision_ms=1_000, decision_cpu_ms=1, bank_cpu_ms=60)
    played = matched(pinned, waiting, BURNER.replace("range(12)", "range(1)"), limits=limits)
    (fault,) = played.outcome.faults
    assert (fault.seat, str(fault.kind), fault.out) == (1, "timeout", True)
    assert "ms of CPU" in fault.text and fault.evidence["limit"]["cpu_ms"] < 70
    assert 60 < fault.evidence["used"]["cpu_ms"] < 400


ASIDE = """    if view["round"] == 2:
        aside = threading.Thread(target=work)
        aside.start()
        aside.join()
"""
WORKING_ASIDE = WORKING.replace("    work()\n", ASIDE).replace("import time", "import threading, time")
SPIN = "import os\nos.setsid()\nwhile True: pass"


@contextmanager
def crowd(core: int, count: int) -> Iterator[None]:
    """Strangers that want the whole core, each with a scheduling group of its own."""
    with ExitStack() as stack:
        for _ in range(count):
            spinner = subprocess.Popen(["taskset", "-c", str(core), sys.executable, "-c", SPIN])
            stack.callback(spinner.wait)
            stack.callback(spinner.kill)
        yield


def test_on_a_busy_machine_clocks_stand_still_and_nobody_loses(pinned: Sandbox) -> None:
    """Not even who has others of its threads do the work."""
    quiet = matched(pinned, WORKING, WORKING_ASIDE, limits=Limits(decision_ms=10_000, start_ms=30_000))
    limits = Limits(decision_ms=500, decision_cpu_ms=300, bank_cpu_ms=5_000, start_ms=30_000)
    with crowd(min(os.sched_getaffinity(0)), 4):
        pressed = matched(pinned, WORKING, WORKING_ASIDE, limits=limits)
    assert pressed.outcome.faults == ()
    assert pressed.outcome == quiet.outcome
    assert pressed.replays == 0
    assert min(usage.waited_ms for usage in pressed.usage) > 500


LATE_ON_PURPOSE = """
import os, time

def bid(view):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        TRICK
        time.sleep(0.012)
    return 0

def play(view):
    return view["legal"][0]
"""
TRICKS = {
    "computes as long as it may": "end = time.monotonic() + 0.03\n        while time.monotonic() < end: pass",
    "gives its turn away": "[os.sched_yield() for _ in range(100)]",
    "keeps us reading": "[os.write(2, b'x') for _ in range(2_000)]",
}


@pytest.mark.parametrize("trick", TRICKS.values(), ids=TRICKS)
def test_no_bot_gets_a_match_played_again_by_being_late_on_a_busy_core(trick: str, pinned: Sandbox) -> None:
    """It waits for the core now and then, but sleeps too, and that is its own affair."""
    limits = Limits(decision_ms=500, start_ms=30_000)
    with crowd(min(os.sched_getaffinity(0)), 1):
        played = matched(pinned, PLAY, LATE_ON_PURPOSE.replace("TRICK", trick), limits=limits)
    assert {(fault.seat, str(fault.kind)) for fault in played.outcome.faults} == {(1, "timeout")}
    assert played.replays == 0


def test_a_bot_that_sleeps_is_late_on_the_busiest_machine(pinned: Sandbox) -> None:
    sleepy = PLAY.replace("return 0", "import time; time.sleep(30)")
    limits = Limits(decision_ms=500, start_ms=30_000)
    with crowd(min(os.sched_getaffinity(0)), 3):
        played = matched(pinned, PLAY, sleepy, limits=limits)
    assert {(fault.seat, str(fault.kind)) for fault in played.outcome.faults} == {(1, "timeout")}
