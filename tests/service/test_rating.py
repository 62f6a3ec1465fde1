"""Ratings: figures worked out elsewhere, laws that hold for any games, and order that must not matter."""

import random
from collections.abc import Hashable
from dataclasses import replace
from itertools import combinations, pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.estimate import Estimate
from service.rating import Game, compare, elo, rank
from service.rating import fit as fit_tally
from service.tally import count


def fit(games: list[Game]) -> Estimate:
    return fit_tally(count(games))


EXAMPLE = [
    Game(1, ("A", "B", "C"), (1, 2, 3)),
    Game(1, ("B", "A", "C"), (1, 2, 2)),
    Game(1, ("A", "C", "B"), (1, 2, 3)),
    Game(2, ("A", "D"), (1, 2)),
    Game(2, ("A", "D"), (1, 2)),
    Game(3, ("B", "A", "D", "C"), (1, 2, 3, 4)),
]


@pytest.mark.parametrize(
    ("player", "rating", "half_width"),
    [
        ("A", 1631.3644, 245.168),
        ("B", 1568.1319, 259.042),
        ("C", 1397.6613, 263.501),
        ("D", 1402.8424, 285.485),
    ],
)
def test_the_worked_example_is_rated_as_published(player: str, rating: float, half_width: float) -> None:
    line = {rated.player: rated for rated in elo(EXAMPLE)}[player]
    assert line.exact == pytest.approx(rating, abs=1e-4)
    assert line.half_width == pytest.approx(half_width, abs=1e-3)
    assert line.rating == round(rating, 2)
    assert line.margin is not None and line.margin < half_width
    ends = [rating - line.margin, rating + line.margin]
    assert [line.low, line.high] == pytest.approx(ends, abs=0.006)


@pytest.mark.parametrize(
    ("a", "b", "difference", "se", "better"),
    [
        ("A", "B", 63.2326, 125.5658, 0.6927),
        ("A", "D", 228.5220, 148.5612, 0.9380),
        ("B", "C", 170.4706, 137.2572, 0.8929),
        ("C", "D", -5.1811, 166.8645, 0.4876),
        ("A", "C", 233.7031, 132.4945, None),
        ("B", "D", 165.2895, 165.4623, None),
    ],
)
def test_the_worked_example_is_compared_as_published(
    a: str, b: str, difference: float, se: float, better: float | None
) -> None:
    pair = compare(EXAMPLE, a, b)
    assert pair.difference == pytest.approx(difference, abs=1e-4)
    assert pair.se == pytest.approx(se, abs=1e-4)
    assert [pair.low, pair.high] == pytest.approx([difference - 1.96 * se, difference + 1.96 * se], abs=1e-3)
    if better is not None:
        assert pair.p_better == pytest.approx(better, abs=5e-5)


def test_the_worked_example_counts_games_groups_and_scatter() -> None:
    found = fit(EXAMPLE)
    assert found.told["raw_phi"] == pytest.approx(0.368858, abs=5e-7)
    assert found.told["phi"] == pytest.approx(0.621315, abs=5e-7)
    assert found.ratings.mean() == pytest.approx(1500, abs=1e-9)
    assert {r.player: (r.games, r.groups) for r in elo(EXAMPLE)} == {
        "A": (6, 3),
        "B": (4, 2),
        "C": (4, 2),
        "D": (3, 2),
    }
    assert (compare(EXAMPLE, "A", "B").games, compare(EXAMPLE, "A", "B").score) == (4, 0.5)
    assert (compare(EXAMPLE, "B", "D").games, compare(EXAMPLE, "B", "D").score) == (1, 1.0)


def test_lines_come_best_first_those_with_a_rank_compared_with_the_next() -> None:
    assert [line.player for line in elo(EXAMPLE)] == ["A", "B", "D", "C"]
    assert {(line.rank, line.p_better_next) for line in elo(EXAMPLE)} == {(None, None)}
    games = tournament(4, groups=600)
    found = fit(games)
    third = found.rated()[2].player
    lines = [line for line in found.rated(unranked={third}) if line.rank]
    for line, below in pairwise(lines):
        better = found.compare(line.player, below.player).p_better
        assert line.p_better_next == pytest.approx(better, abs=5e-5)
    assert lines[-1].p_better_next is None


