"""How often the sequential test errs, and how many games it takes, over simulated tests.

    python -m loadtests.sprt_errors [TESTS]

Bots' strengths, hands and luck are normal: of a match's points the hand makes about as much as play's chance.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

from service.sprt import Hypotheses, Trial, expected, pair_score, trial

CAP = 20_000
HAND, CHANCE = 10.0, 11.0  # standard deviations, points


@dataclass(frozen=True, slots=True)
class Match:
    """A and B at tables of `seats`, alternately, by duplicate deals or each game on cards of its own."""

    seats: int
    duplicate: bool = True

    def scores(self, points: float, dice: random.Random) -> Iterator[float]:
        """Scores of one deal group after the other; A makes `points` more."""
        while True:
            hands = self._hands(dice)
            first = self._game(hands, 0, points, dice)
            second = self._game(hands if self.duplicate else self._hands(dice), 1, points, dice)
            yield (first + second) / 2

    def _hands(self, dice: random.Random) -> list[float]:
        return [dice.gauss(0, HAND) for _ in range(self.seats)]

    def _game(self, hands: list[float], first: int, points: float, dice: random.Random) -> float:
        mine = [seat % 2 == first for seat in range(self.seats)]
        got = [
            round(hand + dice.gauss(0, CHANCE) + points * ours)
            for hand, ours in zip(hands, mine, strict=True)
        ]
        places = [1 + sum(other > each for other in got) for each in got]
        a = [place for place, ours in zip(places, mine, strict=True) if ours]
        b = [place for place, ours in zip(places, mine, strict=True) if not ours]
        return pair_score(a, b)


def points_for(elo: float) -> float:
    """How many points more make the score of that Elo, for differences of two such normals."""
    return NormalDist(0, ((HAND**2 + CHANCE**2) * 2) ** 0.5).inv_cdf(expected(elo))


def run(match: Match, told: Hypotheses, truth: float, tests: int, *, seed: int = 1) -> list[Trial]:
    """So many tests of two bots that are `truth` Elo apart."""
    dice = random.Random(f"{seed} {match} {truth}")
    points = points_for(truth)
    return [trial(match.scores(points, dice), told, CAP) for _ in range(tests)]


def main(tests: int) -> None:
    """A line for each kind of test."""
    print(f"{tests} tests each; bounds 5 %; games = 2 a deal")
    heads = f"{'wrongly accepted':>17} {'wrongly rejected':>17} {'mean games':>17}"
    print(f"{'seats':>5} {'elo1':>5} {'deals':>11} {heads}")
    for seats, elo1 in ((2, 24.0), (4, 43.0)):
        for duplicate in (True, False):
            told, match = Hypotheses(0.0, elo1), Match(seats, duplicate)
            null, true = (run(match, told, truth, tests) for truth in (0.0, elo1))
            wrong = Counter(each.verdict for each in null)["accepted"] / tests
            missed = Counter(each.verdict for each in true)["rejected"] / tests
            games = " / ".join(
                f"{2 * sum(each.groups for each in trials) / tests:.0f}" for trials in (null, true)
            )
            kind = "duplicate" if duplicate else "independent"
            print(f"{seats:>5} {elo1:>5.0f} {kind:>11} {wrong:>16.1%} {missed:>17.1%} {games:>17}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
