"""Fairness alarms: as rare as they say where nothing makes a difference, and there where something does."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from service import chance, fairness, schedule
from service.fairness import Check, Played


@dataclass(frozen=True, slots=True)
class World:
    """A tournament to simulate; all that could be unfair is 0. Points are about 50, give or take 15."""

    entrants: int = 12
    seats: int = 4
    deals: int = 5
    duplicate: bool = True
    skewed: bool = False
    style: float = 0.0  # how much a table suits some of its bots
    seat: float = 0.0  # points for seat 0
    dealer: float = 0.0
    help: float = 0.0  # points for both of entrants 2 and 5 at one table
    slow: float = 1.0  # faults on worker 1, times the usual

    def play(self, number: int) -> list[Played]:
        dice = np.random.default_rng(number)
        strengths = dice.normal(0, 4, self.entrants)
        blocks = schedule.round_robin(self.entrants, self.seats, seed=dice.bytes(8))
        orders = schedule.groups(blocks, deals=self.deals, duplicate=self.duplicate, seed=dice.bytes(8))
        pairings = schedule.pairings(orders, duplicate=self.duplicate)
        hands: dict[int, np.ndarray] = {}
        styles: dict[frozenset[int], dict[int, float]] = {}
        played = []
        for pairing in pairings:
            order = pairing.entrants
            hand = hands.setdefault(pairing.group, dice.normal(0, 10, self.seats))
            liked = dict(zip(sorted(order), dice.normal(0, self.style, self.seats), strict=True))
            liked = styles.setdefault(frozenset(order), liked)
            noise = dice.exponential(11, self.seats) - 11 if self.skewed else dice.normal(0, 11, self.seats)
            points = 50 + hand + noise + np.array([strengths[each] + liked[each] for each in order])
            points[0] += self.seat
            if {2, 5} <= set(order):
                points += [self.help * (each in (2, 5)) for each in order]
            worker = int(dice.integers(3))
            faults = int(dice.poisson(0.1 * (self.slow if worker == 1 else 1)))
            dealt = dice.normal(0, 1, self.seats)
            dealt[0] += self.dealer
            told = tuple(round(each) for each in points)
            by_dealer = tuple(dealt - dealt.mean())
            played.append(Played(pairing.group, order, told, faults, f"machine-{worker}", by_dealer))
        return played

    def report(self, number: int) -> dict[str, Check]:
        return {each.name: each for each in fairness.report(self.play(number), seed=b"%d" % number)}


def most_by_chance(rate: float, trials: int) -> int:
    """So many of `trials` happen once in a million tests, if each happens at `rate`."""
    total, count = 0.0, -1
    while total < 1 - 1e-6:
        count += 1
        total += math.comb(trials, count) * rate**count * (1 - rate) ** (trials - count)
    return count


FAIR = {
    "duplicate deals": World(),
    "styles that suit each other": World(style=4.0),
    "skewed points": World(skewed=True),
    "independent deals": World(duplicate=False, deals=20),
    "tables of two": World(seats=2, entrants=8, deals=10),
}


def check_false_alarms(world: World, trials: int) -> None:
    reports = [world.report(number) for number in range(trials)]
    for level in (fairness.LEVEL, 0.05):
        wrong = sum(any(_at_most(check.adjusted, level) for check in each.values()) for each in reports)
        assert wrong <= most_by_chance(level, trials), level
        for name in reports[0]:
            single = sum(_at_most(each[name].p, level) for each in reports)
            assert single <= most_by_chance(level, trials), (name, level)


def _at_most(p: float | None, level: float) -> bool:
    return p is not None and p <= level


@pytest.mark.parametrize("kind", FAIR)
def test_fair_tournaments_give_no_more_alarms_than_promised(kind: str) -> None:
    check_false_alarms(FAIR[kind], 20)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", FAIR)
def test_a_thousand_fair_tournaments_give_no_more_alarms_than_promised(kind: str) -> None:
    check_false_alarms(FAIR[kind], 1000)


@pytest.mark.parametrize(
    ("world", "name", "alarm"),
    [
        (World(seat=6.0, deals=15), "seat", False),
        (World(dealer=1.0, deals=10), "dealer", False),
        (World(slow=8.0), "worker faults", True),
        (World(help=10.0, deals=20, entrants=24), "company", True),
        (World(help=10.0, deals=20, entrants=24, style=1.0), "company", True),
    ],
)
def test_what_makes_a_difference_is_found(world: World, name: str, alarm: bool) -> None:
    for number in range(2):
        found = world.report(number)
        assert found[name].found, found[name]
        assert found[name].alarm == alarm, "what the schedule evens out is no alarm"
        assert [other for other in found if found[other].found] == [name]


def test_a_seat_that_pays_is_an_alarm_where_not_everybody_sat_there_equally_often() -> None:
    played = [match for match in World(seat=6.0, duplicate=False, deals=30).play(1) if match.group % 7]
    check = {each.name: each for each in fairness.report(played, seed=b"")}["seat"]
    assert (check.found, check.levelled, check.alarm) == (True, False, True)


def test_the_pair_that_helps_each_other_and_the_slow_worker_are_named() -> None:
    pair = World(help=10.0, deals=20, entrants=24).report(0)["company"]
    assert (pair.detail[0]["a"], pair.detail[0]["b"]) == (2, 5)
    assert "entrants 2 and 5" in pair.text
    slow = World(slow=8.0).report(0)["worker faults"]
    assert "machine-1" in slow.text
    assert slow.detail[1]["seen"] > 1.5 * slow.detail[1]["expected"]


def test_too_little_to_test_is_said() -> None:
    few = [match for match in World().play(0) if match.group < 3]
    told = {each.name: each for each in fairness.report(few, seed=b"")}
    assert told["seat"].p is None and "too few" in told["seat"].text
    assert told["company"].p is None
    assert not any(check.found or check.alarm for check in told.values())
    assert all(check.p is None for check in fairness.report([], seed=b""))


def test_the_numbers_are_the_same_in_any_order_of_matches() -> None:
    played = World(slow=3.0, style=3.0).play(3)
    again = fairness.report(played[::-1], seed=b"x")
    for one, other in zip(fairness.report(played, seed=b"x"), again, strict=True):
        assert one.p == pytest.approx(other.p)
        assert one.detail == other.detail or one.name == "company"


def test_p_values_are_as_rare_as_they_are_small() -> None:
    dice = np.random.default_rng(1)
    ps = [chance.p_value(float(dice.random()), lambda many: dice.random(many)) for _ in range(2000)]
    for level in (0.01, 0.05, 0.2, 0.5):
        scatter = (level * (1 - level) / len(ps)) ** 0.5
        assert sum(p <= level for p in ps) / len(ps) == pytest.approx(level, abs=5 * scatter)


def test_holms_correction() -> None:
    assert chance.holm([0.01, None, 0.04, 0.03, 0.005]) == pytest.approx([0.03, None, 0.06, 0.06, 0.02])
    assert chance.holm([0.9, 0.8]) == [1.0, 1.0]
