"""The referee: every conformance case, and scripts that are none."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.referee import main, settle

CASES = sorted((Path(__file__).parent.parent / "cases").glob("*.json"))
WORKED = json.loads((CASES[0].parent / "worked-example.json").read_text(encoding="utf-8"))["script"]


def exact(value: Any) -> Any:
    """A value that keeps `true` and `1` apart when compared."""
    if isinstance(value, dict):
        return {key: exact(part) for key, part in value.items()}
    return [exact(part) for part in value] if isinstance(value, list) else (type(value).__name__, value)


def test_there_are_cases():
    assert len(CASES) >= 165


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path):
    case = json.loads(path.read_text(encoding="utf-8"))
    status, result = settle(case["script"])
    assert status == case["exit"], result
    if "error" in case["expect"]:
        for told in (case["expect"]["error"], result["error"]):
            assert told.pop("reason")
    assert exact(json.loads(json.dumps(result))) == exact(case["expect"])


def test_the_makers_worked_example_ends_1_12_16():
    status, result = settle(WORKED)
    assert (status, result["taken"], result["points"]) == (0, [1, 2, 1], [1, 12, 16])


WRONG = [
    ("rules", None, "rules"),
    ("rules", "fundex", "rules"),
    ("rules", {}, "preset"),
    ("rules", {"preset": "fundex", "dealer": 1}, "dealer"),
    ("rules", {"preset": "fundex", "teams": None}, "teams"),
    ("rules", {"preset": "fundex", "teams": "3+3"}, "teams"),
    ("players", None, "players"),
    ("players", 3.0, "players"),
    ("players", "3", "players"),
    ("players", True, "players"),
    ("players", 0, "players"),
    ("players", 4, "hands"),
    ("players", 12, "players"),
    ("dealer", -1, "dealer"),
    ("dealer", 3, "dealer"),
    ("dealer", 1.0, "dealer"),
    ("dealer", False, "dealer"),
    ("dealer", None, "dealer"),
    ("hands", None, "hands"),
    ("hands", {}, "hands"),
    ("hands", [], "hands"),
    ("hands", [[], [], []], "hands"),
    ("hands", [["R1"], ["R2"], "R3"], "hands"),
    ("hands", [["R1"], ["R2"], [3]], "hands"),
    ("hands", [["R1"], ["R2"], [None]], "hands"),
    ("hands", [["R1"], ["R2"], [["R3"]]], "hands"),
    ("hands", [["R1"], ["R2"], ["WILD:R"]], "hands"),
    ("hands", [["R1"], ["R2"], ["R"]], "hands"),
    ("hands", [["R1"], ["R2"], ["r3"]], "hands"),
    ("hands", [["R1"], ["R2"], ["R1"]], "hands"),
    ("hands", [["R1"], ["R2"], []], "hands"),
    ("pile", None, "pile"),
    ("pile", "R1", "pile"),
    ("pile", ["B15"], "pile"),
    ("pile", ["Y3", "Y3"], "pile"),
    ("pile", [7], "pile"),
    ("moves", None, "moves"),
    ("moves", {}, "moves"),
    ("moves", "222", "moves"),
]


@pytest.mark.parametrize(("key", "value", "field"), WRONG)
def test_a_script_that_is_no_valid_round_is_refused_by_its_field(key, value, field):
    status, result = settle({**WORKED, key: value})
    assert status == 1
    assert result["error"]["field"] == field


@pytest.mark.parametrize("key", ["rules", "players", "dealer", "hands", "pile", "moves"])
def test_a_missing_key_is_named(key):
    status, result = settle({k: v for k, v in WORKED.items() if k != key})
    assert (status, result["error"]["field"]) == (1, key)


def test_a_name_is_not_needed():
    assert settle({k: v for k, v in WORKED.items() if k != "name"}) == settle(WORKED)


@pytest.mark.parametrize("script", [None, [], "x", 7, True])
def test_what_is_no_object_is_no_script(script):
    status, result = settle(script)
    assert (status, result["error"]["field"]) == (1, "script")


@pytest.mark.parametrize(
    ("moves", "at", "words"),
    [
        ([True], 0, "a bid is due"),
        ([2.0], 0, "a bid is due"),
        (["2"], 0, "a bid is due"),
        ([None], 0, "a bid is due"),
        ([2, -1], 1, "a bid is due"),
        ([2, 2, 1, "Y0"], 3, "of the hand"),
        ([2, 2, 1, 15], 3, "of the hand"),
        ([2, 2, 1, "B15", "Y0", "OUT"], 5, "must follow blue"),
        ([2, 2, 1, "B15", "WILD:Y7"], 4, "called"),
        ([2, 2, 1, "B15", "Y0", "B2", "G10", "CHANGE", "Y"], 8, "red, purple"),
        ([2, 2, 1, "B15", "Y0", "B2", "G10", "CHANGE", "R1"], 8, "a colour is due"),
        ([*WORKED["moves"], "R"], 16, "over"),
    ],
)
def test_an_illegal_move_is_named_by_its_number_and_told_why(moves, at, words):
    status, result = settle({**WORKED, "moves": moves})
    assert (status, result["error"]["move"]) == (1, at)
    assert words in result["error"]["reason"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(key=st.sampled_from(sorted(WORKED)), value=json_values, also=st.dictionaries(st.text(), json_values))
def test_no_json_at_all_makes_the_referee_stumble(key, value, also):
    for script in (value, also, {**WORKED, key: value}, {**WORKED, **also}):
        status, result = settle(script)
        assert status in (0, 1)
        json.dumps(result)


@given(moves=st.lists(json_values, max_size=3), kept=st.integers(0, 16))
def test_no_moves_make_the_referee_stumble(moves, kept):
    status, _ = settle({**WORKED, "moves": WORKED["moves"][:kept] + moves})
    assert status in (0, 1)


def test_a_script_is_read_from_a_file(tmp_path, capsys):
    path = tmp_path / "script.json"
    path.write_text(json.dumps(WORKED), encoding="utf-8")
    assert main([str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["points"] == [1, 12, 16]


def test_a_script_is_read_from_standard_input(monkeypatch, capsys):
    wrong = json.dumps({**WORKED, "\ud800": 1}).encode()
    for content, status in (
        (json.dumps(WORKED).encode(), 0),
        (wrong, 1),
        (b"{", 1),
        (b"\xff", 1),
        (b"[" * 99999, 1),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert main(["-"]) == status
        assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_a_file_that_cannot_be_read_is_told_on_standard_error(tmp_path, capsys, name):
    assert main([str(tmp_path / name)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "cannot read" in said.err
