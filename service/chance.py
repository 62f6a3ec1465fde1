"""Tests by shuffling: how often chance alone looks as uneven as what was seen.

Pure; a test throws dice of its own, seeded by what it is about, so that anybody finds the same numbers.
"""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST_DRAWS, ENOUGH = 1999, 25  # shuffles, and how many as uneven as what was seen end the test
AT_ONCE = 50


def dice(seed: bytes, use: str) -> np.random.Generator:
    """Random numbers for one use."""
    digest = hashlib.sha256(seed + use.encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def p_value(seen: float, draw: Callable[[int], Floats]) -> float:
    """How likely chance gives `seen` or more; `draw` gives so many values of chance.

    Exact for any number of draws (Besag and Clifford 1991): it ends with the draw that is the `ENOUGH`th to
    reach `seen`, p being their share, or after `MOST_DRAWS`, what was seen counting as a draw.
    """
    drawn = reached = 0
    bar = seen - 1e-9 * max(1.0, abs(seen))  # the same sum in another order
    while drawn < MOST_DRAWS:
        for value in draw(min(AT_ONCE, MOST_DRAWS - drawn)):
            drawn += 1
            reached += bool(value >= bar)
            if reached == ENOUGH:
                return ENOUGH / drawn
    return (reached + 1) / (drawn + 1)


def turned(rows: Floats, throw: np.random.Generator) -> tuple[float, Floats]:
    """Whether columns differ: the p-value if each row could be turned by any step, and the columns' means.

    Squares of the columns' sums are compared; rows (count, places) sum to zero.
    """
    count, places = rows.shape
    steps = [np.roll(rows, step, axis=1) for step in range(places)]

    def draw(many: int) -> Floats:
        chosen = throw.integers(places, size=(many, count))
        sums = np.zeros((many, places))
        for step in range(places):
            sums += (chosen == step).astype(np.float64) @ steps[step]
        return np.asarray((sums**2).sum(axis=1))

    return p_value(float((rows.sum(axis=0) ** 2).sum()), draw), rows.mean(axis=0)


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """p-values corrected for their number (Holm 1979), in their order; None stays None and is not counted."""
    tested = sorted((p, i) for i, p in enumerate(ps) if p is not None)
    corrected: list[float | None] = [None] * len(ps)
    so_far = 0.0
    for rank, (p, i) in enumerate(tested):
        so_far = max(so_far, min(1.0, (len(tested) - rank) * p))
        corrected[i] = so_far
    return corrected
