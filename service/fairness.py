"""Was a tournament fair? Tests of what should make no difference: seat, dealer, worker, company.

Pure. Seat, dealer and workers are tested by permutation: what would be as likely if it made no difference is
shuffled (`service.chance`). Pairs are tested against the points model, with room for styles that suit each
other (`service.company`). Holm's correction over all tests keeps the promise: where nothing makes a
difference, at most one tournament in a hundred (`LEVEL`) shows a finding, however many tests there are.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.chance import dice, holm, p_value, turned
from service.company import Pair, helping

Floats = NDArray[np.float64]
LEVEL = 0.01
FEWEST = 10  # groups


@dataclass(frozen=True, slots=True)
class Played:
    """A finished match of a whole group, all in seat order: who sat there, its points, its faults in all.

    `by_dealer`: points a round above the table's mean by place after the dealer (0: the dealer), if known.
    """

    group: int
    entrants: tuple[int, ...]
    points: tuple[int, ...]
    faults: int
    worker: str
    by_dealer: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One test. `p` is None where there was too little to test, and `text` says why.

    `found`: after correction, less likely than `LEVEL` where nothing makes a difference. `alarm`: and the
    schedule does not level it out. `effect` is in points a match, or faults; `detail` has the numbers behind.
    """

    name: str
    p: float | None
    text: str
    effect: float | None = None
    detail: tuple[dict[str, Any], ...] = ()
    levelled: bool = False
    adjusted: float | None = None
    found: bool = False
    alarm: bool = False


def report(matches: Sequence[Played], *, seed: bytes) -> list[Check]:
    """All checks; `seed` draws the shuffles, so that anybody finds the same numbers."""
    groups = _groups(matches)
    tests = [seats(groups, seed), dealers(groups, seed), worker_faults(groups, seed),
             worker_scores(groups, seed), company(groups)]  # fmt: skip
    return [_corrected(test, p) for test, p in zip(tests, holm([test.p for test in tests]), strict=True)]


def seats(groups: "_Groups", seed: bytes) -> Check:
    """Is a seat worth points? Under shuffling, everybody of a group moves on by the same number of seats."""
    name, rows = "seat", [_centred(group).mean(axis=0) for group in groups.usual]
    if len(rows) < FEWEST:
        return _too_little(name, len(rows))
    p, means = turned(np.array(rows), dice(seed, name))
    level = _level(groups.usual)
    best, spread = int(means.argmax()), float(means.max() - means.min())
    text = f"seat {best} did best; between the best and the worst seat lie {spread:.1f} points a match"
    detail = tuple({"seat": seat, "points": float(mean)} for seat, mean in enumerate(means))
    return Check(name, p, text + _levels(level, "sat in each seat"), spread, detail, level)


def dealers(groups: "_Groups", seed: bytes) -> Check:
    """Is it worth points to deal? The same by place after the dealer, round by round."""
    name = "dealer"
    told = [[each.by_dealer for each in group if each.by_dealer is not None] for group in groups.usual]
    rows = [np.array(known).mean(axis=0) for known in told if known]
    if len(rows) < FEWEST:
        return _too_little(name, len(rows))
    p, means = turned(np.array(rows), dice(seed, name))
    level = _level(groups.usual)
    spread = float(means.max() - means.min())
    text = f"who dealt took {means[0]:+.2f} points a round above the table's mean"
    detail = tuple({"after_dealer": place, "points": float(mean)} for place, mean in enumerate(means))
    return Check(name, p, text + _levels(level, "dealt"), spread, detail, level)


def worker_faults(groups: "_Groups", seed: bytes) -> Check:
    """Do bots fail more on some worker? Chi-square of its faults against those expected of its matches."""

    def uneven(seen: Floats, expected: Floats, _: Floats) -> float:
        likely = expected > 0
        return float((((seen - expected) ** 2)[likely] / expected[likely]).sum())

    def said(seen: Floats, expected: Floats, worst: int, name: str) -> str:
        return f"on {name} bots committed {seen[worst]:.0f} faults, expected were {expected[worst]:.1f}"

    return _workers("worker faults", groups, seed, lambda each: float(each.faults), uneven, said)


def worker_scores(groups: "_Groups", seed: bytes) -> Check:
    """Do tables score otherwise on some worker? The same with a table's points in all."""

    def uneven(seen: Floats, expected: Floats, matches: Floats) -> float:
        return float(((seen - expected) ** 2 / matches).sum())

    def said(seen: Floats, expected: Floats, worst: int, name: str) -> str:
        return f"on {name} tables took {seen[worst]:.0f} points, expected were {expected[worst]:.0f}"

    return _workers("worker scores", groups, seed, lambda each: float(sum(each.points)), uneven, said)


def company(groups: "_Groups") -> Check:
    """Do two do better in each other's company than their strengths explain? See `service.company`."""
    name = "company"
    pairs = helping([_by_entrant(group) for group in groups.all])
    if not pairs:
        return Check(name, None, "no pair met on enough deals at tables of three or more")
    first = pairs[0]
    told = f"entrants {first.a} and {first.b} are most above what their strengths explain at one table: "
    text = f"{told}{first.points:+.1f} points a match together on {first.groups} deals"
    listed = tuple(_pair(pair) for pair in pairs[:10])
    return Check(name, min(first.p, 1.0), text, first.points, listed)


