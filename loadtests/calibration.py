"""Are the intervals honest? Thousands of made-up tournaments of bots whose true strength is known.

    python -m loadtests.calibration                     # the whole table, some minutes
    python -m loadtests.calibration --tournaments 100

Everybody's luck in a match is Gumbel's, so that each pair's true odds are those of the model exactly. With
duplicate deals the luck of a seat's cards is the same in all rotations of a deal: a positive stable variable
shared by them (as in nested logit) leaves each match as it is and makes the matches of a deal alike.

The control is Bradley and Terry's model as one would write it down first: every pair counts 1, and the
inverse curvature is taken for the covariance. It must fail, or passing would mean nothing. Exits with 1 if a
scenario is off, or the control is not.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from service import rating
from service.estimate import Estimate
from service.tally import Floats, Ints, Tally, tables

BOTS, SPREAD = 12, 80.0  # Elo, standard deviation of the true strengths
ALIKE = (
    0.8  # of a positive stable variable; two matches on one deal have 1 - ALIKE ** 2 of their luck in common
)
SURE, LESS_SURE = (0.93, 0.97), (0.92, 0.98)  # what counts as 95 %: the latter with few games


@dataclass(frozen=True, slots=True)
class Scenario:
    """Tournaments of one kind: seats, matches a bot, and whether a deal is played from every seat."""

    k: int
    games: int
    duplicate: bool
    newcomer: bool = False

    @property
    def name(self) -> str:
        kind = "duplicate" if self.duplicate else "single"
        return f"k={self.k} {self.games:>3} games {kind:<9} {'newcomer' if self.newcomer else ''}".rstrip()

    @property
    def limits(self) -> tuple[float, float]:
        return LESS_SURE if self.newcomer or self.games < 64 else SURE


@dataclass(slots=True)
class Covered:
    """How often truth lay inside, of how many intervals; widths are added up."""

    inside: int = 0
    whole: int = 0
    pairs_inside: int = 0
    pairs: int = 0
    published_inside: int = 0
    width: float = 0.0
    control: int = 0

    @property
    def share(self) -> float:
        return self.inside / self.whole

    @property
    def control_share(self) -> float:
        return self.control / self.whole


SCENARIOS = [
    Scenario(k, games, duplicate) for k in (2, 4, 6) for games in (16, 64, 256) for duplicate in (False, True)
]
SCENARIOS += [Scenario(4, 256, duplicate, newcomer=True) for duplicate in (False, True)]


def run(scenario: Scenario, tournaments: int, seed: int = 1) -> Covered:
    """Tournaments of a kind, and how often truth lay inside the intervals."""
    rng = np.random.default_rng([seed, scenario.k, scenario.games, scenario.duplicate, scenario.newcomer])
    covered = Covered()
    for _ in range(tournaments):
        truth, tally = _tournament(scenario, rng)
        _look(covered, truth, tally, [BOTS - 1] if scenario.newcomer else list(range(BOTS)))
    return covered


def _tournament(scenario: Scenario, rng: np.random.Generator) -> tuple[Floats, Tally]:
    truth = rng.normal(0, SPREAD, BOTS)
    seats = np.concatenate(list(_deals(scenario, rng)))
    luck = _luck(len(seats), scenario, rng)
    rotations = luck.shape[1]
    turned = np.stack([np.roll(seats, turn, axis=1) for turn in range(rotations)], axis=1)
    scores = rating.Q * truth[turned] + luck
    games, k = turned.reshape(-1, scenario.k), scenario.k
    ranks = 1 + np.argsort(np.argsort(-scores.reshape(-1, k), axis=1), axis=1)
    deals = np.repeat(np.arange(len(seats)), rotations)
    return truth, Tally(tuple(range(BOTS)), (tables(games, ranks, deals, players=BOTS),))


def _deals(scenario: Scenario, rng: np.random.Generator) -> Iterator[Ints]:
    """The table of each deal, in passes in which everybody plays once, or once more in a table filled up."""
    size = scenario.k if scenario.duplicate else 1
    late = -(-16 // size)  # the deals of a newcomer
    for turn in range(-(-scenario.games // size)):
        bots = BOTS - (scenario.newcomer and turn >= late)
        order = rng.permutation(bots)
        yield np.append(order, order[: -bots % scenario.k]).reshape(-1, scenario.k)


def _luck(deals: int, scenario: Scenario, rng: np.random.Generator) -> Floats:
    """(deals, rotations, k) Gumbel; those of a seat are alike in all rotations of a deal."""
    k = scenario.k
    if not scenario.duplicate:
        return rng.gumbel(size=(deals, 1, k))
    own, shared = rng.exponential(size=(deals, k, k)), _stable((deals, 1, k), rng)
    return -ALIKE * np.log(own / shared)


def _stable(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Positive stable variables of index ALIKE (Kanter 1975)."""
    angle, wait = rng.uniform(0, np.pi, shape), rng.exponential(size=shape)
    left = np.sin(ALIKE * angle) / np.sin(angle) ** (1 / ALIKE)
    return np.asarray(left * (np.sin((1 - ALIKE) * angle) / wait) ** ((1 - ALIKE) / ALIKE))


