"""Standings counted again at home: of every format as the service tells them, and with changes."""

import copy
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from loadtests import singly
from service import folds, leases, leaving, matches, tournaments
from service.accounts import Account
from service.folds import StandingRow
from service.recount import Recount
from service.work import Arena

Ready = Callable[[int], list[str]]
PlayAll = Callable[[Arena], int]
Rows = list[dict[str, Any]]
SMALL = {"preset": "fundex", "hand_sizes": [2, 1]}
WAYS = {
    "round_robin": {"format": "round_robin"},
    "single deals": {"format": "round_robin", "duplicate": False},
    "swiss": {"format": "swiss", "stages": 3},
    "knockout": {"format": "knockout"},
    "knockout of pairs": {"format": "knockout", "players": 2, "deals": 1},
    "knockout, authors apart": {"format": "knockout", "same_owner": "apart"},
    "knockout, each seat once": {"format": "knockout", "duplicate": False, "deals": 2},
    "knockout of teams": {"format": "knockout", "players": 4, "rules": {**SMALL, "teams": "2+2"}},
    "gauntlet": {"format": "gauntlet"},
    "teams": {"format": "gauntlet", "players": 4, "rules": {**SMALL, "teams": "2+2"}},
}
CASES = [
    *((way, "none") for way in WAYS if way != "round_robin"),
    *((way, "one left") for way in ("round_robin", "swiss", "knockout")),
    ("knockout", "a match given up"),
]


def make(arena: Arena, author: Account, ids: list[str], **told: Any) -> str:
    more = {"challenger": ids[0]} if told.get("format") == "gauntlet" else {}
    spec = {"name": "Cup", "entrants": ids, "players": 3, "deals": 1, "rules": SMALL, **more, **told}
    return tournaments.create(arena, author, spec).id


def counted(arena: Arena, tournament_id: str) -> tuple[Recount, Rows]:
    """A tournament that is over, as the API tells it."""
    recount = Recount(asdict(tournaments.tournament(arena, tournament_id)))
    for match in matches.matches(arena, tournament_id, limit=200).items:
        told = asdict(match)
        recount.seat(told)
        if match.status == "done":
            recount.add(told)
    return recount, [asdict(row) for row in folds.standings_of(arena, tournament_id)]


@pytest.fixture
def kind() -> str:
    """One sort of database is enough: what is counted here is not asked of it."""
    return "sqlite"


