"""The main job from end to end: bots uploaded over HTTP, checked, matched, killed in the middle, ranked."""

import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from api.client import Client, ProblemError
from engine import bots as house
from engine.record import verify
from service import rating
from service.supervisor import Supervisor
from service.tally import Game

pytestmark = [pytest.mark.story, pytest.mark.sandbox, pytest.mark.timeout(300)]

QUICK = [name for name in house.NAMES if name != "montecarlo"]  # it thinks for long
FUNCTIONS = b"""
def bid(view):
    return sum(card[0] == view["trump"] for card in view["hand"])
def play(view):
    return view["legal"][0]
"""
CLASS = b"""
class Bot:
    def start(self, info):
        self.seat = info["seat"]
    def bid(self, view):
        return min(1, view["hand_size"])
    def play(self, view):
        return view["legal"][-1 if view["taken"][self.seat] < 1 else 0]
"""


def upload(author: Client, name: str, code: bytes) -> str:
    bot = author.submit(name, "bot.py", code)
    assert bot["status"] == "checking"
    ready = author.wait_ready(bot["id"])
    assert ready["status"] == "ready", ready
    return str(bot["id"])


def children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def seconds_until(condition: Any, limit: float) -> float:
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < limit, "this took too long"
        time.sleep(0.1)
    return time.monotonic() - begun


def test_a_round_robin_loses_and_doubles_nothing_though_workers_are_killed(
    service: Supervisor, author: Client
) -> None:
    entrants = [upload(author, "functions", FUNCTIONS), upload(author, "class", CLASS)]
    entrants += [upload(author, f"my {name}", house.source(name).encode()) for name in QUICK]
    made = author.create_tournament(
        name="Killing time", entrants=entrants, players=4, deals=2, rules={"preset": "korean"}
    )
    total = made["progress"]["total"]
    assert (made["status"], total) == ("running", 40)
    for played in (4, 16):
        seconds_until(lambda: author.tournament(made["id"])["progress"]["played"] >= played, 120)  # noqa: B023
        for child in children(service.pids["players"]):  # one alone might be between two matches
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
    over = author.wait_over(made["id"], seconds=200)
    assert over["status"] == "finished"
    assert (over["progress"]["played"], over["progress"]["failed"]) == (total, 0)

    matches = list(author.matches(made["id"]))
    assert [match["number"] for match in matches] == list(range(total))
    assert {match["status"] for match in matches} == {"done"}
    assert max(match["attempts"] for match in matches) >= 2, "nobody was killed at work"
    records = {match["number"]: author.record(match["id"]) for match in matches}
    assert [verify(record) for record in records.values()] == [None] * total
    check_deals(over, matches, records)
    check_standings(author.standings(made["id"]), matches, records)
    check_rankings(author, matches)


def check_deals(over: dict[str, Any], matches: list[dict[str, Any]], records: dict[int, Any]) -> None:
    """The secret is the one promised, and every deal follows from it."""
    secret = bytes.fromhex(over["secret"])
    assert hashlib.sha256(secret).hexdigest() == over["secret_hash"]
    for match in matches:
        message = b"deal" + match["group"].to_bytes(8, "big")
        assert records[match["number"]]["seed"] == hmac.digest(secret, message, "sha256").hex()


def check_standings(
    rows: list[dict[str, Any]], matches: list[dict[str, Any]], records: dict[int, Any]
) -> None:
    points: Counter[int] = Counter()
    for match in matches:
        for seat, score in zip(match["seats"], records[match["number"]]["scores"], strict=True):
            points[seat["entrant"]] += score
    assert {row["entrant"]: row["points"] for row in rows} == dict(points)
    assert [row["points"] for row in rows] == sorted(points.values(), reverse=True)
    assert {row["matches"] for row in rows} == {32}


def check_rankings(author: Client, matches: list[dict[str, Any]]) -> None:
    """The published ratings are those that anybody computes from the published matches, in any order."""
    seconds_until(lambda: author.rankings(rules="korean")["matches"] == len(matches), 30)
    games = [
        Game(
            match["group"],
            tuple(f"{seat['bot_id']}:{seat['version']}" for seat in match["seats"]),
            tuple(seat["place"] for seat in match["seats"]),
        )
        for match in reversed(matches)
    ]
    expected = {rated.player: (rated.rating, rated.low, rated.high) for rated in rating.elo(games)}
    told = author.rankings(rules="korean")["items"]
    assert {
        f"{row['bot_id']}:{row['version']}": (row["rating"], row["low"], row["high"]) for row in told
    } == (expected)


