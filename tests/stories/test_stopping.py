"""Workers that are told to stop, or are killed by what they play, in a service of its own."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from api.client import Client
from service import accounts, bots, doctor, incidents, tables, tournaments
from service.jobs import InlineQueue
from service.programs import serves
from service.settings import Settings
from service.supervisor import Supervisor
from service.work import Arena
from tests.databases import OwnDatabase

pytestmark = [pytest.mark.story, pytest.mark.sandbox, pytest.mark.timeout(240)]
SLOW = """
import time

def bid(view):
    time.sleep({seconds})
    return 0

def play(view):
    time.sleep({seconds})
    return view["legal"][0]
"""
STOP_SECONDS = 2


class Stage:
    """A service, what its supervisor said, and its database."""

    def __init__(self, supervisor: Supervisor, arena: Arena, said: list[str]) -> None:
        self.supervisor, self.arena, self.said = supervisor, arena, said
        self.owner, _ = accounts.register(arena, name="organiser")
        self.client = Client(supervisor.address)

    def cup(self, seconds: float, *, cards: int, deals: int) -> str:
        """A running tournament of two bots that think for so long about each card."""
        ids = []
        for _ in range(2):
            name, code = f"bot {time.monotonic_ns()}", SLOW.format(seconds=seconds).encode()
            ids.append(bots.submit(self.arena, self.owner, name=name, filename="b.py", content=code).id)
        with self.arena.work() as work:
            work.db.execute(update(tables.version).values(status="ready"))
        rules = {"preset": "fundex", "hand_sizes": [cards]}
        told = {"name": "Cup", "entrants": ids, "players": 2, "deals": deals, "rules": rules}
        return tournaments.create(self.arena, self.owner, told).id

    def rows(self, tournament_id: str) -> list[Any]:
        with self.arena.read() as db:
            query = select(tables.match).where(tables.match.c.tournament_id == tournament_id)
            return list(db.execute(query.order_by(tables.match.c.number)))

    def count(self, kind: str) -> int:
        with self.arena.read() as db:
            return incidents.counts(db)[kind]

    def until(self, true: Callable[[], Any], why: str, seconds: float = 60.0) -> Any:
        limit = time.monotonic() + seconds
        while not (found := true()):
            assert time.monotonic() < limit, why
            time.sleep(0.02)
        return found

    def over(self, tournament_id: str) -> Any:
        def ended() -> Any:
            told = tournaments.tournament(self.arena, tournament_id)
            return told if told.status == "finished" else None

        return self.until(ended, "it does not come to an end", 120.0)


def pid_of(row: Any) -> int:
    """Which process plays a match: the end of its worker's name."""
    return int(row.lease_worker.rsplit("-", 1)[1])


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, own_database: OwnDatabase) -> Iterator[Stage]:
    environment = {
        "RAGE_DATA_DIR": str(tmp_path_factory.mktemp("stopping")),
        "RAGE_PORT": "0",
        "RAGE_WORKERS": "2",
        "RAGE_LEASE_SECONDS": "6",
        "RAGE_REAP_SECONDS": "1",
        "RAGE_STOP_SECONDS": str(STOP_SECONDS),
    }
    said: list[str] = []
    with own_database() as told:
        settings = Settings.from_environment(environment | told)
        with Supervisor(settings, house=False, tell=said.append) as supervisor:
            arena = Arena.open(supervisor.settings, InlineQueue())
            yield Stage(supervisor, arena, said)
            arena.close()


def test_a_worker_that_stops_hands_back_what_it_cannot_finish_in_time(stage: Stage) -> None:
    cup = stage.cup(0.4, cards=8, deals=1)  # some seven seconds a match

    def both() -> Any:
        return all(row.status == "leased" for row in stage.rows(cup))

    stage.until(both, "nothing is played")
    before = stage.supervisor.pids["players"]
    os.kill(before, signal.SIGTERM)
    stage.until(lambda: all(row.status == "planned" for row in stage.rows(cup)), "nothing is handed back")
    assert {row.suspicion for row in stage.rows(cup)} == {0}
    assert stage.count(incidents.HANDED_BACK) == 2
    assert stage.count(incidents.SILENT) == 0
    assert all(row.trouble.startswith("Stopped") for row in stage.rows(cup))
    stage.until(lambda: any("players ended with status 0" in line for line in stage.said), "it does not end")
    over = stage.over(cup)
    assert (over.progress.played, over.progress.failed) == (2, 0)


def test_a_process_that_is_told_to_stop_finishes_its_match_and_claims_no_other(stage: Stage) -> None:
    cup = stage.cup(0.1, cards=4, deals=4)
    row = stage.until(lambda: [row for row in stage.rows(cup) if row.status == "leased"], "nothing")[0]
    os.kill(pid_of(row), signal.SIGTERM)
    stage.until(lambda: not Path(f"/proc/{pid_of(row)}").exists(), "it does not end")
    finished = stage.rows(cup)[row.number]
    assert (finished.status, finished.attempts) == ("done", 1)
    assert finished.lease_worker == row.lease_worker
    assert stage.over(cup).progress.played == 8
    assert {each.attempts for each in stage.rows(cup)} == {1}


@pytest.mark.parametrize("program", ["desk", "beat", "api"])
def test_the_others_end_in_good_order_and_come_back(stage: Stage, program: str) -> None:
    before = stage.supervisor.pids[program]
    os.kill(before, signal.SIGTERM)
    stage.until(lambda: stage.supervisor.pids.get(program) not in (None, before), "it does not come back")
    (line,) = [line for line in stage.said if line.startswith(f"{program} ")]
    assert "ended with status 0" in line
    if program == "api":
        stage.until(lambda: serves(stage.supervisor.address), "the API does not serve")


def test_a_match_that_kills_its_worker_three_times_is_set_aside_and_the_rest_goes_on(stage: Stage) -> None:
    cup = stage.cup(0.1, cards=4, deals=2)
    killed: list[int] = []
    while stage.rows(cup)[0].status not in ("failed", "done"):
        row = stage.rows(cup)[0]
        if row.status == "leased" and pid_of(row) not in killed:
            killed.append(pid_of(row))
            os.kill(pid_of(row), signal.SIGKILL)
        time.sleep(0.01)
    assert len(killed) >= 3  # one that was killed before it began the match says nothing of it
    over = stage.over(cup)
    assert (over.progress.played, over.progress.failed) == (3, 1)
    assert [row.status for row in stage.rows(cup)] == ["failed", "done", "done", "done"]
    told = stage.client.get(f"/matches/{cup}-0")
    assert (told["status"], told["trouble"]) == ("failed", "its worker died while it was played")
    assert stage.client.tournament(cup)["failed"] == [{"match": f"{cup}-0", "trouble": told["trouble"]}]
    assert {line["matches"] for line in stage.client.standings(cup)} == {2}, "its whole group is left out"
    found = {each.what: each for each in doctor.examine(stage.supervisor.settings.environment())}
    assert f"{cup}-0" in found["matches"].text
    assert stage.count(incidents.FAILED) == 1
