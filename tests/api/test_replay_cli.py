"""`rage replay` and `rage new`: on a terminal, and where there is none."""

import json
import os
import pty
import select
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from api.cli import main
from api.commands.new import KINDS
from api.commands.replay import _frames as frames
from api.commands.replay import moved
from engine.match import Match
from engine.record import Record
from engine.rules import RuleSet

SWITCHED = {"preset": "challenge", "change": "search"}


def document(spec: dict[str, Any], players: int = 4) -> dict[str, Any]:
    match, dice = Match(RuleSet.parse(spec, players), players, bytes(32)), Random(1)
    while not match.over:
        match.advance(dice.choice(match.legal()))
    return Record.of(match).as_json()


@pytest.fixture(params=[{"preset": "fundex"}, SWITCHED], ids=["fundex", "challenge"])
def record(request: pytest.FixtureRequest) -> dict[str, Any]:
    return document(request.param)


def told(record: Any, *words: str, status: int = 0) -> str:
    result = CliRunner().invoke(main, ["replay", "-", *words], input=json.dumps(record))
    assert result.exit_code == status, result.output
    return result.output


def test_the_story_is_told_to_the_records_scores(record: dict[str, Any]) -> None:
    lines = told(record).splitlines()
    rounds = len(record["rounds"])
    assert sum(line.startswith("round ") for line in lines) == rounds
    assert sum("takes the trick" in line for line in lines) == sum(
        len(each["tricks"]) for each in record["rounds"]
    )
    assert lines[-2].endswith("in all " + " ".join(map(str, record["scores"])))
    assert lines[-1].startswith("places: 1. ")
    assert told(record, "--round", str(rounds)).count("round ") == 1


def test_places_are_those_of_what_was_played(record: dict[str, Any]) -> None:
    last = told(record).splitlines()[-1]
    assert told({**record, "places": [9], "scores": None}).splitlines()[-1] == last


def test_what_is_no_record_is_wrong_usage(record: dict[str, Any]) -> None:
    deep = CliRunner().invoke(main, ["replay", "-"], input="[" * 99_999)
    assert deep.exit_code == 2 and "not a record" in deep.output
    del record["seed"]
    assert "seed: is missing" in told(record, status=2)
    many = json.dumps(record) + "\n" + json.dumps(record)
    result = CliRunner().invoke(main, ["replay", "-"], input=many)
    assert result.exit_code == 2 and "one a line" in result.output
    for command in ("replay", "verify"):
        for given in ("nowhere", "T_K4M2XW9TQ7BN-17", "no-such.json"):
            assert "neither a file" in CliRunner().invoke(main, [command, given]).output
        assert "rage tournament verify" in CliRunner().invoke(main, [command, "t_k4m2xw9tq7bn"]).output


def test_a_round_that_is_not_there_is_wrong_usage(record: dict[str, Any]) -> None:
    assert f"the match has {len(record['rounds'])} rounds" in told(record, "--round", "99", status=2)


def test_names_of_a_server_are_shown_as_plain_text(record: dict[str, Any]) -> None:
    record["about"] = {"seats": [{"seat": 1, "name": "\x1b[31mevil\x07", "version": 2}, None, {"seat": 77}]}
    said = told(record)
    assert "seat 1 [31mevil v2" in said and "\x07" not in said


def test_keys_lead_where_they_say(record: dict[str, Any]) -> None:
    shown = frames(record)
    last = len(shown) - 1
    assert moved(shown, 0, "back") == 0 and moved(shown, last, "next") == last
    assert moved(shown, moved(shown, 5, "next"), "back") == 5
    assert shown[moved(shown, 0, "trick")].step["did"] == "take"
    second = moved(shown, 0, "round")
    assert (shown[second].round, shown[second].step["did"]) == (2, "deal")
    assert moved(shown, second + 3, "before") == second and moved(shown, second, "before") == 0
    ways = [0]
    while ways[-1] != last:
        ways.append(moved(shown, ways[-1], "trick"))
    assert ways == sorted(set(ways))
    assert shown[last].state["scores"] == record["scores"]


def test_on_a_terminal_it_goes_step_by_step(record: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    file.write_text(json.dumps(record))
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "api.cli", "replay", str(file)])
    try:
        assert "the cards are dealt" in until(terminal, "q quit")
        os.write(terminal, b"n")
        assert "seat 0 bids" in until(terminal, "q quit")
        os.write(terminal, b"r")
        assert "round 2" in until(terminal, "q quit")
        os.write(terminal, b"q")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        os.close(terminal)


def until(terminal: int, words: str) -> str:
    """What the terminal shows until some words are there."""
    shown, patience = "", time.monotonic() + 30
    while words not in shown:
        assert select.select([terminal], [], [], max(0, patience - time.monotonic()))[0], shown
        shown += os.read(terminal, 65536).decode(errors="replace")
    return shown


def test_a_new_bot_is_written_once_and_over_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in KINDS:
        said = CliRunner().invoke(main, ["new", f"my-{kind}", "--kind", kind])
        assert said.exit_code == 0 and f"rage check my-{kind}" in said.output
        again = CliRunner().invoke(main, ["new", f"my-{kind}", "--kind", kind])
        assert again.exit_code == 2 and "exists" in again.output
    assert "{file}" not in "".join(each.read_text() for each in tmp_path.rglob("*.*"))
    assert CliRunner().invoke(main, ["new", "../;rm"]).exit_code == 2
