"""A newcomer's way with the `rage` command: a bot, its check, a tournament, a look back, a change at home."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.supervisor import Supervisor

pytestmark = [pytest.mark.story, pytest.mark.sandbox, pytest.mark.timeout(300)]
RAGE = Path(sys.executable).parent / "rage"


class Newcomer:
    """Somebody at a shell of their own."""

    def __init__(self, home: Path, address: str) -> None:
        self.home = home
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RAGE_")},
            "XDG_CONFIG_HOME": str(home / "config"),
            "RAGE_URL": address,
        }

    def rage(self, *words: str, status: int = 0) -> str:
        """What a command says."""
        done = subprocess.run(
            [RAGE, *words],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def newcomer(service: Supervisor, tmp_path: Path) -> Newcomer:
    return Newcomer(tmp_path, service.address)


@pytest.mark.parametrize("kind", ["functions", "class", "search", "folder", "bash"])
def test_every_new_bot_passes_the_check(newcomer: Newcomer, kind: str) -> None:
    said = newcomer.rage("new", "fresh", "--kind", kind)
    check = next(line for line in said.splitlines() if line.startswith("Try it:")).split()[2:]
    assert newcomer.rage(*check[1:]).startswith("ready: ")


BOLD = "def bid(view):\n    return view['legal'][-1]\n\n\ndef play(view):\n    return view['legal'][0]\n"


def test_from_nothing_to_a_rating_and_back_to_the_own_machine(newcomer: Newcomer, tmp_path: Path) -> None:
    rage = newcomer.rage
    rage("new", "novice")
    assert rage("check", "novice.py").startswith("ready: ")
    assert "You are ada" in rage("login", newcomer.environment["RAGE_URL"], "--register", "ada lovelace")
    assert "ready" in rage("submit", "novice.py", "--wait")
    fields = ("--players", "4", "--deals", "2", "--watch")
    said = rage("tournament", "create", "First cup", "novice", "random", "cautious", "counter", *fields)
    assert "First cup: 8 of 8" in said
    assert "novice v1" in rage("rankings")
    cup = json.loads(rage("tournament", "list", "--json"))[0]["id"]
    assert "verified" in rage("tournament", "verify", cup)

    match = f"{cup}-0"
    same = rage("reproduce", match)
    assert "novice v1" in same and "as recorded to the end" in same
    (tmp_path / "bold.py").write_text(BOLD)
    seats = {
        each["name"]: str(each["seat"])
        for each in json.loads(rage("match", "show", match, "--json"))["seats"]
    }
    changed = rage("reproduce", match, "bold.py", "--seat", seats["novice"], "--keep", "record.json")
    assert "in decision 1 (round 1, bid) it chose 10" in changed
    assert "round 1: 10 cards each" in rage("replay", "record.json")
    assert "novice v1" in rage("replay", match)

    (tmp_path / "else").mkdir()
    stranger = Newcomer(tmp_path / "else", newcomer.environment["RAGE_URL"]).rage
    assert "no seat" in stranger("reproduce", match, status=2)
    assert "not yours to read" in stranger("reproduce", match, "--seat", seats["novice"], status=2)
    assert "seats 0 to 3" in stranger("reproduce", match, "--seat", "4", status=2)
    assert "as recorded to the end" in stranger("reproduce", match, "counter", "--seat", seats["counter"])
