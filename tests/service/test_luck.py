"""Luck and skill: exact sums, whatever the points were."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service import luck
from service.standings import Result

POINTS = st.integers(-80, 200)


def groups() -> st.SearchStrategy[list[list[int]]]:
    """Points of a whole duplicate group: k matches of k seats."""
    sizes = st.integers(2, 11)
    return sizes.flatmap(lambda k: st.lists(st.lists(POINTS, min_size=k, max_size=k), min_size=k, max_size=k))


def rotated(points: list[list[int]], group: int = 0) -> list[Result]:
    """The group as a tournament has it: entrant r + s sits in seat s of match r."""
    k = len(points)
    return [
        Result(
            group=group,
            entrants=tuple((rotation + seat) % k for seat in range(k)),
            counted=tuple(row),
            exact_bids=(0,) * k,
            places=(1,) * k,
            faults=(0,) * k,
            out=(False,) * k,
        )
        for rotation, row in enumerate(points)
    ]


def test_a_hand_is_worth_what_its_holders_took_with_it() -> None:
    strong_hand_in_seat_0 = [[60, 20], [50, 10]]
    first, second = luck.shares(strong_hand_in_seat_0)
    assert [share.luck for share in first] == [20, -20]
    assert [share.luck for share in second] == [20, -20]
    assert [share.earned for share in first + second] == [0, 0, 0, 0]


def test_who_does_more_with_the_same_cards_earned_it() -> None:
    better_in_both_seats = [[50, 10], [40, 20]]  # entrant 0 sits in seat 0, then in seat 1
    first, second = luck.shares(better_in_both_seats)
    assert (first[0].luck, first[0].earned) == (15, 5)
    assert (second[1].luck, second[1].earned) == (-15, 5)


@settings(max_examples=60, deadline=None)
@given(groups())
def test_luck_and_earnings_are_the_points_above_the_tables_mean(points: list[list[int]]) -> None:
    for row, shared in zip(points, luck.shares(points), strict=True):
        for taken, share in zip(row, shared, strict=True):
            assert share.luck + share.earned == taken - Fraction(sum(row), len(row))


@settings(max_examples=60, deadline=None)
@given(groups())
def test_both_sum_to_zero_over_a_match_and_over_a_group(points: list[list[int]]) -> None:
    for match in luck.shares(points):
        assert sum(share.luck for share in match) == 0
        assert sum(share.earned for share in match) == 0


@settings(max_examples=60, deadline=None)
@given(groups())
def test_everybodys_luck_cancels_over_a_whole_group(points: list[list[int]]) -> None:
    k, shares = len(points), luck.shares(points)
    for entrant in range(k):
        assert sum(shares[rotation][(entrant - rotation) % k].luck for rotation in range(k)) == 0


@settings(max_examples=60, deadline=None)
@given(groups())
def test_points_given_to_a_hand_are_luck_and_points_given_to_an_entrant_are_earned(
    points: list[list[int]],
) -> None:
    k, before = len(points), luck.shares(points)
    gift = [[taken + 10 * (seat == 1) for seat, taken in enumerate(row)] for row in points]
    skill = [
        [taken + 10 * ((seat + rotation) % k == 1) for seat, taken in enumerate(row)]
        for rotation, row in enumerate(points)
    ]
    given, able_to = luck.shares(gift), luck.shares(skill)
    for rotation in range(k):
        for seat in range(k):
            old, lucky, able = (each[rotation][seat] for each in (before, given, able_to))
            assert lucky.earned == old.earned
            assert lucky.luck - old.luck == (Fraction(10 * k - 10, k) if seat == 1 else Fraction(-10, k))
            mine = (seat + rotation) % k == 1
            assert able.luck == old.luck
            assert able.earned - old.earned == (Fraction(10 * k - 10, k) if mine else Fraction(-10, k))


@settings(max_examples=60, deadline=None)
@given(st.lists(groups(), min_size=1, max_size=4).filter(lambda found: len({*map(len, found)}) == 1))
def test_an_entrants_average_is_what_it_was_dealt_and_what_it_earned(found: list[list[list[int]]]) -> None:
    results = [each for group, points in enumerate(found) for each in rotated(points, group)]
    told = luck.totals(results)
    assert luck.totals(reversed(results)) == told
    assert sum(share.earned for share in told.values()) == pytest.approx(0, abs=1e-9)
    for entrant, share in told.items():
        mine = [each.counted[each.entrants.index(entrant)] for each in results]
        assert share.dealt + share.earned == pytest.approx(sum(mine) / len(mine))
    assert all(a.swing == b.swing for a, b in pairwise(told.values())), "everybody holds every hand"


def test_swing_is_the_root_mean_square_of_luck() -> None:
    points = [[60, 20, 10], [50, 10, 0], [70, 30, 50]]
    squares = [float(share.luck) ** 2 for match in luck.shares(points) for share in match]
    assert luck.totals(rotated(points))[0].swing == pytest.approx((sum(squares) / 9) ** 0.5)