@pytest.mark.parametrize(("way", "trouble"), CASES)
def test_what_the_service_tells_follows_from_its_matches(
    way: str, trouble: str, arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    ids = ready_bots(7)
    cup = make(arena, author, ids, **WAYS[way])
    if trouble == "a match given up":
        for _ in range(4):
            held = singly.claim(arena, "w")
            assert held is not None
            leases.give_back(arena, held, "fire")
    if trouble == "one left":
        assert singly.claim(arena, "w") is not None
        leaving.withdraw(arena, author, cup, ids[3])
    play_all(arena)
    recount, rows = counted(arena, cup)
    assert len(rows) >= 7
    assert sum(row["matches"] for row in rows) > 0
    assert recount.discrepancy(rows) is None
    swapped = exchanged(rows, 0, len(rows) - 1)
    assert "place" in str(recount.discrepancy(swapped))


@pytest.mark.parametrize("way", [way for way in WAYS if "knockout" in way])
def test_a_knockout_is_played_as_its_seeds_demand(
    way: str, arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    cup = make(arena, author, ready_bots(7), start_at="manual", **WAYS[way])
    assert tournaments.tournament(arena, cup).seeds is None, "they are drawn at the start"
    tournaments.start(arena, author, cup)
    seeds = tournaments.tournament(arena, cup).seeds
    assert seeds is not None and sorted(seeds) == list(range(7))
    assert [each.seeds for each in tournaments.tournaments(arena).items] == [None]
    play_all(arena)
    assert told_otherwise(arena, cup, seeds=seeds) is None
    assert "group 0 does not follow" in told_otherwise(arena, cup, seeds=seeds[::-1])
    for wrong, reason in (
        (None, "not told"),
        ("all", "who began"),
        ([[0]], "who began"),
        (seeds[1:], "not those who began"),
        ([0, *seeds], "each once"),
    ):
        assert reason in told_otherwise(arena, cup, seeds=wrong)
    stages = tournaments.tournament(arena, cup).stage
    assert f"stage {stages + 1} is one too many" in told_otherwise(arena, cup, stage=stages + 1)
    recount, rows = counted(arena, cup)
    recount._told = {**recount._told, "stage": stages - 1}
    del recount._tables[stages]
    assert f"stage {stages} is missing" in str(recount.discrepancy(rows))


def test_of_a_knockout_that_was_cancelled_the_places_follow_too(
    arena: Arena, author: Account, ready_bots: Ready, finish: Callable[..., Any]
) -> None:
    cup = make(arena, author, ready_bots(7), format="knockout")
    for _ in range(9):
        held = singly.claim(arena, "w")
        assert held is not None
        finish(arena, held)
    tournaments.cancel(arena, author, cup)
    recount, rows = counted(arena, cup)
    assert recount.discrepancy(rows) is None
    assert "place" in str(recount.discrepancy(exchanged(rows, 0, 6)))
    recount._tables.clear()  # a service that lists no match
    recount.results.clear()
    assert "by the records" in str(recount.discrepancy(rows))


def told_otherwise(arena: Arena, cup: str, **changes: Any) -> Any:
    """What is said of it if this were told of it instead."""
    recount, rows = counted(arena, cup)
    recount._told = {**recount._told, **changes}
    return recount.discrepancy(rows)


def exchanged(rows: Rows, one: int, other: int) -> Rows:
    """Two rows with each other's places, in the order of these."""
    changed = copy.deepcopy(rows)
    a, b = changed[one], changed[other]
    a["place"], b["place"] = b["place"], a["place"]
    changed[one], changed[other] = b, a
    return changed


FIELDS = [name for name in StandingRow.__dataclass_fields__ if name != "entrant"]


def another(value: Any) -> Any:
    if isinstance(value, str):
        return value + "x"
    return [*value, 1] if isinstance(value, list) else value + 1


def test_every_field_row_and_place_that_was_changed_is_named(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    cup = make(arena, author, ready_bots(4), deals=2)
    play_all(arena)
    recount, rows = counted(arena, cup)
    assert recount.discrepancy(rows) is None
    for number, row in enumerate(rows):
        for field in FIELDS:
            changed = copy.deepcopy(rows)
            changed[number][field] = another(row[field])
            wrong = str(recount.discrepancy(changed))
            assert wrong.startswith(f"standings: {row['name']} has {field} {changed[number][field]!r:.60}, ")
            del changed[number][field]
            assert f"has {field} None" in str(recount.discrepancy(changed))
        less, more = rows[:number] + rows[number + 1 :], [*rows, row]
        who = f"standings: {row['name']} (entrant {row['entrant']}) has"
        assert recount.discrepancy(less) == f"{who} 0 rows"
        assert recount.discrepancy(more) == f"{who} 2 rows"
    foreign = [*rows, {**rows[0], "entrant": 9}]
    assert recount.discrepancy(foreign) == "standings: 5 rows, there are 4 entrants"
    for number in range(3):
        assert "has place" in str(recount.discrepancy(exchanged(rows, number, number + 1)))
    turned = [rows[1], rows[0], *rows[2:]]
    assert recount.discrepancy(turned) == "standings: the rows are not in the order of their places"


def test_a_deal_that_was_played_more_often_than_its_table_has_seats_is_named(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll
) -> None:
    cup = make(arena, author, ready_bots(3))
    play_all(arena)
    recount, rows = counted(arena, cup)
    recount.add(asdict(matches.matches(arena, cup).items[0]))
    assert recount.discrepancy(rows) == "matches: group 0 has 4 matches, not 3"
