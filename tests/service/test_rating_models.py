"""The other models: figures worked out elsewhere, laws, and orders that must not matter to any."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pytest

from service import rating, rating_classic, rating_points
from service.rating_models import MODELS
from service.tally import Game, Player, Tally, count


def league(seed: int = 1, *, players: int = 8, deals: int = 80, seats: int = 4) -> list[Game]:
    """Duplicate deals of bots a constant number of points apart; a deal favours a seat in all rotations."""
    rng = np.random.default_rng(seed)
    games = []
    for deal in range(deals):
        table, cards = rng.choice(players, seats, replace=False), rng.normal(0, 15, seats)
        for turn in range(seats):
            who = np.roll(table, turn)
            points = np.round(40 - 4 * who + cards + rng.normal(0, 15, seats)).astype(int).tolist()
            games.append(Game(deal, tuple(who.tolist()), rating.rank(points, [0] * seats), tuple(points)))
    return games


@dataclass(frozen=True)
class Played:
    """Results as models ask for them."""

    games: Sequence[Game]

    def tally(self) -> Tally:
        return count(self.games)

    def rounds(self) -> list[list[Game]]:
        ordered = sorted(self.games, key=lambda game: game.group)
        return [list(games) for _, games in groupby(ordered, key=lambda game: game.group)]

    def replayed(self) -> dict[Player, float]:
        return rating_classic.replay(self.rounds())


def test_classic_elo_gives_the_worked_example() -> None:
    before = {"A": 1500.0, "B": 1600.0, "C": 1400.0, "D": 1500.0, "E": 1500.0}
    tables = [Game(1, ("A", "B", "C", "D"), (1, 2, 2, 4)), Game(2, ("E", "A", "D"), (1, 2, 2))]
    after = rating_classic.replay([tables], before)
    expected = {"A": 1508.0000, "B": 1594.2413, "C": 1405.7587, "D": 1476.0000, "E": 1516.0000}
    assert {player: round(value, 4) for player, value in after.items()} == expected
    assert sum(after.values()) == pytest.approx(sum(before.values()), abs=1e-9)


def test_classic_elo_starts_at_1500_and_gives_what_it_takes() -> None:
    after = rating_classic.replay(Played(league()).rounds())
    assert sum(after.values()) / len(after) == pytest.approx(1500, abs=1e-9)
    assert after[0] > 1500 > after[7]
    assert rating_classic.replay([[Game(1, ("a", "b"), (1, 2))]]) == {"a": 1516.0, "b": 1484.0}


@pytest.mark.parametrize("seed", range(5))
def test_classic_elo_that_is_remembered_is_what_a_replay_gives(seed: int) -> None:
    dice, memory = random.Random(seed), rating_classic.Memory()
    played = {str(n): Played(league(n, deals=1)).rounds() for n in range(200)}
    listed: list[str] = []
    read: list[str] = []

    def rounds(name: str) -> list[list[Game]]:
        read.append(name)
        return played[name]

    for n in range(200):  # mostly the next one ends, now and then one that began long ago
        listed.insert(len(listed) if dice.random() < 0.9 else dice.randrange(len(listed) + 1), str(n))
        if n % 9 == 0:
            found = memory.replay(listed, rounds)
            assert found == rating_classic.replay([each for name in listed for each in played[name]])
    assert len(memory.after) <= rating_classic.NEAR + 200 // rating_classic.FAR
    memory.replay(listed, rounds)
    read.clear()
    memory.replay([*listed, "0"], rounds)
    assert read == ["0"], "a further one costs no more than itself"


def test_points_are_the_least_squares_of_each_tables_differences() -> None:
    games = league(2, deals=30)
    found = rating_points.fit(count(games))
    rows, made = [], []
    for game in games:
        mean = sum(game.points) / len(game.points)
        for player, points in zip(game.players, game.points, strict=True):
            row = np.zeros(8)
            row[list(game.players)] -= 1 / len(game.players)
            row[player] += 1
            rows.append(row)
            made.append(points - mean)
    expected = np.linalg.lstsq(np.array(rows), np.array(made), rcond=None)[0]
    assert found.ratings == pytest.approx(expected - expected.mean(), abs=1e-9)
    inverse, meat = np.linalg.pinv(np.array(rows).T @ np.array(rows)), np.zeros((8, 8))
    residual = (np.array(made) - np.array(rows) @ found.ratings)[:, None] * np.array(rows)
    deals = [game.group for game in games for _ in game.players]
    for deal in set(deals):
        u = residual[[each == deal for each in deals]].sum(axis=0)
        meat += np.outer(u, u)
    assert found.covariance == pytest.approx(inverse @ (meat * 30 / 29) @ inverse, abs=1e-9)


def test_points_cover_the_truth_and_leave_islands_provisional() -> None:
    lines = rating_points.fit(count(league(3, deals=600))).rated()
    assert [line.player for line in lines] == list(range(8))
    assert all(abs(line.exact - (14 - 4 * int(line.player))) < 2 * (line.margin or 0) for line in lines)
    assert not any(line.provisional for line in lines)
    others = [Game(("b", each.group), tuple(p + 100 for p in each.players), each.ranks, each.points)
              for each in league(4, deals=600)]  # fmt: skip
    apart = rating_points.fit(count([*league(3, deals=600), *others]))
    assert all(line.provisional for line in apart.rated())
    within, between = apart.compare(0, 1), apart.compare(0, 100)
    assert within.se is not None and between.se is not None
    assert within.se < 2 and between.se > 1000


@pytest.mark.parametrize("name", MODELS)
def test_no_order_of_results_changes_a_byte_of_any_model(name: str) -> None:
    games = league(5)
    first = MODELS[name].rate(Played(games))
    for seed in range(20):
        random.Random(seed).shuffle(games)
        again = MODELS[name].rate(Played(games))
        assert again.ratings.tobytes() == first.ratings.tobytes()
        assert repr(again.rated()) == repr(first.rated())


def test_a_model_without_intervals_says_so() -> None:
    made = MODELS["elo_classic"].rate(Played(league(6)))
    line = made.rated()[0]
    assert (line.low, line.high, line.rank_range, line.p_better_next) == (None, None, None, None)
    assert (line.rank, line.provisional) == (1, False)
    pair = made.compare(0, 7)
    assert (pair.se, pair.p_better) == (None, None) and pair.difference > 0 and pair.games > 0


def test_the_models_agree_on_who_is_good() -> None:
    for model in MODELS.values():
        lines = model.rate(Played(league(7, deals=300))).rated()
        assert {line.player for line in lines[:3]} <= {0, 1, 2, 3}
        assert {line.player for line in lines[-3:]} <= {4, 5, 6, 7}
