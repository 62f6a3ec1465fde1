"""Secret bids are collected side by side: the same record as one by one, each seat with its own clock."""

import threading

import pytest

from engine.rules import RuleSet
from engine.table import Question
from service.limits import Limits
from workers import match as matches
from workers.match import play_match
from workers.player import SandboxPlayer
from workers.sandbox import BotCode, Sandbox

pytestmark = pytest.mark.sandbox
SECRET = RuleSet.parse({"preset": "fundex", "hand_sizes": [3, 2], "secret_bids": True})
SLOW = """
import time

def bid(view):
    time.sleep(0.4)
    print(view["bids"])
    return len(view["hand"]) // 2

def play(view):
    return view["legal"][0]
"""
SLEEPS = SLOW.replace("0.4", "30")
WRONG = SLOW.replace("time.sleep(0.4)", "pass").replace("return len", "return 99 + len")


def played(sandbox: Sandbox, *sources: str, limits: Limits | None = None):
    bots = [BotCode(f"bot{seat}.py", "py", source.encode()) for seat, source in enumerate(sources)]
    seeds = list(range(len(bots)))
    given = limits or Limits()
    return play_match(SECRET, bots, seed=bytes(32), bot_seeds=seeds, limits=given, sandbox=sandbox)


@pytest.fixture
def one_by_one(monkeypatch):
    """The way of a table that asks nobody at once."""

    def switch() -> None:
        monkeypatch.setattr(matches, "ask_all", lambda players: None)

    return switch


def test_all_bidders_think_at_the_same_time(sandbox: Sandbox, one_by_one, monkeypatch) -> None:
    all_asked, asked = threading.Barrier(4), SandboxPlayer.ask

    def asked_with_the_others(self: SandboxPlayer, question: Question) -> object:
        if question.kind == "bid":
            all_asked.wait(60)
        return asked(self, question)

    with monkeypatch.context() as patched:
        patched.setattr(SandboxPlayer, "ask", asked_with_the_others)
        together = played(sandbox, *[SLOW] * 4)
    one_by_one()
    alone = played(sandbox, *[SLOW] * 4)
    assert together.outcome == alone.outcome and together.outcome.faults == ()
    assert [usage.log for usage in together.usage] == [usage.log for usage in alone.usage]


def test_faults_are_those_of_sequential_play(sandbox: Sandbox, one_by_one) -> None:
    limits = Limits(decision_ms=600)
    told = []
    for _ in range(2):
        outcome = played(sandbox, SLOW, SLEEPS, WRONG, SLOW, limits=limits).outcome
        faults = [(fault.seat, str(fault.kind), fault.round, fault.decision) for fault in outcome.faults]
        told.append((outcome.record, outcome.scores, outcome.out, faults))
        one_by_one()
    assert told[0] == told[1]
    assert {seat for seat, *_ in told[0][3]} == {1, 2}


def test_bidders_that_all_compute_on_one_core_have_time_enough(sandbox: Sandbox) -> None:
    busy = SLOW.replace(
        "time.sleep(0.4)", "end = time.thread_time() + 0.3\n    while time.thread_time() < end: pass"
    )
    limits = Limits(decision_ms=500, decision_cpu_ms=500)
    assert played(sandbox, *[busy] * 6, limits=limits).outcome.faults == ()
