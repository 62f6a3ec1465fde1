"""Points of a round, places, and what standings count."""

import pytest

from engine.rules import PRESETS, RuleSet
from engine.scoring import counted, exact_bids, places, round_points

FUNDEX = {"preset": "fundex"}
STRICT = {"preset": "fundex", "scoring": "strict"}
SWEEP = {"preset": "fundex", "sweep_double": True}
PAIRS = {"preset": "wikipedia", "teams": "2+2"}


@pytest.mark.parametrize(
    ("spec", "size", "bids", "taken", "stakes", "points"),
    [
        (FUNDEX, 3, (3, 0), (3, 0), (0, 0), [13, 5]),
        (FUNDEX, 3, (2, 1), (3, 0), (5, 0), [8, 0]),
        (FUNDEX, 3, (0, 1), (2, 1), (-5, 10), [-3, 21]),
        (STRICT, 3, (0, 1), (3, 0), (0, 0), [-2, -5]),
        (STRICT, 3, (3, 0), (3, 0), (0, 0), [13, 10]),
        ({"preset": "amigo", "scoring": "standard"}, 2, (0, 2), (0, 2), (0, 0), [5, 12]),
        (SWEEP, 3, (3, 0), (3, 0), (-5, 0), [11, 5]),
        (SWEEP, 3, (0, 0), (3, 0), (0, 0), [6, 5]),
        (SWEEP, 3, (2, 0), (2, 1), (0, 0), [12, 1]),
        (SWEEP, 1, (1, 0), (1, 0), (0, 0), [11, 5]),
        (PAIRS, 2, (0, 2, 1, 0), (1, 1, 0, 0), (5, 0, 0, 0), [16, 1, 16, 1]),
        (PAIRS, 2, (0, 0, 0, 0), (0, 1, 0, 1), (0, 5, 0, -5), [5, 2, 5, 2]),
        ({**PAIRS, "sweep_double": True}, 2, (1, 0, 1, 0), (1, 0, 1, 0), (0, 0, 0, 0), [14, 5, 14, 5]),
    ],
)
def test_points_of_a_round(spec, size, bids, taken, stakes, points):
    rules = RuleSet.parse(spec)
    got = round_points(rules, rules.bid_points, size, bids=bids, taken=taken, stakes=stakes)
    assert got == points


def test_a_team_is_exact_together():
    assert exact_bids(RuleSet.parse(PAIRS), (0, 2, 1, 0), (1, 1, 0, 0)) == [True, False, True, False]
    assert exact_bids(PRESETS["fundex"], (0, 2), (0, 1)) == [True, False]


@pytest.mark.parametrize(
    ("preset", "scores", "exact", "out", "expected"),
    [
        ("fundex", (30, 40, 20), (1, 1, 1), (), (2, 1, 3)),
        ("fundex", (30, 30, 20), (1, 2, 9), (), (2, 1, 3)),
        ("fundex", (30, 30, 20), (2, 2, 9), (), (1, 1, 3)),
        ("wikipedia", (30, 30, 20), (1, 2, 9), (), (1, 1, 3)),
        ("korean", (9, 9, 9), (1, 2, 3), (), (3, 2, 1)),
        ("fundex", (90, 30, 20), (9, 2, 1), (0,), (3, 1, 2)),
        ("fundex", (90, 30, 20, 80), (9, 2, 1, 9), (3, 0), (3, 1, 2, 4)),
        ("fundex", (90, 30), (9, 2), (1, 0), (1, 2)),
    ],
)
def test_places_go_by_total_then_tie_break_and_who_is_out_comes_last(preset, scores, exact, out, expected):
    assert places(PRESETS[preset], scores, exact, out) == expected


@pytest.mark.parametrize(
    ("scores", "out", "expected"),
    [
        ((30, 40, 20), (), (30, 40, 20)),
        ((30, 40, 20), (1,), (30, 20, 20)),
        ((30, 40, 20), (2,), (30, 40, 20)),
        ((-30, -40, 20), (2,), (-30, -40, -40)),
        ((30, 40, 20), (0, 1), (20, 20, 20)),
        ((30, 40, 20), (0, 1, 2), (30, 40, 20)),
    ],
)
def test_a_seat_that_is_out_counts_no_more_than_the_lowest_who_stayed(scores, out, expected):
    assert counted(scores, out) == expected
