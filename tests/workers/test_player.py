"""The wire: both modes tell the same, clocks count what they should, and every fault carries its evidence."""

import io
import json
import zipfile

import pytest

from engine.mirror import Mirror
from engine.rules import RuleSet
from engine.table import FaultKind, PlayerFault
from service.limits import Limits
from workers.player import SandboxPlayer
from workers.sandbox import BotCode, Sandbox

pytestmark = pytest.mark.sandbox

FULL = """
import json, sys
start = json.loads(sys.stdin.readline())
print(json.dumps({"ready": True, "mode": "MODE"}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    print(line, file=sys.stderr, end="")
    if message["type"] == "end":
        break
    print(json.dumps({"id": message["id"], "move": message["legal"][-1]}), flush=True)
"""


def packed(files: dict[str, str | bytes], run: list[str] | None = None) -> BotCode:
    """A zip bot."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("bot.toml", f"run = {json.dumps(run or ['python', 'main.py'])}\n")
        for name, content in files.items():
            archive.writestr(name, content)
    return BotCode("packed.zip", "zip", data.getvalue())


def raw(body: str) -> BotCode:
    """A zip bot that says it is ready and then does what it likes with its own pipes."""
    head = (
        'import json, os, sys, time\nsys.stdin.readline()\nprint(json.dumps({"ready": True}), flush=True)\n'
    )
    return packed({"main.py": head + body})


def test_a_zip_bot_may_ask_for_news_instead_of_views(table) -> None:
    limits = Limits()
    full = table(packed({"main.py": FULL.replace("MODE", "full")}), limits=limits)
    delta = table(packed({"main.py": FULL.replace("MODE", "delta")}), limits=limits)
    assert full.outcome.faults == delta.outcome.faults == ()
    assert full.outcome.record == delta.outcome.record
    told = [[json.loads(line) for line in played.usage[0].log.splitlines()] for played in (full, delta)]
    assert all("view" in message for message in told[0][:-1])
    assert all("events" in message and "view" not in message for message in told[1][:-1])
    assert told[0][-1] == told[1][-1] and set(told[0][-1]) == {"type", "scores", "places"}


def test_folding_the_news_gives_the_views(table) -> None:
    start = {
        "seat": 0,
        "players": 2,
        "rules": RuleSet.parse({"preset": "fundex", "hand_sizes": [3, 2]}).as_dict(),
    }
    mirror = Mirror(start)
    logs = [table(packed({"main.py": FULL.replace("MODE", mode)})).usage[0].log for mode in ("full", "delta")]
    views, news = ([json.loads(line) for line in log.splitlines()][:-1] for log in logs)
    for asked, told in zip(views, news, strict=True):
        mirror.tell(told["events"])
        assert mirror.view() == asked["view"]


def test_a_bot_may_bring_its_own_packages_and_the_engine(table) -> None:
    main = "from vendored.strategy import choose\nimport engine.rules\n" + FULL.replace(
        "MODE", "full"
    ).replace('message["legal"][-1]', 'choose(message["legal"])')
    bot = packed(
        {"main.py": main, "vendored/__init__.py": "", "vendored/strategy.py": "choose = max if 0 else min\n"}
    )
    played = table(bot)
    assert [fault for fault in played.outcome.faults if fault.kind != "crash"] == []


def test_a_program_that_cannot_be_run_is_a_fault_at_the_start(table) -> None:
    played = table(packed({"mybot": "not a program"}, ["./mybot"]))
    (fault,) = played.outcome.faults
    assert (fault.kind, fault.asked, fault.out) == ("start", "start", True)


def test_a_shell_script_finds_no_shell(table) -> None:
    played = table(packed({"mybot": "#!/bin/sh\necho '{\"ready\":true}'\n"}, ["./mybot"]))
    assert [str(fault.kind) for fault in played.outcome.faults] == ["start"]


def test_a_zip_bots_processes_are_allowed_counted_and_ended(table, leftovers, sandbox: Sandbox) -> None:
    if sandbox.mode != "A":
        pytest.skip("processes are counted by control groups only")
    body = (
        "import subprocess\nspin = [sys.executable, '-c', 'while True: pass']\n"
        "subprocess.Popen(spin)\ntime.sleep(1.5)\nsys.stdin.readline()\n"
        "print(json.dumps({'id': 1, 'move': 0}), flush=True)\ntime.sleep(60)\n"
    )
    limits = Limits(decision_ms=3000, decision_cpu_ms=1, bank_cpu_ms=500)
    (fault,) = table(raw(body), limits=limits).outcome.faults
    assert (fault.kind, fault.out) == ("timeout", True)
    assert fault.evidence["used"]["cpu_ms"] > 500
    assert leftovers(sandbox) == {}


def test_a_zip_bot_may_not_have_more_processes_than_the_policy_says(
    table, sandbox: Sandbox, leftovers
) -> None:
    if sandbox.python.numpy:  # for which the seat keeps one more parent, under the bot's user id
        table(
            "import numpy\n\ndef bid(view):\n    return 0\n\ndef play(view):\n    return view['legal'][0]\n"
        )
    body = "while True:\n    os.fork()\n"
    faults = table(raw(body), limits=Limits(decision_ms=500)).outcome.faults
    assert {str(fault.kind) for fault in faults} <= {"escape", "timeout", "garbage"} and faults
    assert leftovers(sandbox) == {}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("time.sleep(60)\n", "timeout"),
        ("while True: pass\n", "timeout"),
        ("sys.stdin.close()\ntime.sleep(60)\n", "timeout"),
        ("while True: print('x' * 1000)\n", "garbage flood"),
        ("while True: sys.stdout.write('x' * 1000)\n", "garbage flood"),
        ("while True: print('x' * 1000, file=sys.stderr)\n", "flood"),
        ("sys.exit(4)\n", "crash"),
        ("os.close(1)\ntime.sleep(60)\n", "crash"),
        ("os.dup2(2, 1)\nfor line in sys.stdin: print(0)\ntime.sleep(60)\n", "crash"),
        ('os.write(1, b\'{"id":1,"move":0}\\n{"id":2,"move":0}\\n\')\ntime.sleep(60)\n', "garbage"),
        ("for line in sys.stdin: print('{\"move\":0}', flush=True)\n", "garbage"),
        ("for line in sys.stdin: print('[1]', flush=True)\n", "garbage"),
        ("for line in sys.stdin: print('', flush=True)\n", "garbage"),
    ],
)
def test_what_a_raw_bot_does_wrong_has_its_name(
    body: str, kind: str, table, sandbox: Sandbox, leftovers
) -> None:
    faults = table(raw(body)).outcome.faults
    assert str(faults[0].kind) in kind.split(), faults
    assert faults[-1].out
    assert leftovers(sandbox) == {}


def test_a_bot_that_never_reads_cannot_hold_up_the_table(table) -> None:
    hand = Limits(decision_ms=500)
    faults = table(raw("time.sleep(60)\n"), limits=hand).outcome.faults
    assert [(str(fault.kind), fault.out) for fault in faults] == [("timeout", False)] * 2 + [
        ("timeout", True)
    ]


CRASH = """
import sys