# Laws


def games_of(players: list[int | str], *, groups: int = 6) -> st.SearchStrategy[list[Game]]:
    """Up to 30 games at tables of 2 to 5, in groups of one table each, ties included."""

    @st.composite
    def some(draw: st.DrawFn) -> list[Game]:
        table = st.lists(st.sampled_from(players), min_size=2, max_size=5, unique=True)
        tables = draw(st.lists(table, min_size=groups + 1, max_size=groups + 1))
        return [
            _drawn(draw, group, tables[group])
            for group in draw(st.lists(st.integers(0, groups), max_size=30))
        ]

    return some()


def _drawn(draw: st.DrawFn, group: int, table: list[int | str]) -> Game:
    seated = draw(st.permutations(table))
    several = {"min_size": len(table), "max_size": len(table)}
    ranks = draw(st.lists(st.integers(1, 5), **several))
    points = draw(st.lists(st.integers(-90, 90), **several))
    out = draw(st.lists(st.booleans(), **several))
    return Game(group, tuple(seated), tuple(ranks), tuple(points), tuple(out))


some_games = games_of(["a", "b", "c", "d", "e", "f", "g"])


def bits(games: list[Game]) -> list[bytes | str]:
    found = fit(games)
    arrays = (found.ratings, found.covariance, found.games, found.groups, found.half_points)
    return [
        *(array.tobytes() for array in arrays),
        repr(found.players),
        repr(found.told),
        repr(found.rated()),
    ]


@settings(deadline=None)
@given(some_games, st.randoms(use_true_random=False))
def test_the_order_of_games_changes_no_byte(games: list[Game], rng: random.Random) -> None:
    shuffled = list(games)
    rng.shuffle(shuffled)
    assert bits(shuffled) == bits(games)


@settings(deadline=None)
@given(some_games, st.permutations(range(7)))
def test_the_numbering_of_groups_changes_no_byte(games: list[Game], numbers: list[int]) -> None:
    number: dict[Hashable, int] = dict(enumerate(numbers))
    renumbered = [replace(game, group=("another", number[game.group])) for game in games]
    assert bits(renumbered) == bits(games)


@settings(deadline=None)
@given(some_games, st.randoms(use_true_random=False))
def test_seats_change_no_byte(games: list[Game], rng: random.Random) -> None:
    reseated = []
    for game in games:
        seats = rng.sample(range(len(game.players)), len(game.players))
        columns = (game.players, game.ranks, game.points, game.out)
        reseated.append(Game(game.group, *(tuple(column[s] for s in seats) for column in columns)))  # type: ignore[arg-type]
    assert bits(reseated) == bits(games)


def tournament(seed: int, *, players: int = 8, groups: int = 60, seats: int = 4) -> list[Game]:
    """Duplicate deals among bots whose strengths step by 60; a deal favours its seats in all rotations."""
    rng = np.random.default_rng(seed)
    games = []
    for group in range(groups):
        table = rng.choice(players, seats, replace=False)
        cards = rng.normal(0, 150, seats)
        for turn in range(seats):
            seated = np.roll(table, turn)
            score = np.round((-60.0 * seated + cards + rng.normal(0, 150, seats)) / 40)
            games.append(Game((seed, group), tuple(map(int, seated)), rank(score.tolist(), [0] * seats)))
    return games


def test_a_whole_tournament_in_twenty_finish_orders_gives_the_same_bytes() -> None:
    games = tournament(1, players=12, groups=400)
    expected = bits(games)
    for seed in range(20):
        random.Random(seed).shuffle(games)
        assert bits(games) == expected


