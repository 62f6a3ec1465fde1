"""Comparisons over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest

from service import comparisons
from service.work import Arena
from tests.databases import ON_EACH

pytestmark = ON_EACH

SMALL = {"preset": "fundex", "hand_sizes": [2, 1]}


def test_two_bots_are_compared_until_the_test_can_tell(
    ada: Any, ready_bots: list[str], play_all: Callable[..., None], arena: Arena
) -> None:
    told = {"a": ready_bots[1], "b": f"{ready_bots[2]}:1", "rules": SMALL, "cap": 40, "elo0": -5, "elo1": 5.5}
    answer = ada.post("/comparisons", told)
    assert answer.status_code == 201
    made = answer.get_json()
    assert ada.http.get(answer.headers["Location"]).get_json() == made
    assert (made["status"], made["verdict"], made["groups"], made["elo"]["value"]) == (
        "running",
        None,
        0,
        None,
    )
    assert (made["a"]["version"], made["b"]["name"], made["field"]) == (1, "bot 2", [])
    assert made["upper"] == -made["lower"] == pytest.approx(2.944, abs=0.001)
    play_all(50)
    half = ada.get(f"/comparisons/{made['id']}").get_json()
    assert (half["played"], half["verdict"]) == (25, None)
    play_all()
    over = ada.get(f"/comparisons/{made['id']}").get_json()
    assert (over["status"], over["verdict"], over["groups"]) == ("finished", "undecided", 40)
    assert comparisons.decide(arena) == 0
    shown = ada.get(f"/tournaments/{made['id']}/matches").get_json()["items"]
    assert [each["group"] for each in shown[:4]] == [0, 0, 1, 1]
    assert ada.get("/tournaments").get_json()["items"] == []
    assert [each["id"] for each in ada.get("/comparisons").get_json()["items"]] == [made["id"]]


def test_strangers_and_others_cannot_compare_or_stop(ada: Any, bob: Any, ready_bots: list[str]) -> None:
    told = {"a": ready_bots[0], "b": ready_bots[1]}
    assert ada.http.post("/api/v1/comparisons", json=told).status_code == 401
    made = ada.post("/comparisons", told).get_json()
    assert bob.post(f"/comparisons/{made['id']}/cancel").status_code == 403
    assert ada.post(f"/comparisons/{made['id']}/cancel").get_json()["reason"] == "cancelled by ada"
    assert ada.get("/comparisons/c_nothing").status_code == 404


def test_wrong_fields_are_all_named(ada: Any, ready_bots: list[str]) -> None:
    def errors(**told: Any) -> set[str]:
        answer = ada.post("/comparisons", told)
        assert answer.status_code == 422
        return set(answer.get_json()["errors"])

    assert errors() == {"a", "b"}
    assert errors(a=1, b=ready_bots[0], elo0="2", alpha=True, cap=2.5, nonsense=1, field="x") == {
        "a", "elo0", "alpha", "cap", "nonsense", "field",
    }  # fmt: skip
    assert errors(a=ready_bots[0], b=ready_bots[1], elo0=10**400, elo1=1) == {"elo0"}
    assert errors(a=ready_bots[0], b=ready_bots[0], players=3) == {"b", "field"}
