"""Golden records: whole matches under every rule set, as they were once played and must stay.

A record in tests/golden/ is written once; a change of the rules that alters one needs a new engine VERSION.
`python tests/engine/test_golden.py` writes those that are missing.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.bots import NAMES, load
from engine.record import Record, verify
from engine.rules import PRESETS, RuleSet
from engine.table import LocalPlayer, play

FOLDER = Path(__file__).parent.parent / "golden"
MATCHES: dict[str, tuple[dict[str, Any], int]] = {
    "fundex": ({"preset": "fundex"}, 4),
    "wikipedia": ({"preset": "wikipedia"}, 6),
    "challenge": ({"preset": "challenge"}, 5),
    "korean": ({"preset": "korean"}, 3),
    "amigo": ({"preset": "amigo"}, 4),
    "fundex-secret-pairs": ({"preset": "fundex", "secret_bids": True, "teams": "2+2", "change": "name"}, 4),
    "challenge-free-actions": ({"preset": "challenge", "action_any_time": True, "change": "search"}, 3),
    "challenge-many-wilds": ({"preset": "challenge", "deck": {"wild": 8}, "hand_sizes": [12, 5, 2]}, 11),
    "amigo-search-threes": (
        {"preset": "amigo", "change": "search", "teams": "3+3", "hand_sizes": [8, 8], "sweep_double": True},
        6,
    ),
    "korean-up-and-down": (
        {"preset": "korean", "hand_sizes": [1, 3, 5, 3, 1], "deck": {"wild": 4}, "scoring": "strict"},
        8,
    ),
}


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.json"


@pytest.mark.parametrize("name", MATCHES)
def test_a_golden_record_still_holds(name):
    document = json.loads(path_of(name).read_text(encoding="utf-8"))
    spec, players = MATCHES[name]
    assert (RuleSet.parse(document["rules"]), document["players"]) == (RuleSet.parse(spec), players)
    assert verify(document) is None
    assert Record.from_json(document).as_json() == document


def test_every_golden_record_is_looked_at_and_every_preset_has_one():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(MATCHES)
    assert {spec["preset"] for spec, _ in MATCHES.values()} == set(PRESETS)


def write_missing() -> None:
    for number, (name, (spec, players)) in enumerate(MATCHES.items()):
        if not path_of(name).exists():
            bots = [LocalPlayer.of(load(NAMES[seat % len(NAMES)])) for seat in range(players)]
            seed = bytes([number]) * 32
            outcome = play(RuleSet.parse(spec), bots, seed=seed, bot_seeds=range(players))
            text = json.dumps(outcome.record.as_json(), separators=(",", ":"))
            path_of(name).write_text(text.replace('{"round":', '\n{"round":') + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_missing()
