"""Forecasts: counts that are those of the schedule, intervals like the fit's, a schedule for ever."""

import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

import service
from service import forecast, rating, schedule
from service.forecast import Meetings, Span
from service.schedule import Pairing
from service.tally import Game, count

GOLDEN = {
    (24, 4, 1, 2, True): "9e7399aad0a0c3a5b64bae47e103bc9739269d6d3d4f055b916f993e1c623020",
    (7, 2, 1, 3, False): "264cba4a8c61a03c7494a4e52d592ca750107880016af6b58ecc5649e859b75a",
    (13, 5, 2, 1, True): "99f14a66783c0f4d57458f1e521a5f2e92f7c6a0a375f37e926976676607585b",
}


def planned(entrants: int, seats: int, meetings: int, deals: int, duplicate: bool) -> list[Pairing]:
    blocks = schedule.round_robin(entrants, seats, meetings=meetings, seed=b"anything")
    orders = schedule.groups(blocks, deals=deals, duplicate=duplicate, seed=b"anything")
    return list(schedule.pairings(orders, duplicate=duplicate))


def read(pairings: list[Pairing], entrants: int, seats: int) -> Meetings:
    meetings = Meetings(entrants, seats)
    meetings.read(pairings)
    return meetings


@pytest.mark.parametrize("case", GOLDEN)
def test_a_schedule_follows_from_its_numbers_and_seed_alone_on_any_machine(
    case: tuple[int, int, int, int, bool],
) -> None:
    entrants, seats = case[:2]
    assert read(planned(*case), entrants, seats).digest == GOLDEN[case]


def test_the_golden_schedules_are_published() -> None:
    readme = (Path(service.__file__).parent / "README.md").read_text(encoding="utf-8")
    for (entrants, seats, meetings, deals, duplicate), digest in GOLDEN.items():
        kind = "yes" if duplicate else "no"
        assert f"| {entrants} | {seats} | {meetings} | {deals} | {kind} | {digest} |" in readme


def test_a_line_of_a_schedule() -> None:
    assert forecast.line(Pairing(12, 3, (4, 0, 7))) == b"12 3 4 0 7\n"


@pytest.mark.parametrize(("entrants", "seats", "duplicate"), [(9, 3, True), (8, 2, False), (6, 6, True)])
def test_balance_counts_games_seats_and_pairs(entrants: int, seats: int, duplicate: bool) -> None:
    pairings = planned(entrants, seats, 1, 2, duplicate)
    games = Counter(each for pairing in pairings for each in pairing.entrants)
    sat = Counter(each for pairing in pairings for each in enumerate(pairing.entrants))
    met = Counter(pair for pairing in pairings for pair in combinations(sorted(pairing.entrants), 2))
    meetings = read(pairings, entrants, seats)
    told = meetings.balance()
    assert told.games == Span(min(games.values()), max(games.values()))
    assert told.seats == Span(min(sat.values()), max(sat.values()))
    assert told.pairs == Span(min(met.values()), max(met.values()))
    assert (meetings.matches, meetings.groups) == (len(pairings), len({each.group for each in pairings}))


def test_house_bots_that_fill_seats_are_not_counted() -> None:
    meetings = read([Pairing(0, 0, (0, 1, 2)), Pairing(0, 1, (1, 2, 0))], 2, 3)
    assert meetings.balance().pairs == Span(2, 2)
    assert meetings.balance().games == Span(2, 2)


@pytest.mark.parametrize(("entrants", "seats", "deals"), [(10, 2, 40), (12, 4, 40), (12, 6, 20)])
def test_the_interval_that_is_forecast_is_the_one_that_is_fitted(
    entrants: int, seats: int, deals: int
) -> None:
    """Games of equals, each on cards of its own, so that the order at a table is any."""
    pairings = planned(entrants, seats, 1, deals, duplicate=False)
    dice = random.Random(5)
    places = [tuple(dice.sample(range(1, seats + 1), seats)) for _ in pairings]
    games = [Game(each.group, each.entrants, place) for each, place in zip(pairings, places, strict=True)]
    fitted = rating.fit(count(games))
    margins = [rated.margin for rated in fitted.rated()]
    told = read(pairings, entrants, seats).precision(duplicate=False)
    assert told.rating == pytest.approx(sum(margins) / len(margins), rel=0.12)
    pairs = [rating_of.se for a, b in combinations(range(entrants), 2) if (rating_of := fitted.compare(a, b))]
    assert told.difference == pytest.approx(1.96 * (sum(se**2 for se in pairs) / len(pairs)) ** 0.5, rel=0.12)


def test_more_games_and_duplicate_deals_make_ratings_surer() -> None:
    few, many = (read(planned(12, 4, 1, deals, True), 12, 4) for deals in (5, 20))
    assert many.precision(duplicate=True).rating == pytest.approx(
        few.precision(duplicate=True).rating / 2, rel=0.1
    )
    assert few.precision(duplicate=True).rating < few.precision(duplicate=False).rating


def test_matches_spread_evenly_are_as_good_as_a_round_robin() -> None:
    pairings = planned(13, 4, 1, 4, True)
    exact = read(pairings, 13, 4).precision(duplicate=True)
    even = forecast.precision(forecast.evenly(13, 4, len(pairings)), 4, duplicate=True)
    assert even.rating == pytest.approx(exact.rating, rel=0.02)


def test_owners_are_served_in_turn() -> None:
    assert forecast.finish_seconds(100, [], 0.5, 2) == 25
    assert forecast.finish_seconds(100, [30, 1000], 0.5, 2) == (100 + 30 + 100) / 4
