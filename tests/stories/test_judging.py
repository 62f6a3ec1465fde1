"""A tournament planned, played by real workers and verified by a stranger; two bots compared."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.client import Client
from service.supervisor import Supervisor

pytestmark = [pytest.mark.story, pytest.mark.sandbox, pytest.mark.timeout(300)]
RAGE = Path(sys.executable).parent / "rage"


def rage(client: Client, *words: str, status: int = 0) -> str:
    """What the command prints, as somebody with this client's token."""
    place = {"RAGE_URL": client.url, "RAGE_TOKEN": client.token or ""}
    env = {**os.environ, **{name: value for name, value in place.items() if value}}
    done = subprocess.run([RAGE, *words], env=env, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def house(anyone: Client, *names: str) -> list[str]:
    return [next(bot["id"] for bot in anyone.bots(owner="house", name=name)) for name in names]


def test_a_tournament_is_as_it_was_planned_and_anybody_can_verify_it(
    service: Supervisor, author: Client, anyone: Client
) -> None:
    entrants = house(anyone, "random", "cautious", "counter")
    spec = {"name": "Planned", "entrants": entrants, "players": 3, "deals": 4, "rules": {"preset": "amigo"}}
    plan = author.plan_tournament(**spec)
    assert (plan["matches"], plan["groups"]) == (12, 4)
    assert plan["workers"] in (1, 2), "one may still be starting"
    assert datetime.fromisoformat(plan["finish_at"]) > datetime.now(UTC)
    assert "Planned" not in {each["name"] for each in anyone.tournaments()}
    made = author.create_tournament(**spec, seed=plan["seed"])
    over = author.wait_over(made["id"], seconds=120)
    assert over["progress"]["played"] == plan["matches"]
    said = rage(anyone, "tournament", "verify", made["id"], "--hash", made["secret_hash"])
    assert said == "verified 12 matches on 4 deals, and the standings\n"
    assert anyone.fairness(made["id"])["matches"] == 12
    assert author.plan_tournament(**spec)["cpu_basis"] == "bots"


def test_the_better_of_two_bots_is_found(author: Client, anyone: Client) -> None:
    before = len(list(anyone.tournaments()))
    said = rage(author, "compare", "counter", "random", "--elo1", "100", "--cap", "300")
    assert "counter v1 is better than random v1" in said
    told = next(each for each in anyone.comparisons() if each["owner"] == author.whoami()["name"])
    assert (told["status"], told["verdict"]) == ("finished", "accepted")
    assert 30 <= told["groups"] < 300
    assert told["points"]["low"] > 0
    states = [match["status"] for match in anyone.matches(told["id"])]
    assert states.count("done") >= 2 * told["groups"]
    assert set(states) == {"done", "void"}
    assert len(list(anyone.tournaments())) == before
