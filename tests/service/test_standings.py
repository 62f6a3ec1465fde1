"""Standings and crosstable: sums over whole groups, ties broken step by step, any order of results."""

import random
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.rating import rank
from service.standings import Pair, Result, Standing, crosstable, standings


def result(group: int, *seats: tuple[int, int, int], faults: tuple[int, ...] = ()) -> Result:
    """A match whose seats are (entrant, points, exact bids)."""
    entrants, points, exact = zip(*seats, strict=True)
    return Result(
        group=group,
        entrants=entrants,
        counted=points,
        exact_bids=exact,
        places=rank(points, exact),
        faults=faults or (0,) * len(seats),
        out=tuple(count >= 3 for count in faults) or (False,) * len(seats),
    )


def order(lines: list[Standing]) -> list[tuple[int, int]]:
    return [(line.place, line.entrant) for line in lines]


def test_lines_sum_points_wins_exact_bids_faults_and_matches() -> None:
    lines = standings(
        3,
        [
            result(0, (0, 30, 5), (1, 20, 4), (2, -5, 0), faults=(0, 1, 3)),
            result(1, (2, 40, 6), (0, 40, 6), (1, 11, 2)),
        ],
        1,
    )
    assert lines == [
        Standing(1, 0, 70, 35.0, wins=2, exact_bids=11, faults=0, outs=0, matches=2, places=(2,)),
        Standing(2, 2, 35, 17.5, wins=1, exact_bids=6, faults=3, outs=1, matches=2, places=(1, 0, 1)),
        Standing(3, 1, 31, 15.5, wins=0, exact_bids=6, faults=1, outs=0, matches=2, places=(0, 1, 1)),
    ]


def test_before_the_first_result_all_share_the_first_place() -> None:
    lines = standings(3, [], 4)
    assert order(lines) == [(1, 0), (1, 1), (1, 2)]
    assert all(line.matches == line.points == 0 and line.average == 0.0 for line in lines)


def test_a_group_counts_only_when_it_is_whole() -> None:
    first = [result(0, (0, 10, 1), (1, 0, 0)), result(0, (1, 3, 1), (0, 2, 0))]
    half = [result(1, (1, 99, 9), (0, 0, 0))]
    assert standings(2, first + half, 2) == standings(2, first, 2)
    assert crosstable(2, first + half, 2) == crosstable(2, first, 2)
    assert standings(2, first, 2)[0].points == 12
    whole = [*first, *half, result(1, (0, 0, 0), (1, 0, 0))]
    assert standings(2, whole, 2)[0].points == 102


@pytest.mark.parametrize("fold", [standings, crosstable])
def test_a_group_of_too_many_matches_is_refused(fold: type) -> None:
    with pytest.raises(ValueError, match="group 7 has 3 matches, not 2"):
        fold(2, [result(7, (0, 1, 0), (1, 0, 0))] * 3, 2)


def test_level_on_points_the_exact_bids_decide() -> None:
    lines = standings(2, [result(0, (0, 20, 3), (1, 20, 4))], 1)
    assert order(lines) == [(1, 1), (2, 0)]


def test_level_on_exact_bids_too_the_games_together_decide_between_two() -> None:
    played = [
        result(0, (0, 10, 1), (1, 20, 1)),
        result(1, (0, 20, 1), (2, 0, 0)),
        result(2, (1, 10, 1), (2, 5, 0)),
    ]
    assert order(standings(3, played, 1)) == [(1, 1), (2, 0), (3, 2)]


def test_level_in_their_games_together_two_share_the_place_and_the_next_is_left_out() -> None:
    played = [result(0, (0, 10, 1), (1, 20, 1), (2, 0, 0)), result(1, (1, 10, 1), (0, 20, 1), (2, 0, 0))]
    assert order(standings(3, played, 1)) == [(1, 0), (1, 1), (3, 2)]


def test_two_who_never_met_share_the_place() -> None:
    played = [result(0, (0, 10, 1), (2, 0, 0)), result(1, (1, 10, 1), (3, 0, 0))]
    assert order(standings(4, played, 1)) == [(1, 0), (1, 1), (3, 2), (3, 3)]


def among_three(ab: int, bc: int, ca: int) -> list[Result]:
    """Entrants 0, 1, 2 end level on points and bids; the leads are 0's over 1, 1's over 2, 2's over 0."""
    played = [
        result(0, (0, ab, 0), (1, 0, 0)),
        result(1, (1, bc, 0), (2, 0, 0)),
        result(2, (2, ca, 0), (0, 0, 0)),
    ]
    needed = [100 - ab, 100 - bc, 100 - ca]
    return played + [result(3 + i, (i, points, 0), (3, -500, 0)) for i, points in enumerate(needed)]


