"""The sequential test: its formula, its bounds, and error rates as promised."""

import random
from itertools import islice
from math import log
from statistics import mean, variance

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadtests.sprt_errors import Match, run
from service import sprt
from service.sprt import FEWEST, Hypotheses

USUAL = Hypotheses()
QUARTERS = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=2, max_size=120)


@settings(max_examples=60, deadline=None)
@given(QUARTERS)
def test_the_ratio_is_the_documented_one_and_the_verdict_that_of_its_first_crossing(
    scores: list[float],
) -> None:
    mu0, mu1 = (1 / (1 + 10 ** (-elo / 400)) for elo in (0, 20))
    lower, upper = log(0.05 / 0.95), log(0.95 / 0.05)
    ratios = [0.0]
    for n in range(2, len(scores) + 1):
        x, s2 = mean(scores[:n]), max(variance(scores[:n]), 1 / 16 / (n - 1))
        ratios.append(n * (mu1 - mu0) * (2 * x - mu0 - mu1) / (2 * s2))
    told = sprt.trial(scores, USUAL, 1000)
    crossed = [n for n, ratio in enumerate(ratios, 1) if n >= FEWEST and not lower < ratio < upper]
    assert told.groups == (crossed[0] if crossed else len(scores))
    assert told.llr == pytest.approx(ratios[told.groups - 1], abs=1e-9)
    expected = None if not crossed else "accepted" if told.llr >= upper else "rejected"
    assert told.verdict == expected


@settings(max_examples=60, deadline=None)
@given(QUARTERS, st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=50))
def test_what_comes_after_the_verdict_changes_nothing(scores: list[float], later: list[float]) -> None:
    first = sprt.trial(scores, USUAL, 1000)
    if first.verdict is not None:
        assert sprt.trial(scores + later, USUAL, 1000) == first


@settings(max_examples=60, deadline=None)
@given(QUARTERS)
def test_a_and_b_exchanged_under_exchanged_hypotheses_give_the_opposite_verdict(scores: list[float]) -> None:
    told = sprt.trial(scores, Hypotheses(-10, 10), 1000)
    other = sprt.trial([1 - score for score in scores], Hypotheses(-10, 10), 1000)
    opposite = {"accepted": "rejected", "rejected": "accepted", None: None}
    assert other.verdict == opposite[told.verdict]
    assert other.llr == pytest.approx(-told.llr, abs=1e-9)


def test_the_cap_ends_it_undecided() -> None:
    told = sprt.trial([0.25, 0.75] * 50, USUAL, 40)
    assert (told.groups, told.verdict) == (40, "undecided")


@pytest.mark.parametrize(("score", "verdict"), [(1.0, "accepted"), (0.0, "rejected"), (0.5, None)])
def test_scores_that_are_all_alike_end_it_as_soon_as_allowed(score: float, verdict: str | None) -> None:
    told = sprt.trial([score] * 100, Hypotheses(-20, 20), 1000)
    assert (told.groups, told.verdict) == (FEWEST if verdict else 100, verdict)
    assert told.elo.value == (None if score in (0, 1) else pytest.approx(0))


def test_before_the_first_group_nothing_is_known() -> None:
    told = sprt.trial([], USUAL, 100)
    assert (told.groups, told.llr, told.verdict, told.score, told.elo.value) == (0, 0.0, None, None, None)
    assert sprt.mean_of([]).value is None
    assert sprt.mean_of([3.0]) == sprt.Estimate(3.0, None, None)
    assert sprt.mean_of([1.0, 3.0]).low == pytest.approx(2 - 1.96)


def test_a_games_score_counts_all_pairs_of_seats() -> None:
    assert sprt.pair_score([1], [2]) == 1
    assert sprt.pair_score([1], [1]) == 0.5
    assert sprt.pair_score([1, 4], [2, 3]) == 0.5
    assert sprt.pair_score([1, 2], [2, 4]) == (1 + 1 + 0.5 + 1) / 4


def test_an_interval_covers_the_truth_as_often_as_it_says() -> None:
    scores = list(islice(Match(2).scores(3.0, random.Random(3)), 20_000))
    truth = mean(scores)
    parts = [scores[start : start + 100] for start in range(0, len(scores), 100)]
    told = [sprt.trial(part, Hypotheses(-400, 400, 1e-300, 1e-300), 1000).elo for part in parts]
    covered = sum(sprt.expected(each.low or 0) <= truth <= sprt.expected(each.high or 0) for each in told)
    assert 0.9 * len(parts) <= covered <= 0.99 * len(parts)


ERRORS = [(2, 24.0), (4, 43.0)]


def check_errors(seats: int, elo1: float, tests: int, most: float) -> None:
    told = Hypotheses(0.0, elo1)
    null = run(Match(seats), told, 0.0, tests)
    true = run(Match(seats), told, elo1, tests)
    assert sum(each.verdict == "accepted" for each in null) <= most * tests
    assert sum(each.verdict == "rejected" for each in true) <= most * tests
    assert {each.verdict for each in null + true} <= {"accepted", "rejected"}


@pytest.mark.parametrize(("seats", "elo1"), [(4, 43.0)])
def test_errors_are_rare(seats: int, elo1: float) -> None:
    check_errors(seats, elo1, 100, 0.12)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("seats", "elo1"), ERRORS)
def test_of_five_hundred_tests_at_most_eight_percent_err_either_way(seats: int, elo1: float) -> None:
    check_errors(seats, elo1, 500, 0.08)


@pytest.mark.slow
@pytest.mark.parametrize(("seats", "elo1", "share"), [(2, 24.0, 0.75), (4, 43.0, 0.85)])
def test_duplicate_deals_save_games(seats: int, elo1: float, share: float) -> None:
    told = Hypotheses(0.0, elo1)
    groups = [
        sum(each.groups for truth in (0.0, elo1) for each in run(Match(seats, kind), told, truth, 200))
        for kind in (True, False)
    ]
    assert groups[0] <= share * groups[1]
