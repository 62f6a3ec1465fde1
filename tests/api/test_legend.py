"""What a ranking's blank places are said to mean is true for its model and its lines."""

from typing import Any

import pytest

from api import legend, results
from service.rating_models import MODELS

LINE = {"place": 1, "low": 1490.0, "provisional": False, "retired": False, "active": True}


def ranking(name: str, *lines: dict[str, Any]) -> dict[str, Any]:
    model = MODELS[name]
    items = [LINE | line for line in lines]
    return {"model": name, "unit": model.unit, "parameters": model.parameters, "items": items}


@pytest.mark.parametrize(
    ("model", "end"),
    [
        ("elo", " and its pool is sure to within 60 Elo."),
        ("points", " and its pool is sure to within 4.5 points a match."),
        ("elo_classic", "."),
    ],
)
def test_a_bot_is_provisional_by_the_model_in_use(model: str, end: str) -> None:
    (said, *_) = legend.of_ranking(ranking(model, {"provisional": True, "place": None}))
    assert said == f"A bot is provisional, and has no place, until it has played 10 deals{end}"


def test_only_what_is_there_is_explained() -> None:
    assert not list(legend.of_ranking(ranking("elo")))
    (said,) = legend.of_ranking(ranking("elo", {}))
    assert said.startswith("may be: ")
    (said,) = legend.of_ranking(ranking("elo", {"place": None, "active": False}))
    assert "replaced by a newer one" in said
    (said,) = legend.of_ranking(ranking("elo_classic", {"low": None}))
    assert said == "elo_classic tells ratings alone, not how sure they are."


def test_nothing_has_no_sign() -> None:
    assert [results.tenth(value, "+") for value in (-0.04, 0.0, 0.06, -0.06, None)] == [
        "0.0", "0.0", "+0.1", "-0.1", "",
    ]  # fmt: skip
