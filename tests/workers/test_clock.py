"""The wall clock of a question: what it stands still for, and what becomes of a match where it cannot."""

import time

import pytest
from structlog.testing import capture_logs

from engine.rules import RuleSet
from engine.table import PlayerFault
from service.limits import Limits
from workers.clock import WallClock
from workers.match import play_match
from workers.player import SandboxPlayer
from workers.pressure import Mark
from workers.sandbox import BotCode, MachineBusy, Running, Sandbox

SHORTEST = RuleSet.parse({"preset": "fundex", "hand_sizes": [1]}).as_dict()
MS = 1_000_000


def marked(ms: int, *, stood: int | None = 0, ran: int = 0, others: int = 0) -> Mark:
    """The clocks `ms` after a question that was asked a second ago."""
    threads = {} if stood is None else {"main": (ran * MS, stood * MS)}
    return Mark(time.monotonic_ns() + (ms - 1_000) * MS, ran * MS, threads, others * MS)


def asked() -> WallClock:
    """A question of half a second, asked a second ago, first looked at in time."""
    made = WallClock(time.monotonic_ns() - 1_000 * MS, 500)
    made.over(marked(20))
    return made


@pytest.mark.parametrize(
    ("after", "over"),
    [
        ({}, True),
        ({"stood": 400}, True),
        ({"stood": 30_000}, False),
        ({"stood": 30_000, "ran": 600}, False),
        ({"others": 30_000}, False),
        ({"stood": 30_000, "others": 30_000}, False),
        ({"stood": 300, "others": 300}, True),
    ],
)
def test_it_stands_still_for_others_and_for_strangers_without_end(after: dict[str, int], over: bool) -> None:
    clock = asked()
    now = marked(1_000, **after)
    assert (clock.over(now), clock.excused(now)) == (over, False)
    assert (clock.look <= time.monotonic()) == over


def test_what_it_stood_still_for_is_kept_when_the_thread_that_waited_has_ended() -> None:
    clock = asked()
    assert not clock.over(marked(1_000, stood=30_000))
    assert not clock.over(marked(1_000))


@pytest.mark.sandbox
def test_a_match_spoilt_by_the_host_is_replayed_twice_and_only_where_waiting_is_not_counted(
    sandbox: Sandbox, monkeypatch
) -> None:
    asked = []

    def always(since: Mark, now: Mark) -> bool:
        asked.append(now)
        return True

    monkeypatch.setattr("workers.clock.host_was_late", always)
    sleepy = (
        "import time\ndef bid(view):\n    time.sleep(0.8)\n    return 0\ndef play(v): return v['legal'][0]\n"
    )
    bots = [
        BotCode("b.py", "py", sleepy.replace("0.8", "0").encode()),
        BotCode("sleepy.py", "py", sleepy.encode()),
    ]
    options = {"seed": bytes(32), "bot_seeds": [0, 0], "limits": Limits(decision_ms=500), "sandbox": sandbox}
    rules = RuleSet.parse({"preset": "fundex", "hand_sizes": [1]})
    played = play_match(rules, bots, **options)
    assert (len(asked), played.replays) == (0, 0)
    assert [(fault.seat, str(fault.kind)) for fault in played.outcome.faults] == [(1, "timeout")]

    monkeypatch.setattr(Running, "threads_ns", lambda self: {})
    with capture_logs() as logs, pytest.raises(MachineBusy, match="seat 1: the machine was too busy"):
        play_match(rules, bots, **options)
    assert [(each["event"], each["replays"]) for each in logs] == [("match_void", n) for n in range(3)]
    assert len(asked) == 3 and all("seat 1" in each["reason"] for each in logs)


@pytest.mark.sandbox
def test_an_answer_that_comes_too_late_does_not_wind_the_next_questions_clock_up(table, monkeypatch) -> None:
    made: list[int] = []

    class Counted(WallClock):
        def __init__(self, asked_at: int, wall_ms: int) -> None:
            made.append(wall_ms)
            super().__init__(asked_at, wall_ms)

    monkeypatch.setattr("workers.player.WallClock", Counted)
    played = table(
        "import time\ndef bid(v):\n    time.sleep(0.3)\n    return 0\ndef play(v): time.sleep(2)",
        limits=Limits(decision_ms=200),
    )
    assert [str(fault.kind) for fault in played.outcome.faults] == ["timeout"] * 3
    assert made.count(200) == sum(each.decisions for each in played.usage)


@pytest.mark.sandbox
def test_a_start_is_timed_from_when_there_is_a_bot_that_can_be_counted(sandbox: Sandbox, monkeypatch) -> None:
    """Else one that sleeps could be taken for one whom a busy machine let not begin."""
    monkeypatch.setattr("workers.clock.host_was_late", lambda since, now: True)
    limits = Limits(start_ms=1_000)
    player = SandboxPlayer(
        sandbox.launch(BotCode("b.py", "py", b"import time\ntime.sleep(60)"), limits, slot=0), limits
    )
    counted, asked = player._running.threads_ns, []
    monkeypatch.setattr(
        type(player._running),
        "threads_ns",
        lambda self: asked.append(0) or (counted() if asked[2:] else {}),
    )
    with pytest.raises(PlayerFault, match="not ready"):
        player.start({"seat": 0, "players": 2, "rules": SHORTEST, "limits": {}, "seed": 1})
    player.stop()
