"""What pages tell who only looks on: what to watch, what decides, what bots may use."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from api import legend
from api.pages import allowance
from api.pages.highlights import highlights
from service.formats import FORMATS
from service.limits import RANGES, Limits
from service.matches import Match, Seat


def played(number: int, *points: int, entrants: tuple[int, ...] = (0, 1, 2, 3)) -> Match:
    """A match with these points that count, by seat."""
    seats = [
        Seat(
            seat,
            entrant,
            f"bot_{entrant}",
            1,
            "abcd"[entrant],
            score,
            score,
            0,
            1 + sum(each > score for each in points),
        )
        for seat, (entrant, score) in enumerate(zip(entrants, points, strict=True))
    ]
    return Match(f"t_x-{number}", "t_x", number, 1, number, 0, "done", 1, None, 0, None, None, seats)


DULL = [played(number, 50, 40, 30, 20) for number in range(3)]


def told(*more: Match) -> list[tuple[int, str]]:
    return [(match.number, what) for match, what in highlights([*DULL, *more])]


def test_the_closest_finish_and_the_highest_score_are_to_be_watched() -> None:
    assert told(played(7, 30, 41, 42, 10), played(8, 90, 20, 20, 20)) == [
        (7, "c v1 beat b v1 by 1 point"),
        (8, "a v1 made 90 points"),
    ]
    assert told(played(9, 95, 95, 3, 1)) == [(9, "a v1 and b v1 ended level")]
    assert told() == []


def test_a_team_is_not_its_own_rival() -> None:
    assert told(played(7, 41, 30, 41, 30, entrants=(0, 1, 0, 1)))[0] == (0, "a v1 beat b v1 by 10 points")


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_says_what_decides_places_and_who_is_level(format: str) -> None:
    said = legend.of_places(format, gone=False)
    assert said.startswith("Places go by ") and "who is level by bids made exactly" in said
    assert legend.of_places(format, gone=True).endswith("Who left comes last.")


def test_limits_are_said_in_words_with_units() -> None:
    assert set(allowance.WORDS) == set(RANGES)
    said = dict(allowance.words(Limits().as_dict()))
    assert said["time for a decision"] == "1 s" and said["memory"] == "256 MiB"
    assert said["CPU time a decision, on average"] == "50 ms"
    whole = dict(allowance.words(Limits(match_cpu_ms=1500).as_dict()))
    assert whole["CPU time a match"] == "1500 ms" and not any("reserve" in what for what in whole)


def test_a_tournaments_page_says_what_decides_and_what_to_watch(
    http: FlaskClient, cup: dict[str, Any]
) -> None:
    page = http.get(f"/tournaments/{cup['id']}").text
    assert legend.PLACES["round_robin"] in page
    assert "time for a decision: <b>1 s</b>" in page and "decision ms" not in page
    number = re.search(r"Worth watching: <a href=\"/matches/[^\"]*-(\d+)\">match (\d+)</a>, \w", page)
    assert number is not None and number[1] == number[2]


def test_a_match_leads_to_the_ones_beside_it(http: FlaskClient, cup: dict[str, Any]) -> None:
    def beside(number: int) -> list[tuple[str, str]]:
        page = http.get(f"/matches/{cup['id']}-{number}").text
        return re.findall(r'<a rel="(\w+)" href="/matches/[^"]*-(\d+)"', page)

    last = cup["progress"]["total"] - 1
    assert beside(0) == [("next", "1")]
    assert beside(1) == [("prev", "0"), ("next", "2")]
    assert beside(last) == [("prev", str(last - 1))]


def test_while_not_all_have_played_equally_often_the_page_says_so(
    http: FlaskClient, ada: Any, ready_bots: list[str], make_spec: Any, play_all: Any
) -> None:
    unequal = "Not all have played equally often yet"
    made = ada.post("/tournaments", make_spec(ready_bots, players=3, deals=1)).get_json()
    assert unequal not in http.get(f"/tournaments/{made['id']}").text
    play_all(3)
    assert unequal in http.get(f"/tournaments/{made['id']}").text
    play_all()
    assert unequal not in http.get(f"/tournaments/{made['id']}").text