def test_which_games_share_a_group_does_matter() -> None:
    games = tournament(2)
    alone = [replace(game, group=i) for i, game in enumerate(games)]
    mixed = [replace(game, group=tuple(sorted(game.players))) for game in games]
    assert fit(alone).ratings.tobytes() == fit(games).ratings.tobytes() == fit(mixed).ratings.tobytes()
    widths = [tuple(line.half_width for line in elo(each)) for each in (games, alone, mixed)]
    assert len(set(widths)) == 3


def test_one_game_more_changes_the_ratings() -> None:
    games = tournament(3)
    assert fit(games).ratings.tobytes() != fit(games[:-1]).ratings.tobytes()


def expected_share(a: float, b: float) -> float:
    return 1 / (1 + 10 ** ((b - a) / 400))


@settings(deadline=None)
@given(some_games.filter(bool))
def test_a_rating_is_where_won_and_expected_points_balance(games: list[Game]) -> None:
    """The fixed point of Elo: over all games, points above expectation equal the pull of the prior."""
    found = fit(games)
    rating = dict(zip(found.players, found.ratings.tolist(), strict=True))
    surplus = dict.fromkeys(found.players, 0.0)
    for game in games:
        for a, rank_a in zip(game.players, game.ranks, strict=True):
            for b, rank_b in zip(game.players, game.ranks, strict=True):
                if a != b:
                    won = 1.0 if rank_a < rank_b else 0.5 if rank_a == rank_b else 0.0
                    surplus[a] += 2 / len(game.players) * (won - expected_share(rating[a], rating[b]))
    q = log(10) / 400
    for player in found.players:
        assert surplus[player] == pytest.approx((rating[player] - 1500) / q / 200**2, abs=1e-9)


@settings(deadline=None)
@given(some_games)
def test_the_mean_is_1500_and_variances_are_positive(games: list[Game]) -> None:
    found = fit(games)
    if games:
        assert found.ratings.mean() == pytest.approx(1500, abs=1e-9)
        assert np.linalg.eigvalsh(found.covariance).min() > 0
    assert len(elo(games)) == len({player for game in games for player in game.players})


@settings(deadline=None)
@given(some_games)
def test_turning_all_results_round_turns_the_ratings_round(games: list[Game]) -> None:
    turned = [replace(game, ranks=tuple(-r for r in game.ranks)) for game in games]
    assert fit(turned).ratings - 1500 == pytest.approx(1500 - fit(games).ratings, abs=1e-9)
    assert fit(turned).covariance == pytest.approx(fit(games).covariance, abs=1e-6)


@settings(deadline=None)
@given(some_games.filter(bool))
def test_covariance_follows_the_published_formula(games: list[Game]) -> None:
    """Written out again, loop by loop, with dense vectors."""
    found = fit(games)
    n, q, tau = len(found.players), log(10) / 400, 1 / (log(10) / 400 * 200) ** 2
    number = {player: i for i, player in enumerate(found.players)}
    u = {game.group: np.zeros(n) for game in games}
    h0 = np.zeros((n, n))
    played = {game.group: np.zeros(n) for game in games}
    for game in games:
        weight = 2 / len(game.players)
        for a, rank_a in zip(game.players, game.ranks, strict=True):
            played[game.group][number[a]] = 1
            for b, rank_b in zip(game.players, game.ranks, strict=True):
                if a != b:
                    i, j = number[a], number[b]
                    p = expected_share(found.ratings[i], found.ratings[j])
                    u[game.group][i] += weight * ((rank_a < rank_b) + (rank_a == rank_b) / 2 - p)
                    h0[i, i] += weight * p * (1 - p)
                    h0[i, j] -= weight * p * (1 - p)
    c = len(u)
    trust, phi, scatter = np.zeros(n), 1.0, np.zeros((n, n))
    if c > 1:
        scatter = c / (c - 1) * sum((np.outer(each, each) for each in u.values()), scatter)
        phi = (c * np.trace(scatter) / np.trace(h0) + 2) / (c + 2)
        counts = sum(played.values(), trust)
        trust = counts / (counts + 10)
    d, e = np.diag(np.sqrt(trust)), np.diag(np.sqrt(1 - trust))
    h = h0 + tau * np.eye(n)
    meat = d @ scatter @ d + phi * e @ h0 @ e + tau * np.eye(n)
    assert found.covariance == pytest.approx(np.linalg.inv(h) @ meat @ np.linalg.inv(h) / q**2, rel=1e-7)