def bid(view):
    print("a note of mine")
    return view["no such thing"]

def play(view):
    return view["legal"][0]
"""


def test_a_crash_keeps_what_its_author_needs(table) -> None:
    (fault,) = table(CRASH).outcome.faults
    evidence = fault.evidence
    assert (fault.kind, fault.round, fault.decision, fault.asked) == ("crash", 1, 1, "bid")
    assert "KeyError: 'no such thing'" in fault.text
    assert 'File "bot0.py", line 6, in bid' in evidence["log_head"]
    assert evidence["log_head"].startswith("a note of mine")
    assert evidence["exit_status"] == 1 and evidence["signal"] is None
    assert evidence["legal"] == [0, 1, 2, 3] and evidence["view"]["hand"]
    assert set(evidence["used"]) == {"cpu_ms", "wall_ms", "memory_kb", "waited_ms"}
    assert evidence["seed"] == 0  # with it the author can play the match again
    json.dumps(fault.as_dict())


def test_a_death_by_signal_names_the_signal(table) -> None:
    (fault,) = table(
        "import os\ndef bid(view):\n    os.kill(os.getpid(), 11)\ndef play(view): pass\n"
    ).outcome.faults
    assert fault.evidence["signal"] == 11 and "SIGSEGV" in fault.text


def test_an_illegal_answer_is_kept_with_the_choices(table) -> None:
    faults = table("def bid(view): return 99\ndef play(view): return view['legal'][0]\n").outcome.faults
    assert [str(fault.kind) for fault in faults] == ["illegal", "illegal"]  # one a round
    assert faults[0].evidence["answer"] == '{"id":1,"move":99}'
    assert faults[0].evidence["legal"] == [0, 1, 2, 3]


def test_a_long_log_is_kept_at_both_ends_and_counted(table) -> None:
    body = "    for n in range(20_000): print('line', n)\n    raise SystemExit('the end')\n"
    source = f"def bid(view):\n{body}def play(v): 0\n"
    (fault,) = table(source).outcome.faults
    assert fault.evidence["log_head"].startswith("line 0\n")
    assert fault.evidence["log_tail"].endswith("the end\n")
    assert fault.evidence["log_bytes"] > 200_000
    assert max(len(fault.evidence["log_head"]), len(fault.evidence["log_tail"])) <= 8 * 1024


LATER = """
import os, threading

