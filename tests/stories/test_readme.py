"""What the README says works, word by word: its bot, its commands, its requests."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine.record import verify
from service.supervisor import Supervisor

pytestmark = [pytest.mark.story, pytest.mark.sandbox, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RAGE = Path(sys.executable).parent / "rage"


def block(language: str, holding: str) -> str:
    """The one code block in that language that holds this text."""
    found = re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    (text,) = [each for each in found if holding in each]
    return str(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mybot.py").write_text(block("python", "def bid"), encoding="utf-8")
    return tmp_path


def shell(script: str, folder: Path) -> str:
    """What a person's shell prints, with the commands of the environment on its path."""
    path = {"PATH": f"{RAGE.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", script],
        cwd=folder,
        env=os.environ | path,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_bot_in_ten_lines_has_at_most_ten() -> None:
    code = [line for line in block("python", "def bid").splitlines() if line.strip() and '"""' not in line]
    assert len(code) <= 10


def test_the_bot_passes_the_check_and_plays_at_home(folder: Path) -> None:
    told = shell(block("bash", "rage check"), folder)
    assert "ready" in told
    assert all(name in told for name in ("mybot", "counter", "cautious", "random"))


def test_the_demo_plays_to_final_standings_and_leaves_nothing(tmp_path: Path) -> None:
    place = {"TMPDIR": str(tmp_path), "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [RAGE, "demo"], env=place, cwd=tmp_path, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    standings, _, ratings = done.stdout.partition("Standings")[2].partition("Ratings so far")
    for name in ("montecarlo", "counter", "cautious", "random", "ten lines"):
        assert name in standings and name in ratings
    assert [path.name for path in tmp_path.glob("rage-demo-*")] == []


def test_the_requests_work_one_after_another(folder: Path, service: Supervisor) -> None:
    script = block("bash", "curl").replace("http://127.0.0.1:8000", service.address)
    told = shell(script, folder)
    assert '"status":"ready"' in told
    assert "event: progress" in told
    assert '"status":"finished"' in told
    assert told.count("counter") >= 2, "standings and rankings name the house bots"
    assert verify(json.loads((folder / "record.json").read_text())) is None
    assert shell("rage verify record.json", folder)