# The edges


def test_no_games_rate_nobody() -> None:
    assert elo([]) == []
    assert fit([]).players == ()


def test_eight_wins_at_four_seats_stay_finite() -> None:
    lines = elo(Game(group, ("x", "y", "z", "w"), (1, 2, 3, 4)) for group in range(8))
    assert lines[0].player == "x"
    assert round(lines[0].exact) == 1812


def test_an_undefeated_player_stays_finite_after_a_million_games() -> None:
    lines = elo([Game(0, ("strong", "weak"), (1, 2))] * 1_000_000)
    assert lines[0].exact + lines[1].exact == pytest.approx(3000, abs=1e-6)
    assert 2000 < lines[0].exact < 3000


def test_islands_each_have_the_mean_of_1500_and_stay_provisional() -> None:
    east = [Game(i, ("a", "b"), (1 + (i % 4 == 0), 2 - (i % 4 == 0))) for i in range(2000)]
    west = [Game(-1 - i, ("c", "d"), (1, 1)) for i in range(2000)]
    lines = {line.player: line for line in elo(east + west)}
    assert lines["a"].exact + lines["b"].exact == pytest.approx(3000, abs=1e-6)
    assert lines["a"].exact - lines["b"].exact == pytest.approx(400 * log(3) / log(10), abs=0.5)
    assert (lines["c"].rating, lines["d"].rating) == (1500, 1500)
    assert all(line.provisional for line in lines.values())
    assert not any(line.provisional for line in elo(east))
    assert compare(east + west, "a", "c").games == 0
    assert compare(east + west, "a", "c").score is None
    assert compare(east + west, "a", "c").se > 190 > 20 > compare(east + west, "a", "b").se


def test_a_single_group_has_the_models_own_interval() -> None:
    games = [replace(game, group=0) for game in tournament(4, players=4)]
    found = fit(games)
    assert (found.told["raw_phi"], found.told["phi"]) == (1.0, 1.0)
    assert all(line.provisional and line.groups == 1 for line in elo(games))
    q, tau = log(10) / 400, 1 / (log(10) / 400 * 200) ** 2
    information = np.linalg.inv(found.covariance * q**2)  # H exactly, if the meat is H too
    assert information.sum(axis=1) == pytest.approx(tau, rel=1e-6)


def test_all_ties_leave_everyone_at_1500_in_order_of_their_names() -> None:
    lines = elo(Game(group, ("c", "a", "b"), (1, 1, 1)) for group in range(400))
    assert [(line.player, line.rating, line.p_better_next) for line in lines] == [
        ("a", 1500, 0.5),
        ("b", 1500, 0.5),
        ("c", 1500, None),
    ]
    assert [(line.rank, line.rank_range) for line in lines] == [(1, (1, 3))] * 3


