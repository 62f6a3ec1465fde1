"""Counts: whole numbers that say of games what a loop over them says, however they were added up."""

import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service import tally
from service.tally import Game, Tables, Tally, count, merged, pairs, squares, width


@st.composite
def some_games(draw: st.DrawFn) -> list[Game]:
    """Deals of one to four games, each deal at one table of two to five of seven players."""
    games = []
    for group in range(draw(st.integers(1, 8))):
        table = draw(st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=5, unique=True))
        several: dict[str, Any] = {"min_size": len(table), "max_size": len(table)}
        for _ in range(draw(st.integers(1, 4))):
            ranks, points = (
                draw(st.lists(st.integers(1, 5), **several)),
                draw(st.lists(st.integers(-90, 90), **several)),
            )
            out = draw(st.lists(st.booleans(), **several))
            games.append(
                Game(group, tuple(draw(st.permutations(table))), tuple(ranks), tuple(points), tuple(out))
            )
    return games


def table_of(told: Tally, k: int) -> Tables:
    return next(each for each in told.tables if each.k == k)


@settings(deadline=None)
@given(some_games())
def test_counts_are_those_of_a_loop_over_the_games(games: list[Game]) -> None:
    told = count(games)
    place = {player: i for i, player in enumerate(told.players)}
    taken, played, out = np.zeros((len(place),) * 2), dict.fromkeys(place, 0), dict.fromkeys(place, 0)
    for game in games:
        for (a, rank_a), (b, rank_b) in combinations(zip(game.players, game.ranks, strict=True), 2):
            half = 2 * (rank_a < rank_b) + (rank_a == rank_b)
            taken[place[a], place[b]] += half
            taken[place[b], place[a]] += 2 - half
        for player, gone in zip(game.players, game.out, strict=True):
            played[player] += 1
            out[player] += gone
    assert (told.half_points() == taken).all()
    assert told.seated("matches").tolist() == list(played.values())
    assert told.seated("out").tolist() == [out[player] for player in told.players]
    assert (told.matches, told.groups) == (len(games), len({game.group for game in games}))


@settings(deadline=None)
@given(some_games())
def test_moments_are_sums_over_the_deals(games: list[Game]) -> None:
    told = count(games)
    for k in {len(game.players) for game in games}:
        table, found = table_of(told, k), {}
        for group in {game.group for game in games if len(game.players) == k}:
            x, half, m = np.zeros(k, np.int64), np.zeros(k, np.int64), 0
            for game in (game for game in games if game.group == group):
                seats = sorted(zip(game.players, game.points, game.ranks, strict=True))
                made = np.array([points for _, points, _ in seats])
                x, m = x + k * made - made.sum(), m + 1
                half += [sum(2 * (r < o) + (r == o) for _, _, o in seats) - 1 for _, _, r in seats]
            key = tuple(seat[0] for seat in seats)
            sums = found.setdefault(key, [0] * 6)
            for at, value in enumerate((x, m * x, np.outer(x, x), m * half, np.outer(half, half), m * m)):
                sums[at] = sums[at] + value
        assert [tuple(told.players[seat] for seat in row) for row in table.seats] == sorted(found)
        for row, key in enumerate(sorted(found)):
            x, mx, xx, mh, hh, mm = found[key]
            assert (table.points.total[row] == x).all() and (table.points.weighted[row] == mx).all()
            assert table.points.products[row].tolist() == [xx[i, j] for i, j in squares(k)]
            assert (table.half.weighted[row] == mh).all() and table.squares[row] == mm
            assert table.half.products[row].tolist() == [hh[i, j] for i, j in squares(k)]


def test_deals_counted_apart_add_up_to_the_same_bytes() -> None:
    rng = np.random.default_rng(3)
    seats = np.repeat(np.argsort(rng.random((200, 9)), axis=1)[:, :4], 4, axis=0)
    ranks, points = rng.integers(1, 5, seats.shape), rng.integers(-50, 90, seats.shape)
    deals = np.repeat(np.arange(200), 4)
    whole = tally.tables(seats, ranks, deals, points=points, players=9)
    cuts = [np.isin(deals, part) for part in np.array_split(rng.permutation(200), 7)]
    parts = [tally.tables(seats[c], ranks[c], deals[c], points=points[c], players=9) for c in cuts]
    random.Random(1).shuffle(parts)
    again = merged(9, parts)
    assert (again.seats.tolist(), again.sums.tolist()) == (whole.seats.tolist(), whole.sums.tolist())


def test_many_players_at_large_tables_are_told_apart() -> None:
    """Where a table's players are too many to be written as one number of 62 bits."""
    rng = np.random.default_rng(5)
    seats = np.sort(np.argsort(rng.random((60, 400)), axis=1)[:, :11], axis=1)
    seats = np.concatenate([seats, seats[:20]])
    found = tally.tables(seats, np.tile(np.arange(1, 12), (80, 1)), np.arange(80), players=400)
    assert [tuple(row) for row in found.seats.tolist()] == sorted({tuple(row) for row in seats.tolist()})
    assert found.groups.sum() == 80 and sorted(found.groups.tolist()) == [1] * 40 + [2] * 20


@pytest.mark.parametrize(("k", "numbers"), [(2, 18), (4, 45), (11, 234)])
def test_a_table_is_kept_in_few_numbers(k: int, numbers: int) -> None:
    assert width(k) == numbers
    assert (len(pairs(k)), len(squares(k))) == (k * (k - 1) // 2, k * (k + 1) // 2)
