"""The house bots: examples that play, each in its own way."""

import ast
from random import Random
from statistics import mean

import pytest

from engine.bots import NAMES, load, source
from engine.rules import PRESETS
from engine.table import LocalPlayer, play


@pytest.mark.parametrize("name", NAMES)
def test_a_house_bot_is_a_file_as_an_author_uploads_it(name):
    tree = ast.parse(source(name))
    assert {"bid", "play"} <= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {getattr(node, "module", None) or alias.name for node in imported for alias in node.names}
    assert {module.partition(".")[0] for module in modules} <= {"random", "time", "engine"}
    assert ast.get_docstring(tree)


@pytest.mark.parametrize("name", ["", "nobody", "../table", "__init__"])
def test_an_unknown_bot_is_none(name):
    with pytest.raises(KeyError):
        source(name)


def test_each_load_is_a_bot_of_its_own():
    one, two = load("random"), load("random")
    assert one.dice is not two.dice


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_they_bid_and_score_differently(preset):
    bids: dict[str, list[int]] = {name: [] for name in NAMES}
    scores: dict[str, list[int]] = {name: [] for name in NAMES}
    for game in range(6):
        names = [NAMES[(seat + game) % 3] for seat in range(3)]
        bots = [LocalPlayer.of(load(name)) for name in names]
        outcome = play(PRESETS[preset], bots, seed=Random(game).randbytes(32), bot_seeds=[game] * 3)
        for played in outcome.record.replay().finished:
            for name, bid in zip(names, played.bids, strict=True):
                bids[name].append(bid)
        for name, score in zip(names, outcome.scores, strict=True):
            scores[name].append(score)
    assert mean(bids["cautious"]) < mean(bids["counter"]) < mean(bids["random"])
    assert mean(scores["random"]) < min(mean(scores["cautious"]), mean(scores["counter"]))