def bid(view):
    threading.Timer(0.02, lambda: os.write(2, b"x" * 500)).start()
    return 0

def play(view):
    return view["legal"][0]
"""
SLOW = "import time\ndef bid(view):\n    time.sleep(0.1)\n    return 0\ndef play(v): return v['legal'][0]\n"


def test_a_flood_on_others_turns_is_the_bots_fault(table, monkeypatch) -> None:
    monkeypatch.setattr("workers.log.ALLOWED", 400)
    faults = table(LATER, SLOW).outcome.faults
    assert [(fault.seat, str(fault.kind), fault.out) for fault in faults] == [(0, "flood", True)]


def test_time_on_others_turns_is_charged(table) -> None:
    source = """
import threading

def burn():
    while True:
        pass

def start(info):
    threading.Thread(target=burn, daemon=True).start()

def bid(view):
    return 0

def play(view):
    return view["legal"][0]
"""
    slow = (
        "import time\ndef bid(view):\n    time.sleep(0.6)\n    return 0\ndef play(v): return v['legal'][0]\n"
    )
    limits = Limits(decision_ms=1000, decision_cpu_ms=1, bank_cpu_ms=100)
    faults = table(source, slow, limits=limits).outcome.faults
    assert [(fault.seat, str(fault.kind), fault.out) for fault in faults] == [(0, "timeout", True)]
    assert faults[0].evidence["limit"]["cpu_ms"] < faults[0].evidence["used"]["cpu_ms"]


def test_a_looping_author_is_shown_the_line(table) -> None:
    source = "def bid(view):\n    while True: pass\ndef play(view):\n    return view['legal'][0]\n"
    faults = table(source).outcome.faults
    assert 'File "bot0.py", line 2 in bid' in faults[0].evidence["log_head"]


def test_a_fault_that_puts_a_seat_out_has_ended_its_sandbox(sandbox: Sandbox) -> None:
    code = BotCode("bot.py", "py", b"raise SystemExit(3)")
    player = SandboxPlayer(sandbox.launch(code, Limits(), slot=0), Limits())
    with pytest.raises(PlayerFault) as caught:
        rules = RuleSet.parse({"preset": "fundex"}).as_dict()
        player.start({"seat": 0, "players": 2, "rules": rules, "limits": {}, "seed": 1})
    assert caught.value.kind == FaultKind.START and caught.value.out
    assert player.ending is not None and player.ending.status == 3
    player.stop()
