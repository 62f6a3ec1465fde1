"""Is A better than B? A sequential probability ratio test on deals both play with the same cards.

Pure. Its unit is the deal group, never the game: x is A's mean score of a group against B (a win 1, a tie
1/2, over all pairs of their seats), which cancels the cards. With mu = 1/(1 + 10^(-elo/400)) and s the
standard deviation of the n scores so far, the log-likelihood ratio in normal approximation is

    LLR = n (mu1 - mu0) (2 mean(x) - mu0 - mu1) / (2 s^2)

Wald's bounds ln(beta/(1 - alpha)) and ln((1 - beta)/alpha) end it, not before `FEWEST` groups. Groups enter
by their number, so the verdict is the same in whatever order matches finish.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, log, log10, sqrt

from service import usual

FEWEST = 30
LEAST_SQUARES = (
    1 / 16
)  # about the mean: one group a quarter off the others, so that equal ones end the test too
Z = 1.96  # 95 %


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """A is better by `elo0` at most, or by `elo1` at least; risks of a wrong yes (`alpha`) and no."""

    elo0: float = usual.ELO0
    elo1: float = usual.ELO1
    alpha: float = usual.RISK
    beta: float = usual.RISK

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at or beyond which it is rejected, and accepted, that A is better."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)


@dataclass(frozen=True, slots=True)
class Estimate:
    """How much better A is as it looks, with its 95 % interval; an infinite one is None.

    The end of a test picks a lucky moment: the estimate is a little too far out.
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Trial:
    """A test after `groups` groups. `verdict`: accepted (A is better), rejected, undecided (cap), or None.

    `score` is A's mean against B.
    """

    groups: int
    llr: float
    verdict: str | None
    score: float | None
    elo: Estimate


def trial(scores: Iterable[float], hypotheses: Hypotheses, cap: int) -> Trial:
    """The test of these scores, in the order of their groups; it ends at the first bound, or after `cap`."""
    lower, upper = hypotheses.bounds
    count, mean, squares, llr, verdict = 0, 0.0, 0.0, 0.0, None
    for score in scores:
        count += 1
        before = score - mean
        mean += before / count
        squares += before * (score - mean)
        llr = _llr(count, mean, squares, hypotheses)
        if count >= FEWEST and not lower < llr < upper:
            verdict = "accepted" if llr >= upper else "rejected"
        elif count >= cap:
            verdict = "undecided"
        if verdict is not None:
            break
    return Trial(count, llr, verdict, mean if count else None, _estimate(count, mean, squares))


def pair_score(a: Sequence[int], b: Sequence[int]) -> float:
    """A's share of the points off B in a game: over all pairs of their seats, from the seats' places."""
    won = sum((mine < other) + (mine == other) / 2 for mine in a for other in b)
    return won / (len(a) * len(b))


def expected(elo: float) -> float:
    """The score of who is better by so much."""
    return float(1 / (1 + 10 ** (-elo / 400)))


def mean_of(values: Sequence[float]) -> Estimate:
    """A mean with its 95 % interval; None of too few."""
    if not values:
        return Estimate(None, None, None)
    mean = sum(values) / len(values)
    if len(values) < 2:
        return Estimate(mean, None, None)
    half = Z * sqrt(sum((each - mean) ** 2 for each in values) / (len(values) - 1) / len(values))
    return Estimate(mean, mean - half, mean + half)


def _llr(count: int, mean: float, squares: float, told: Hypotheses) -> float:
    if count < 2:
        return 0.0
    mu0, mu1 = expected(told.elo0), expected(told.elo1)
    variance = max(squares, LEAST_SQUARES) / (count - 1)
    return count * (mu1 - mu0) * (2 * mean - mu0 - mu1) / (2 * variance)


def _estimate(count: int, mean: float, squares: float) -> Estimate:
    if count < 2:
        return Estimate(None, None, None)
    half = Z * sqrt(max(squares, LEAST_SQUARES) / (count - 1) / count)
    return Estimate(*(_finite(_elo(score)) for score in (mean, mean - half, mean + half)))


def _elo(score: float) -> float:
    if not 0 < score < 1:
        return inf if score >= 1 else -inf
    return -400 * log10(1 / score - 1)


def _finite(value: float) -> float | None:
    return value if abs(value) < inf else None
