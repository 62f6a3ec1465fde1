"""Matches in sandboxes: the same seed gives the same game, whatever sits beside, and everything is ended."""

import pytest

from engine import bots
from engine.record import verify
from engine.rules import PRESETS, RuleSet
from engine.table import LocalPlayer, play
from service.limits import Limits
from workers.check import house_bot
from workers.match import Played, play_match
from workers.sandbox import BotCode, Sandbox

pytestmark = pytest.mark.sandbox
SHORT = RuleSet.parse({"preset": "fundex", "hand_sizes": [4, 3]})
SEED = b"seed of a match in this file...."


def played(sandbox: Sandbox, *names: str, rules: RuleSet = SHORT, **options) -> Played:
    table = [house_bot(name) for name in names]
    seeds = list(range(len(names)))
    return play_match(rules, table, seed=SEED, bot_seeds=seeds, limits=Limits(), sandbox=sandbox, **options)


def test_the_same_seeds_give_the_same_match(sandbox: Sandbox) -> None:
    first, second = (played(sandbox, "random", "cautious", "counter") for _ in range(2))
    assert first.outcome == second.outcome
    assert first.outcome.faults == ()


def test_a_sandboxed_match_is_the_match_the_engine_plays_by_itself(sandbox: Sandbox) -> None:
    names = ("cautious", "counter", "cautious")
    alone = play(SHORT, [LocalPlayer.of(bots.load(name)) for name in names], seed=SEED)
    assert played(sandbox, *names).outcome.scores == alone.scores


def test_the_record_verifies(sandbox: Sandbox) -> None:
    assert not verify(played(sandbox, "random", "counter").outcome.record.as_json())


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_house_bots_play_every_preset_without_a_fault(preset: str, sandbox: Sandbox) -> None:
    rules = RuleSet.parse({"preset": preset, "hand_sizes": [5, 4]})
    assert played(sandbox, "random", "cautious", "counter", rules=rules).outcome.faults == ()


def test_rounds_are_told_as_they_end(sandbox: Sandbox) -> None:
    told: list[tuple[int, int]] = []
    played(sandbox, "random", "random", on_round=lambda finished, rounds: told.append((finished, rounds)))
    assert told == [(1, 2), (2, 2)]


def test_what_each_seat_used_is_counted(sandbox: Sandbox) -> None:
    for usage in played(sandbox, "random", "counter").usage:
        assert 0 < usage.start_cpu_ms <= usage.cpu_ms
        assert usage.decisions == 2 + 4 + 3 or usage.decisions > 9  # bids and plays, and perhaps a trump
        assert usage.memory_kb > 100


def test_two_seats_of_one_bot_share_nothing(sandbox: Sandbox) -> None:
    code = BotCode(
        "writer.py",
        "py",
        b"import os\n"
        b"def bid(view):\n"
        b"    try:\n        seen = os.listdir('/tmp')\n        open('/tmp/mine', 'w').close()\n"
        b"    except OSError:\n        seen = []\n"
        b"    print('saw', [name for name in seen if view['round'] == 1])\n    return 0\n"
        b"def play(view):\n    return view['legal'][0]\n",
    )
    for _ in range(2):  # nor does one match with the next
        match = play_match(SHORT, [code] * 2, seed=SEED, bot_seeds=[1, 1], limits=Limits(), sandbox=sandbox)
        assert all(usage.log.startswith("saw []") for usage in match.usage)


def test_an_interrupted_match_leaves_nothing(sandbox: Sandbox, leftovers) -> None:
    def interrupt(finished: int, rounds: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        played(sandbox, "random", "random", on_round=interrupt)
    assert leftovers(sandbox) == {}


def test_ten_can_sit_at_a_table(sandbox: Sandbox) -> None:
    rules = RuleSet.parse({"preset": "challenge", "hand_sizes": [2]})
    assert len(played(sandbox, *["random"] * 10, rules=rules).outcome.scores) == 10
