"""The load tests' own short forms, as they are run by hand."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False, timeout=110
    )


@pytest.mark.slow
@pytest.mark.story
def test_everybody_gets_through_a_short_load(tmp_path: Path) -> None:
    done = run("loadtests.load", "short", "--json", str(tmp_path / "figures.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "figures.json").read_text().count('"requests"') > 10
    for journey in (
        "POST   /api/v1/bots",
        "WAIT   tournament of four matches",
        "GET    /matches/ID/story.json",
        "SSE",
    ):
        assert journey in done.stdout, done.stdout


@pytest.mark.slow
@pytest.mark.story
def test_all_ways_to_play_the_same_matches_come_to_the_same() -> None:
    done = run("loadtests.bench_service", "--rounds", "1", "--deals", "2")
    assert "where the CPU of a match goes" in done.stdout, done.stderr
    assert done.returncode in (0, 1), "a machine that tests is no place for bars"
    assert "Traceback" not in done.stderr, done.stderr