@pytest.mark.parametrize(
    ("leads", "expected"),
    [
        ((5, 5, -5), [(1, 0), (2, 1), (3, 2)]),  # a > b > c, a > c
        ((-5, -5, 5), [(1, 2), (2, 1), (3, 0)]),  # c > b > a, c > a
        ((5, 0, -5), [(1, 0), (2, 1), (2, 2)]),  # a ahead of both, b and c level
        ((0, 5, -5), [(1, 0), (1, 1), (3, 2)]),  # a and b level, both ahead of c
        ((5, 5, 5), [(1, 0), (1, 1), (1, 2)]),  # a circle
        ((5, 5, 0), [(1, 0), (1, 1), (1, 2)]),  # a > b > c, yet a and c level: no clear order
        ((5, 0, 0), [(1, 0), (1, 1), (1, 2)]),
        ((0, 0, 0), [(1, 0), (1, 1), (1, 2)]),
    ],
)
def test_among_three_the_games_together_decide_only_in_a_clear_order(
    leads: tuple[int, int, int], expected: list[tuple[int, int]]
) -> None:
    lines = standings(4, among_three(*leads), 1)
    assert [line.points for line in lines[:3]] == [100] * 3
    assert order(lines)[:3] == expected


def test_a_crosstable_counts_games_differences_and_better_places() -> None:
    played = [
        result(0, (2, 30, 5), (0, 20, 4), (1, 20, 4)),
        result(1, (0, 21, 1), (2, 10, 0), (1, 21, 3)),
        result(2, (1, 5, 1), (0, 15, 1)),
    ]
    assert crosstable(4, played, 1) == [
        Pair(0, 1, games=3, average_difference=10 / 3, wins_a=1, wins_b=1, ties=1),
        Pair(0, 2, games=2, average_difference=0.5, wins_a=1, wins_b=1, ties=0),
        Pair(0, 3, games=0, average_difference=None, wins_a=0, wins_b=0, ties=0),
        Pair(1, 2, games=2, average_difference=0.5, wins_a=1, wins_b=1, ties=0),
        Pair(1, 3, games=0, average_difference=None, wins_a=0, wins_b=0, ties=0),
        Pair(2, 3, games=0, average_difference=None, wins_a=0, wins_b=0, ties=0),
    ]


@st.composite
def some_results(draw: st.DrawFn) -> list[Result]:
    """Up to twelve groups of three rotations of a table of 3 out of 6; with few different scores."""
    results = []
    for group in range(draw(st.integers(0, 12))):
        table = draw(st.permutations(range(6)))[:3]
        for turn in range(draw(st.integers(1, 3))):
            seats = table[turn:] + table[:turn]
            scores = draw(st.tuples(*[st.tuples(st.integers(-1, 2), st.integers(0, 1))] * 3))
            results.append(result(group, *[(e, *score) for e, score in zip(seats, scores, strict=True)]))
    return results


@given(some_results(), st.randoms(use_true_random=False))
def test_the_order_of_results_changes_nothing(results: list[Result], rng: random.Random) -> None:
    shuffled = rng.sample(results, len(results))
    assert standings(6, shuffled, 3) == standings(6, results, 3)
    assert crosstable(6, shuffled, 3) == crosstable(6, results, 3)


@given(some_results())
def test_every_entrant_has_one_line_and_places_follow_points_and_exact_bids(results: list[Result]) -> None:
    lines = standings(6, results, 3)
    assert sorted(line.entrant for line in lines) == list(range(6))
    keys = [(-line.points, -line.exact_bids, line.place) for line in lines]
    assert keys == sorted(keys)
    for number, line in enumerate(lines):
        assert line.place == number + 1 or line.place == lines[number - 1].place
    for one, other in combinations(lines, 2):
        if (one.points, one.exact_bids) != (other.points, other.exact_bids):
            assert one.place < other.place


@given(some_results(), st.permutations(range(6)))
def test_places_do_not_depend_on_entrants_numbers(results: list[Result], names: list[int]) -> None:
    renamed = [replace(r, entrants=tuple(names[entrant] for entrant in r.entrants)) for r in results]
    places = {line.entrant: line.place for line in standings(6, results, 3)}
    assert {line.entrant: line.place for line in standings(6, renamed, 3)} == {
        names[entrant]: place for entrant, place in places.items()
    }


@given(some_results())
def test_the_crosstable_adds_up_to_the_standings(results: list[Result]) -> None:
    matches = {line.entrant: line.matches for line in standings(6, results, 3)}
    games = dict.fromkeys(range(6), 0)
    for pair in crosstable(6, results, 3):
        assert pair.games == pair.wins_a + pair.wins_b + pair.ties
        games[pair.a] += pair.games
        games[pair.b] += pair.games
    assert games == {entrant: 2 * count for entrant, count in matches.items()}