@pytest.mark.parametrize(
    ("code", "stage", "said"),
    [
        (b"def bid(view)\n    return 0\n", "start", "SyntaxError"),
        (b"import nothing_of_the_kind\n", "start", "ModuleNotFoundError"),
        (
            b"def bid(view):\n    return 1 // 0\ndef play(view):\n    return 0\n",
            "first decision",
            "ZeroDivisionError",
        ),
        (
            b"def bid(view):\n    while True: pass\ndef play(view):\n    return 0\n",
            "first decision",
            "timeout",
        ),
        (b"def bid(view):\n    return True\ndef play(view):\n    return 0\n", "first decision", "illegal"),
        (b"def bid(view):\n    return 0\ndef play(view):\n    return 'R99'\n", "match", "illegal"),
    ],
)
def test_a_bot_that_fails_its_check_is_rejected_with_what_its_author_would_see(
    author: Client, code: bytes, stage: str, said: str
) -> None:
    bot = author.submit(f"bad {uuid4().hex}", "bad.py", code)
    author.wait_ready(bot["id"], seconds=60)
    version = author.version(bot["id"], 1)
    assert version["status"] == "rejected"
    report = version["report"]
    assert (report["ready"], report["stage"]) == (False, stage)
    assert said in str(report["error"])
    with pytest.raises(ProblemError) as refused:
        author.create_tournament(name="x", entrants=[bot["id"], bot["id"]], players=2)
    assert refused.value.status == 422
    assert "entrants.0" in refused.value.errors


def test_a_tournament_waits_for_its_time(author: Client, anyone: Client) -> None:
    entrants = [bot["id"] for bot in anyone.bots(owner="house") if bot["name"] in QUICK]
    time_to_start = datetime.now(UTC) + timedelta(seconds=4)
    made = author.create_tournament(
        name="Later", entrants=entrants, players=3, deals=1, start_at=time_to_start.isoformat()
    )
    assert made["status"] == "scheduled" or datetime.now(UTC) > time_to_start, "a slow machine may be late"
    over = author.wait_over(made["id"], seconds=120)
    assert over["status"] == "finished"
    assert datetime.fromisoformat(over["started_at"]) >= time_to_start


def test_a_cancelled_tournament_stops(author: Client, anyone: Client) -> None:
    entrants = [bot["id"] for bot in anyone.bots(owner="house") if bot["name"] in QUICK]
    made = author.create_tournament(name="Never", entrants=entrants, players=3, deals=500)
    seconds_until(lambda: author.tournament(made["id"])["progress"]["played"] >= 2, 60)
    assert author.cancel(made["id"])["status"] == "cancelled"
    played = author.tournament(made["id"])["progress"]["played"]
    time.sleep(3)
    assert author.tournament(made["id"])["progress"]["played"] == played
    assert {match["status"] for match in author.matches(made["id"], status="void")} == {"void"}


def test_a_fault_comes_with_the_commands_that_play_its_match_again_at_home(
    author: Client, anyone: Client, service: Supervisor, tmp_path: Path
) -> None:
    code = FUNCTIONS.replace(b"sum", b"0 // (view['players'] - 3) * sum")
    opponents = [bot["id"] for bot in anyone.bots(owner="house") if bot["name"] in QUICK][:2]
    bot = upload(author, "not for three", code)
    made = author.create_tournament(name="Three", entrants=[bot, *opponents], players=3, deals=1)
    assert author.wait_over(made["id"], seconds=120)["progress"]["faults"] == 3
    newest = next(author.faults(bot, 1))
    assert (newest["kind"], newest["out"], newest["asked"]) == ("crash", True, "bid")
    assert "ZeroDivisionError" in newest["text"] + str(newest["evidence"])
    place = {"RAGE_URL": service.address, "RAGE_TOKEN": author.token or ""}
    done = subprocess.run(
        ["bash", "-c", newest["replay"]],
        cwd=tmp_path,
        env={**os.environ, **place, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ZeroDivisionError" in done.stdout + done.stderr


def test_logs_are_kept_where_the_service_says_each_line_of_ours_json(service: Supervisor) -> None:
    files = {path.name.partition(".")[0]: path for path in Path(service.logs).iterdir()}
    assert {"valkey", "api", "players", "desk", "beat"} <= files.keys()
    lines = [
        line for name in ("api", "players", "desk", "beat") for line in files[name].read_text().splitlines()
    ]
    assert [line for line in lines if not isinstance(json.loads(line), dict)] == []
    assert any(json.loads(line)["event"] == "request" for line in lines)
