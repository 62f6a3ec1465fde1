"""Ratings beside those of libraries that others keep: choix (Bradley-Terry) and evalica (Elo and friends)."""

from math import log
from typing import Any

import numpy as np
import pytest

from service import rating
from service.tally import Game, count

choix: Any = pytest.importorskip("choix")
evalica: Any = pytest.importorskip("evalica")

ELO = 400 / log(10)
BOTS = 12


def duels(*, ties: bool) -> list[Game]:
    """Two-player games, each on cards of its own, among bots of different strength."""
    rng, games = np.random.default_rng(4), []
    strength = rng.normal(0, 100, BOTS)
    for number in range(3000):
        a, b = rng.choice(BOTS, 2, replace=False).tolist()
        if ties and rng.random() < 0.2:
            ranks = (1, 1)
        else:
            won = rng.random() < 1 / (1 + 10 ** ((strength[b] - strength[a]) / 400))
            ranks = (1, 2) if won else (2, 1)
        games.append(Game(number, (a, b), ranks))
    return games


@pytest.fixture(autouse=True)
def no_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others have none."""
    monkeypatch.setattr(rating, "PRIOR", 1e-7)


def test_duels_are_rated_as_choix_rates_them() -> None:
    found = rating.fit(count(games := duels(ties=False)))
    won = [game.players if game.ranks == (1, 2) else game.players[::-1] for game in games]
    theirs = choix.ilsr_pairwise(BOTS, won, alpha=0, tol=1e-12, max_iter=1000)
    assert found.ratings == pytest.approx(1500 + ELO * (theirs - theirs.mean()), abs=1e-3)


def test_duels_with_ties_are_rated_as_evalica_rates_them() -> None:
    found = rating.fit(count(games := duels(ties=True)))
    x, y = ([str(game.players[side]) for game in games] for side in (0, 1))
    winner = {(1, 2): evalica.Winner.X, (2, 1): evalica.Winner.Y, (1, 1): evalica.Winner.Draw}
    told = evalica.bradley_terry(x, y, [winner[game.ranks] for game in games], tolerance=1e-12, limit=10_000)
    theirs = np.log([told.scores[str(player)] for player in found.players])
    assert found.ratings == pytest.approx(1500 + ELO * (theirs - theirs.mean()), abs=1e-3)
