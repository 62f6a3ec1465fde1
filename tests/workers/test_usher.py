"""Ushers start bubblewraps from a seat's groups: one that fails is nobody's loss, no bot pays for another."""

import os
import signal

import pytest

from loadtests.archives import archived
from loadtests.attacks import HOARD
from service.limits import Limits
from workers.sandbox import BotCode, Sandbox

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(os.getuid() != 0, reason="only root has users and groups to hand out"),
]
RUN = b'run = ["python", "main.py"]'
PLAY = """
import json, subprocess, sys
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "end":
        break
    WORK
    answer = {"ready": True} if told["type"] == "start" else {"id": told["id"], "move": told["legal"][0]}
    print(json.dumps(answer), flush=True)
"""
BURN = "subprocess.run([sys.executable, '-c', 'x = bytearray(range(250)) * 200_000; sum(range(9_000_000))'])"
ROOMY = Limits(decision_ms=10_000, start_ms=30_000, decision_cpu_ms=2_000)


def talker(work: str = "pass") -> BotCode:
    return BotCode(
        "bot.zip", "zip", archived({"bot.toml": RUN, "main.py": PLAY.replace("WORK", work).encode()})
    )


@pytest.fixture(scope="module")
def quiet(table, one_shot: Sandbox):
    return table(talker(), at=one_shot, limits=ROOMY)


def test_an_usher_outlives_its_bots_and_is_replaced_when_it_dies(table, one_shot: Sandbox, quiet) -> None:
    if one_shot.mode != "A":
        pytest.skip("no groups, no ushers")
    usher = one_shot.launcher.parents[0]
    assert table(talker(), at=one_shot, limits=ROOMY).outcome == quiet.outcome
    assert one_shot.launcher.parents[0] is usher
    os.kill(usher.pids()[0], signal.SIGKILL)
    assert table(talker(), at=one_shot, limits=ROOMY).outcome == quiet.outcome
    assert one_shot.launcher.parents[0] is not usher


def test_an_usher_that_dies_during_a_match_is_nobodys_loss(
    table, one_shot: Sandbox, quiet, leftovers
) -> None:
    killed = []

    def kill(finished: int, rounds: int) -> None:
        if not killed and one_shot.launcher.parents:
            killed.append(one_shot.launcher.parents[0].pids()[0])
            os.kill(killed[0], signal.SIGKILL)

    played = table(talker(), at=one_shot, limits=ROOMY, on_round=kill)
    assert played.outcome == quiet.outcome
    assert leftovers(one_shot) == {}


LEFT_TO_ANOTHER = f"""
import ctypes, json, sys, threading, time
def talk():{PLAY.replace("import json, subprocess, sys", "").replace(chr(10), chr(10) + "    ")}
threading.Thread(target=talk).start()
ctypes.CDLL(None).syscall(60, 0)  # which ends the first thread alone
"""


def test_a_program_may_go_on_when_its_first_thread_has_ended(table, one_shot: Sandbox, quiet) -> None:
    main = LEFT_TO_ANOTHER.replace("WORK", "time.sleep(0.1)").encode()
    code = BotCode("bot.zip", "zip", archived({"bot.toml": RUN, "main.py": main}))
    assert table(code, at=one_shot, limits=ROOMY).outcome == quiet.outcome


def test_no_bot_pays_for_the_one_before_it(table, one_shot: Sandbox) -> None:
    before = table(talker(BURN), at=one_shot, limits=ROOMY).usage[0]
    after = table(talker(), at=one_shot, limits=ROOMY).usage[0]
    assert before.cpu_ms > 3 * after.cpu_ms
    assert before.memory_kb > 40_000 > after.memory_kb


def test_a_seats_limits_hold_for_all_processes_of_an_archive(table, one_shot: Sandbox) -> None:
    child = "subprocess.run([sys.executable, '-c', 'x = bytearray(range(250)) * 800_000'])"
    hungry = f"{child} if told['type'] == 'bid' else 0"
    played = table(talker(hungry), at=one_shot, limits=Limits(decision_ms=10_000, memory_mb=64))
    assert played.usage[0].memory_kb <= 66 * 1024
    assert table(talker(), at=one_shot, limits=ROOMY).outcome.faults == ()


def test_who_has_the_kernel_end_its_usher_is_out_of_memory_and_nobody_plays_again(
    table, one_shot: Sandbox, leftovers
) -> None:
    if one_shot.mode != "A":
        pytest.skip("no groups, no ushers")
    hoard = f"import ctypes; libc = ctypes.CDLL(None); exec({HOARD!r})"
    played = table(talker(hoard), at=one_shot, limits=Limits(decision_ms=10_000, memory_mb=64))
    assert [(fault.seat, str(fault.kind), fault.out) for fault in played.outcome.faults] == [
        (0, "memory", True)
    ]
    assert played.replays == 0
    assert leftovers(one_shot) == {}
