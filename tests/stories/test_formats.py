"""Every format but the round robin, small, played by real workers in real sandboxes through the API."""

import time
from collections import Counter
from typing import Any
from uuid import uuid4

import pytest

from api.client import Client
from engine import bots as house
from engine.record import verify
from service.audit import Audit

pytestmark = [pytest.mark.story, pytest.mark.sandbox, pytest.mark.timeout(240)]

QUICK = [name for name in house.NAMES if name != "montecarlo"]  # it thinks for long
SHORT = {"preset": "fundex", "hand_sizes": [3, 2]}


@pytest.fixture
def entrants(author: Client, anyone: Client) -> list[str]:
    """The quick house bots and three of the author's own."""
    mine = [
        author.submit(f"{name} {uuid4().hex[:8]}", "bot.py", house.source(name).encode()) for name in QUICK
    ]
    ready = [author.wait_ready(each["id"])["bot_id"] for each in mine]
    return [*ready, *(bot["id"] for bot in anyone.bots(owner="house") if bot["name"] in QUICK)]


def make(author: Client, entrants: list[str], **told: Any) -> dict[str, Any]:
    spec = {"name": str(told.get("format")), "players": 3, "deals": 1, "rules": SHORT, **told}
    return author.create_tournament(entrants=entrants, **spec)


def audited(author: Client, tournament_id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The tournament once it is over and its standings, with every deal, game and sum checked."""
    over = author.wait_over(tournament_id, seconds=120)
    assert over["status"] == "finished", over
    audit = Audit(over)
    assert audit.begin() is None
    for match in author.matches(tournament_id):
        record = author.record(match["id"]) if match["status"] == "done" else None
        assert record is None or verify(record) is None
        assert audit.match(match, record) is None
    standings = author.standings(tournament_id)
    assert audit.end(standings) is None
    return over, standings


def test_formats_are_played_to_their_ends(author: Client, entrants: list[str]) -> None:
    swiss = make(author, entrants, format="swiss", stages=3)
    knockout = make(author, entrants, format="knockout")
    gauntlet = make(author, entrants, format="gauntlet", challenger=entrants[0])
    teams = make(author, entrants[:3], format="round_robin", players=4, rules={**SHORT, "teams": "2+2"})
    ladder = make(author, entrants, format="ladder")

    begun = time.monotonic()
    while author.tournament(ladder["id"])["stage"] < 3:
        assert time.monotonic() - begun < 120
        time.sleep(0.2)
    author.stop(ladder["id"])
    over, rows = audited(author, ladder["id"])
    assert over["progress"]["played"] >= 12
    assert {row["status"] for row in rows} == {"in"}

    over, rows = audited(author, swiss["id"])
    assert (over["stage"], over["progress"]["played"]) == (3, 3 * 2 * 3)
    assert {row["matches"] for row in rows} == {9}
    assert [row["average"] for row in rows] == sorted((row["average"] for row in rows), reverse=True)

    over, rows = audited(author, knockout["id"])
    assert over["stage"] >= 2
    assert [row["place"] for row in rows].count(1) == 1

    over, rows = audited(author, gauntlet["id"])
    challenger = next(row for row in rows if row["bot_id"] == entrants[0])
    assert challenger["matches"] == over["progress"]["played"] == 9

    over, rows = audited(author, teams["id"])
    seats = [[seat["entrant"] for seat in match["seats"]] for match in author.matches(teams["id"])]
    assert all(seat[:2] == seat[2:] for seat in seats)
    assert {row["matches"] for row in rows} == {4}


def test_two_who_meet_have_their_table_filled_and_one_who_withdraws_leaves_whole_deals(
    author: Client, anyone: Client, entrants: list[str]
) -> None:
    pair = make(author, entrants[:2], players=4)
    over, rows = audited(author, pair["id"])
    assert Counter(row["status"] for row in rows) == {"in": 2, "filler": 2}
    assert sum(each["filler"] for each in over["entrants"]) == 2

    long = make(author, entrants[:4], players=3, deals=60)
    begun = time.monotonic()
    while author.tournament(long["id"])["progress"]["played"] < 4:
        assert time.monotonic() - begun < 60
        time.sleep(0.1)
    author.withdraw(long["id"], entrants[0])
    out = author.disqualify(long["id"], entrants[1], "to see what happens")
    assert Counter(each["status"] for each in out["entrants"])["in"] == 2
    over, rows = audited(author, long["id"])
    assert [row["status"] for row in rows[2:]].count("in") == 0
    told = list(author.events(long["id"]))
    assert {each["type"] for each in told} >= {"result", "stage", "left", "progress", "status"}
