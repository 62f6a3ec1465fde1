"""The trial match: good bots are ready, others learn from the report what to mend and where."""

import io
import json
import zipfile

import pytest

from service.limits import Limits
from workers.check import Verdict, check, house_bot
from workers.sandbox import BotCode, Sandbox, SandboxError

pytestmark = pytest.mark.sandbox
PLAY = "\ndef play(view):\n    return view['legal'][0]\n"


def verdict(sandbox: Sandbox, source: str, **limits: int) -> Verdict:
    bot = BotCode("mine.py", "py", source.encode())
    return check(bot, sandbox=sandbox, limits=Limits(**limits), seed=bytes(32))


@pytest.mark.parametrize("name", ["random", "cautious", "counter"])
def test_a_house_bot_is_ready(name: str, sandbox: Sandbox) -> None:
    done = check(house_bot(name), sandbox=sandbox, limits=Limits(), seed=bytes(32))
    assert done.ready and done.report["error"] is None and done.report["stage"] == "match"
    assert done.report["timings"]["decision"]["cpu_ms_max"] > 0
    assert len(done.report["scores"]) == 4
    json.dumps(done.report)


def test_a_class_is_as_good_as_functions(sandbox: Sandbox) -> None:
    source = """
class Bot:
    def __init__(self):
        self.seen = 0

    def bid(self, view):
        self.seen += 1
        return 0

    def play(self, view):
        return view["legal"][-1]

    def end(self, result):
        print("played", self.seen, "rounds for", result["scores"])
"""
    done = verdict(sandbox, source)
    assert done.ready, done.report
    assert done.report["stderr"].startswith("played 10 rounds for [")


REJECTED = {
    "a syntax error": (
        "def bid(view):\n    return (0\n" + PLAY,
        {"stage": "start", "kind": "start", "type": "SyntaxError", "line": 2, "in": "^"},
    ),
    "wrong indentation": (
        "def bid(view):\n  x = 1\n    return 0\n" + PLAY,
        {"stage": "start", "kind": "start", "type": "IndentationError", "line": 3},
    ),
    "a missing package": (
        "import torch\ndef bid(view):\n    return 0\n" + PLAY,
        {"stage": "start", "kind": "start", "type": "ModuleNotFoundError", "line": 1, "message": "torch"},
    ),
    "a missing function": (
        "def play(view):\n    return view['legal'][0]\n",
        {"stage": "start", "kind": "start", "message": "bid(view)"},
    ),
    "an exception at once": (
        "def helper(view):\n    return view['cards']\n\ndef bid(view):\n    return helper(view)\n" + PLAY,
        {"stage": "first decision", "kind": "crash", "type": "KeyError", "line": 2, "in": "line 5, in bid"},
    ),
    "an exception later": (
        "def bid(view):\n    return 1 // (3 - view['round'])\n" + PLAY,
        {"stage": "match", "kind": "crash", "type": "ZeroDivisionError", "line": 2},
    ),
    "an exception while playing": (
        "def bid(view):\n    return 0\ndef play(view):\n    raise ValueError('no idea')\n",
        {
            "stage": "match",
            "kind": "crash",
            "type": "ValueError",
            "line": 4,
            "message": "ValueError: no idea",
        },
    ),
    "an exception in start": (
        "def start(info):\n    info['nothing']\ndef bid(view):\n    return 0\n" + PLAY,
        {"stage": "start", "kind": "start", "type": "KeyError", "line": 2},
    ),
    "an endless loop": (
        "def bid(view):\n    while True: pass\n" + PLAY,
        {"stage": "first decision", "kind": "timeout", "line": 2, "message": "no answer within 500 ms"},
    ),
    "an illegal answer": (
        "def bid(view):\n    return 77\n" + PLAY,
        {"stage": "first decision", "kind": "illegal", "message": "77 is not legal for bid; legal: 0, 1, 2"},
    ),
    "no answer at all": (
        "def bid(view):\n    pass\n" + PLAY,
        {"stage": "first decision", "kind": "illegal", "message": "null is not legal for bid"},
    ),
    "an answer of a foreign type": (
        "def bid(view):\n    return {1, 2}\n" + PLAY,
        {"stage": "first decision", "kind": "illegal", "message": '"{1, 2}" is not legal'},
    ),
    "a forbidden call": (
        "import socket\ndef bid(view):\n    socket.socket()\n    return 0\n" + PLAY,
        {"stage": "first decision", "kind": "escape", "line": 3, "message": "not allowed"},
    ),
    "too much memory": (
        "def bid(view):\n    return len(bytearray(10 ** 10))\n" + PLAY,
        {"stage": "first decision", "kind": "memory", "line": 2, "message": "memory"},
    ),
}


@pytest.mark.parametrize("case", REJECTED.values(), ids=REJECTED.keys())
def test_a_rejected_bot_learns_what_where_and_why(
    case: tuple[str, dict[str, object]], sandbox: Sandbox
) -> None:
    source, expected = case
    done = verdict(sandbox, source, decision_ms=500)
    error = done.report["error"]
    assert not done.ready and done.report["ready"] is False
    assert done.report["stage"] == expected["stage"]
    assert error["kind"] == expected["kind"]
    assert error["type"] == expected.get("type", error["type"])
    assert error["line"] == expected.get("line", error["line"])
    assert str(expected.get("message", "")) in error["message"]
    assert str(expected.get("in", "")) in (error["traceback"] or "")
    assert "/usr/lib/rage" not in (error["traceback"] or "")


def test_the_decision_that_failed_is_shown_with_its_view(sandbox: Sandbox) -> None:
    decision = verdict(sandbox, "def bid(view):\n    return view['x']\n" + PLAY).report["decision"]
    assert (decision["asked"], decision["number"], decision["round"]) == ("bid", 1, 1)
    assert decision["legal"] == list(range(11)) and len(decision["view"]["hand"]) == 10


def test_the_file_name_of_the_author_is_kept_in_tracebacks(sandbox: Sandbox) -> None:
    trace = verdict(sandbox, "def bid(view):\n    return view['x']\n" + PLAY).report["error"]["traceback"]
    assert trace.startswith(
        'Traceback (most recent call last):\n  File "mine.py", line 2, in bid\n    return view'
    )


def test_a_line_in_an_archives_file_is_found(sandbox: Sandbox) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("bot.toml", 'run = ["python", "main.py"]')
        archive.writestr("main.py", "import inner.part\n")
        archive.writestr("inner/part.py", "\n\n1 / 0\n")
    bot = BotCode("mine.zip", "zip", data.getvalue())
    error = check(bot, sandbox=sandbox, limits=Limits(), seed=bytes(32)).report["error"]
    assert (error["kind"], error["type"], error["line"]) == ("start", "ZeroDivisionError", 3)
    assert 'File "/bot/inner/part.py", line 3' in error["traceback"]


def test_a_stored_archive_that_no_longer_keeps_the_rules_is_our_fault(sandbox: Sandbox, leftovers) -> None:
    with pytest.raises(SandboxError, match="laid out"):
        check(BotCode("mine.zip", "zip", b"PK"), sandbox=sandbox, limits=Limits(), seed=bytes(32))
    assert leftovers(sandbox) == {}


def test_a_failing_house_bot_is_our_fault(sandbox: Sandbox, monkeypatch) -> None:
    monkeypatch.setattr("workers.check.house_bot", lambda name: BotCode(name, "py", b"broken("))
    with pytest.raises(SandboxError, match="house bot"):
        verdict(sandbox, "def bid(view):\n    return 0\n" + PLAY)
