"""One tournament during which everything is killed once, and the broker loses all it knew."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from api.client import Client, ProblemError, Unreachable
from engine.record import verify
from service.settings import Settings
from service.supervisor import Supervisor
from tests.databases import OwnDatabase

pytestmark = [pytest.mark.story, pytest.mark.sandbox, pytest.mark.timeout(300)]


@pytest.fixture
def victim(tmp_path: Path, own_database: OwnDatabase) -> Iterator[Supervisor]:
    """A service of its own, for it will suffer."""
    environment = {
        "RAGE_DATA_DIR": str(tmp_path),
        "RAGE_PORT": "0",
        "RAGE_WORKERS": "2",
        "RAGE_LEASE_SECONDS": "5",
        "RAGE_REAP_SECONDS": "1",
    }
    with own_database() as told, Supervisor(Settings.from_environment(environment | told)) as running:
        yield running


def state(client: Client, tournament_id: str) -> tuple[str, int]:
    """Status and matches played, as soon as the API (which may just be starting again) tells them."""
    limit = time.monotonic() + 30
    while True:
        try:
            told = client.tournament(tournament_id)
            return told["status"], told["progress"]["played"]
        except (Unreachable, ProblemError):
            assert time.monotonic() < limit, "the API does not come back"
            time.sleep(0.2)


def until_it_goes_on(client: Client, tournament_id: str) -> None:
    """Waits for two more matches, or the end of the tournament."""
    (_, before), limit = state(client, tournament_id), time.monotonic() + 60
    while True:
        status, now = state(client, tournament_id)
        if now >= before + 2 or status == "finished":
            return
        assert time.monotonic() < limit, "nothing is played any more"
        time.sleep(0.1)


def test_every_match_is_played_once_though_everything_is_killed_in_turn(victim: Supervisor) -> None:
    client = Client(victim.address)
    client.register("organiser")
    bots = [bot["id"] for bot in client.bots(owner="house") if bot["name"] != "montecarlo"]
    made = client.create_tournament(name="Storm", entrants=bots, players=3, deals=60)
    until_it_goes_on(client, made["id"])
    redis.Redis.from_url(victim.settings.client_url).flushall()
    until_it_goes_on(client, made["id"])
    for name in ("players", "desk", "beat", "valkey", "api"):
        os.kill(victim.pids[name], signal.SIGKILL)
        until_it_goes_on(client, made["id"])
    over = client.wait_over(made["id"], seconds=200)
    assert over["status"] == "finished"
    assert (over["progress"]["played"], over["progress"]["failed"]) == (180, 0)
    matches = list(client.matches(made["id"]))
    assert [match["number"] for match in matches] == list(range(180))
    assert {match["status"] for match in matches} == {"done"}
    assert {row["matches"] for row in client.standings(made["id"])} == {180}
    assert [verify(client.record(match["id"])) for match in matches[::20]] == [None] * 9