def _look(covered: Covered, truth: Floats, tally: Tally, who: list[int]) -> None:
    found = rating.fit(tally)
    assert found.covariance is not None
    margin = found.margins()
    assert margin is not None
    off = np.abs(found.ratings - found.ratings.mean() - truth + truth.mean())
    covered.inside += int((off < margin)[who].sum())
    covered.whole += len(who)
    covered.width += float(margin[who].sum())
    published = 1.96 * np.sqrt(np.diag(found.covariance))
    covered.published_inside += int((off < published)[who].sum())
    _look_at_pairs(covered, truth, found, who)
    covered.control += int(_inside_naively(tally, truth)[who].sum())


def _look_at_pairs(covered: Covered, truth: Floats, found: Estimate, who: list[int]) -> None:
    variance = np.diag(found.covariance)
    apart = 1.96 * np.sqrt(np.maximum(variance + variance[:, None] - 2 * found.covariance, 0))
    off = np.abs((found.ratings - found.ratings[:, None]) - (truth - truth[:, None]))
    covered.pairs_inside += int((off < apart)[who].sum())  # a bot and itself are never strictly inside
    covered.pairs += len(who) * (BOTS - 1)


def _inside_naively(tally: Tally, truth: Floats) -> np.ndarray:
    """Whether the control's intervals hold the truth, for each bot."""
    won = tally.half_points() / 2
    theta = rating._maximum(won)
    covariance = np.linalg.inv(rating._curvature(won, theta) + rating.PRIOR * np.eye(BOTS)) / rating.Q**2
    found = Estimate.of(tally, theta / rating.Q, covariance, wide=np.inf, told={})
    return np.abs(found.ratings - found.ratings.mean() - truth + truth.mean()) < found.margins()


def fits(scenario: Scenario, share: float) -> bool:
    """Whether a coverage is what 95 % should be."""
    low, high = scenario.limits
    return low <= share <= high


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description="Coverage of the 95 % intervals in made-up tournaments")
    parser.add_argument("--tournaments", type=int, default=1000, help="of each kind")
    told = parser.parse_args()
    print("| tournaments | 95 % covers | of differences | with doubt of the mean | mean ± | control | |")
    print("|---|---|---|---|---|---|---|")
    wrong, control_failed = 0, 0
    for scenario in SCENARIOS:
        covered = run(scenario, told.tournaments)
        good, naive = fits(scenario, covered.share), fits(scenario, covered.control_share)
        wrong, control_failed = wrong + (not good), control_failed + (not naive)
        print(
            f"| {scenario.name} | {covered.share:.1%} | {covered.pairs_inside / covered.pairs:.1%}"
            f" | {covered.published_inside / covered.whole:.1%} | {covered.width / covered.whole:.0f}"
            f" | {covered.control_share:.1%}{'' if naive else ' fails'} | {'good' if good else 'OFF'} |",
            flush=True,
        )
    print(f"\n{len(SCENARIOS) - wrong} of {len(SCENARIOS)} hold; the control fails in {control_failed}.")
    sys.exit(bool(wrong) or not control_failed)


if __name__ == "__main__":
    main()
