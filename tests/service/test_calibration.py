"""The intervals hold what they promise, and this can fail. The whole table: loadtests.calibration."""

import pytest

from loadtests.calibration import SCENARIOS, Scenario, fits, run

QUICK = [Scenario(4, 64, True), Scenario(2, 64, False)]


@pytest.mark.parametrize("scenario", QUICK, ids=lambda scenario: scenario.name)
def test_intervals_hold_the_truth_about_as_often_as_they_say(scenario: Scenario) -> None:
    assert 0.91 < run(scenario, 60).share < 0.985


def test_intervals_that_take_pairs_for_independent_are_found_out() -> None:
    assert run(Scenario(6, 64, False), 60).control_share < 0.9


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_kind_of_tournament_is_covered_and_the_control_is_not() -> None:
    found = {scenario: run(scenario, 300) for scenario in SCENARIOS}
    off = {each.name: covered.share for each, covered in found.items() if not fits(each, covered.share)}
    assert not off
    assert sum(not fits(each, covered.control_share) for each, covered in found.items()) >= len(found) / 2