@dataclass(frozen=True, slots=True)
class _Groups:
    """Matches by deal group; `usual` are those of the commonest table size, by which seats are compared."""

    all: list[list[Played]]
    usual: list[list[Played]] = field(default_factory=list)


def _groups(matches: Iterable[Played]) -> _Groups:
    found: defaultdict[int, list[Played]] = defaultdict(list)
    for match in sorted(matches, key=lambda each: (each.group, each.entrants)):
        found[match.group].append(match)
    listed = list(found.values())
    sizes = Counter(len(group[0].entrants) for group in listed)
    usual = max(sizes, key=lambda size: (sizes[size], size), default=0)
    return _Groups(listed, [group for group in listed if len(group[0].entrants) == usual])


def _centred(group: Sequence[Played]) -> Floats:
    """(matches, seats): points above the table's mean."""
    points = np.array([each.points for each in group], dtype=np.float64)
    return np.asarray(points - points.mean(axis=1, keepdims=True))


def _by_entrant(group: Sequence[Played]) -> tuple[tuple[int, ...], Floats]:
    """The entrants, and what each took above the table's mean, points a match."""
    total: defaultdict[int, float] = defaultdict(float)
    for each, row in zip(group, _centred(group), strict=True):
        for entrant, points in zip(each.entrants, row, strict=True):
            total[entrant] += float(points) / len(group)
    return tuple(total), np.array(list(total.values()))


def _level(groups: Sequence[Sequence[Played]]) -> bool:
    """Whether everybody sat in each seat equally often."""
    sat = Counter(each for group in groups for match in group for each in enumerate(match.entrants))
    entrants, seats = {entrant for _, entrant in sat}, range(len(groups[0][0].entrants))
    return all(len({sat[seat, entrant] for seat in seats}) == 1 for entrant in entrants)


def _levels(level: bool, what: str) -> str:
    return f"; everybody {what} equally often{', so it evens out' if level else ' but not quite'}"


def _workers(
    name: str,
    groups: _Groups,
    seed: bytes,
    value: Callable[[Played], float],
    uneven: Callable[[Floats, Floats, Floats], float],
    said: Callable[[Floats, Floats, int, str], str],
) -> Check:
    """Under shuffling, the matches of a deal (or of the same bots on other deals) change workers."""
    blocks = _blocks(groups)
    order = [each for block in blocks for each in block]
    names = sorted({each.worker for each in order})
    if len(names) < 2:
        return Check(name, None, "one worker played all of it")
    values = np.array([value(each) for each in order])
    sizes = np.array([len(block) for block in blocks])
    block = np.repeat(np.arange(len(blocks)), sizes)
    usual = (np.bincount(block, values) / sizes)[block]
    if not (values != usual).any():
        return Check(name, 1.0, "all workers alike")
    which = np.searchsorted(names, [each.worker for each in order])
    matches, seen, expected = (_summed(which, each) for each in (np.ones(len(order)), values, usual))
    throw = dice(seed, name)

    def draw(many: int) -> Floats:
        shuffles = (np.lexsort((throw.random(len(order)), block)) for _ in range(many))
        return np.array([uneven(_summed(which, values[each]), expected, matches) for each in shuffles])

    p = p_value(uneven(seen, expected, matches), draw)
    worst = int(np.abs(seen - expected).argmax())
    columns = zip(names, matches, seen, expected, strict=True)
    detail = tuple(
        {"worker": who, "matches": int(n), "seen": float(s), "expected": float(e)} for who, n, s, e in columns
    )
    return Check(name, p, said(seen, expected, worst, names[worst]), float((seen - expected)[worst]), detail)


def _summed(which: NDArray[np.int64], each: Floats) -> Floats:
    """A number a match summed for each worker."""
    return np.bincount(which, each).astype(np.float64)


def _blocks(groups: _Groups) -> list[list[Played]]:
    """Matches that differ in nothing that a worker does not bring: of one deal, or else of the same bots."""
    if any(len(group) > 1 for group in groups.all):
        return groups.all
    same: defaultdict[tuple[int, ...], list[Played]] = defaultdict(list)
    for (match,) in groups.all:
        same[tuple(sorted(match.entrants))].append(match)
    return list(same.values())


def _too_little(name: str, groups: int) -> Check:
    return Check(name, None, f"{groups} deals are too few, {FEWEST} are needed")


def _corrected(check: Check, p: float | None) -> Check:
    found = p is not None and p <= LEVEL
    return replace(check, adjusted=p, found=found, alarm=found and not check.levelled)


def _pair(pair: Pair) -> dict[str, Any]:
    return {"a": pair.a, "b": pair.b, "points": pair.points, "groups": pair.groups, "p": min(pair.p, 1.0)}
