"""Points: of a round, and who stands where when all rounds are over."""

from collections.abc import Sequence

from engine.rules import RuleSet
from engine.switches import TieBreak


def round_points(
    rules: RuleSet, hand_size: int, *, bids: Sequence[int], taken: Sequence[int], stakes: Sequence[int]
) -> list[int]:
    """The points of a round by seat; `stakes` are the points of Bonus and Mad cards taken.

    A team bids, takes and scores as one, and each member bears its score.
    """
    points = [0] * len(bids)
    for group in rules.groups(len(bids)):
        bid, tricks = sum(bids[seat] for seat in group), sum(taken[seat] for seat in group)
        swept = rules.sweep_double and tricks == hand_size > 1
        score = (
            tricks * (2 if swept else 1) + sum(stakes[seat] for seat in group) + _for_bid(rules, bid, tricks)
        )
        for seat in group:
            points[seat] = score
    return points


def _for_bid(rules: RuleSet, bid: int, tricks: int) -> int:
    worth = rules.bid_points
    if bid != tricks:
        return worth.missed
    return worth.exact if bid else worth.zero


def exact_bids(rules: RuleSet, bids: Sequence[int], taken: Sequence[int]) -> list[bool]:
    """Whether each seat (in teams: its team) took exactly what it bid."""
    exact = [False] * len(bids)
    for group in rules.groups(len(bids)):
        hit = sum(bids[seat] for seat in group) == sum(taken[seat] for seat in group)
        for seat in group:
            exact[seat] = hit
    return exact


def places(
    rules: RuleSet, scores: Sequence[int], exact: Sequence[int], out: Sequence[int] = ()
) -> tuple[int, ...]:
    """Places from 1 by total, then the rule set's tie-break; equals share a place.

    Seats in `out` come last in any case, who went out last being the best of them.
    """
    counts = exact if rules.tie_break is TieBreak.EXACT_BIDS else [0] * len(scores)
    ranks = [
        (-1 - len(out) + out.index(seat), 0, 0) if seat in out else (0, scores[seat], counts[seat])
        for seat in range(len(scores))
    ]
    return tuple(1 + sum(other > rank for other in ranks) for rank in ranks)


def counted(scores: Sequence[int], out: Sequence[int]) -> tuple[int, ...]:
    """What standings count: a seat that is out gets at most the lowest score of those who stayed in."""
    stayed = [score for seat, score in enumerate(scores) if seat not in out]
    floor = min(stayed, default=max(scores, default=0))
    return tuple(min(score, floor) if seat in out else score for seat, score in enumerate(scores))