def test_fewer_than_ten_groups_are_provisional_whatever_the_margin() -> None:
    def games(groups: int) -> list[Game]:
        return [Game(i % groups, ("a", "b"), (1 + i // groups % 2, 2 - i // groups % 2)) for i in range(1980)]

    assert [line.provisional for line in elo(games(9))] == [True, True]
    assert [line.provisional for line in elo(games(10))] == [False, False]


def test_a_margin_over_60_is_provisional_whatever_the_groups() -> None:
    lines = elo(Game(i, ("a", "b"), (1 + i % 2, 2 - i % 2)) for i in range(12))
    assert all(line.groups == 12 and line.margin > 60 and line.provisional for line in lines)
    assert not any(line.provisional for line in elo(tournament(5, groups=600)))


def test_the_best_of_a_pool_is_not_left_out_for_being_far_from_the_middle() -> None:
    rng, games = np.random.default_rng(1), []
    for group in range(12):
        for number, table in enumerate(combinations(range(8), 4)):
            order = sorted(rng.permutation(table).tolist(), key=lambda player: player != 7)
            games.append(Game((group, number), tuple(order), (1, 2, 3, 4)))
    lines = elo(games)
    assert (lines[0].player, lines[0].rank) == (7, 1)
    assert lines[0].margin > 60 > max(line.margin for line in lines[1:])


def test_the_provisional_are_listed_without_a_rank() -> None:
    games = [*tournament(6, groups=600), *(Game(("late", i), ("newcomer", 0), (1, 2)) for i in range(3))]
    lines = elo(games)
    assert lines[0].player == "newcomer"
    assert (lines[0].rank, lines[0].rank_range, lines[0].provisional) == (None, None, True)
    assert [line.rank for line in lines[1:]] == list(range(1, 9))


def test_the_retired_leave_the_numbering_but_keep_their_rating() -> None:
    games = tournament(7, groups=600)
    whole, without = elo(games), fit(games).rated({whole_best := elo(games)[0].player})
    assert [line.exact for line in whole] == [line.exact for line in without]
    assert (without[0].player, without[0].rank, without[0].provisional) == (whole_best, None, False)
    assert [line.rank for line in without[1:]] == list(range(1, 8))


def test_rank_ranges_count_those_certainly_better_and_worse() -> None:
    games = tournament(8, groups=600)
    found, lines = fit(games), elo(games)
    ranked = [line.player for line in lines if line.rank]
    assert len(ranked) == 8
    for line in lines:
        others = [found.compare(other, line.player) for other in ranked if other != line.player]
        first, last = 1 + sum(o.low > 0 for o in others), len(ranked) - sum(o.high < 0 for o in others)
        assert line.rank_range == (first, last)
        assert first <= (line.rank or 0) <= last
    assert lines[0].rank_range == (1, 1)


def test_margin_leaves_out_what_no_game_can_tell() -> None:
    lines = elo(tournament(9, groups=2000))
    floor = 1.96 * 200 / 8**0.5
    assert all(floor < line.half_width < floor + 2 for line in lines)
    assert all(line.margin < 15 for line in lines)


def test_strengths_are_recovered_in_order_and_distance() -> None:
    lines = elo(tournament(10, groups=2000))
    assert [line.player for line in lines] == list(range(8))
    gaps = [line.exact - below.exact for line, below in pairwise(lines)]
    assert max(gaps) - min(gaps) < 40


@pytest.mark.parametrize(
    ("players", "ranks", "text"),
    [
        (("a",), (1,), "two players or more"),
        ((), (), "two players or more"),
        (("a", "b"), (1,), "a rank for each"),
        (("a", "b", "a"), (1, 2, 3), "sits twice"),
        (("a", "b"), (1, 2), "a group has one table"),
    ],
)
def test_a_game_that_is_none_is_refused(players: tuple[str, ...], ranks: tuple[int, ...], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        elo([*EXAMPLE, Game(3 if "one table" in text else 9, players, ranks)])


def test_comparing_needs_two_known_players() -> None:
    with pytest.raises(ValueError, match="with itself"):
        compare(EXAMPLE, "A", "A")
    with pytest.raises(KeyError):
        compare(EXAMPLE, "A", "nobody")


@pytest.mark.parametrize(
    ("scores", "exact", "ranks"),
    [
        ((30, 20, 10), (0, 5, 9), (1, 2, 3)),
        ((10, 20, 20, 30), (0, 4, 5, 0), (4, 3, 2, 1)),
        ((20, 20, 10, 20), (3, 3, 9, 1), (1, 1, 4, 3)),
        ((-5, -5), (2, 2), (1, 1)),
        ((), (), ()),
    ],
)
def test_ranks_go_by_score_then_exact_bids(
    scores: tuple[int, ...], exact: tuple[int, ...], ranks: tuple[int, ...]
) -> None:
    assert rank(scores, exact) == ranks
