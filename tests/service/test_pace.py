"""When a tournament may be over: by its latest matches, and whatever it waited for in between."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from loadtests import singly
from service import pace, tournaments
from service.accounts import Account
from service.pace import LATEST, Play
from service.work import Arena

T0 = datetime(2030, 1, 1, 12, tzinfo=UTC)
SMALL = {"preset": "fundex", "hand_sizes": [2, 1]}


def played(*ends: float, took: float = 1.0) -> list[Play]:
    """Matches that were done so many seconds after T0."""
    return [(T0 + timedelta(seconds=end - took), T0 + timedelta(seconds=end)) for end in ends]


def seconds(plays: list[Play], now: float) -> float:
    found = pace.a_match(plays, T0, T0 + timedelta(seconds=now))
    assert found is not None
    return found.total_seconds()


def test_the_pace_is_that_from_the_start_on() -> None:
    assert pace.a_match([], T0, T0) is None
    assert seconds(played(1, 2, 3, 4), 4) == 1
    assert seconds(played(2, 2, 4, 4, took=2), 6) == 1.5


def test_a_night_without_play_is_no_part_of_it() -> None:
    night = 36_000
    assert seconds(played(1, 2, night + 3, night + 4), night + 4) == 1
    assert seconds(played(1, 2), night) == 1
    assert seconds(played(night + 1, night + 2), night + 2) == 1


def test_a_long_match_and_a_short_wait_are_part_of_it() -> None:
    assert seconds(played(600, 1200, took=600), 1200) == 600
    assert seconds(played(1, 51), 60) == 30


def test_a_worker_whose_clock_is_ahead_makes_no_end_before_now() -> None:
    assert seconds(played(601, 602), 2) == 0


def test_only_the_latest_tell_when_there_are_many() -> None:
    plays = played(*(1000 + each for each in range(LATEST)))
    assert seconds(plays, 1000 + LATEST - 1) == 1


def test_a_tournament_is_expected_to_end_by_its_pace(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], clock: Any, finish: Any
) -> None:
    told = {"name": "Cup", "entrants": ready_bots(3), "players": 2, "rules": SMALL, "deals": 2}
    made = tournaments.create(arena, author, told)
    assert made.progress.eta is None
    for _ in range(2):
        held = singly.claim(arena, "w")
        clock.turn(10)
        finish(arena, held)
    tournaments.pause(arena, author, made.id)
    clock.turn(36_000)
    assert tournaments.tournament(arena, made.id).progress.eta is None
    now = tournaments.resume(arena, author, made.id)
    assert now.progress.eta == clock.now + timedelta(seconds=10 * (made.progress.total - 2))
    (listed,) = tournaments.tournaments(arena).items
    assert listed.progress == now.progress
