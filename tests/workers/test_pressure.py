"""What of a bot's lateness was the machine's: read off the kernel's counts, and of values alone."""

import pytest

from workers.pressure import Mark, host_was_late, starved

WALL = 1_000_000_000


@pytest.mark.parametrize(
    ("cpu", "pressed", "late"), [(0.05, True, True), (0.05, False, False), (0.9, True, False)]
)
def test_where_waiting_is_not_counted_lateness_is_the_hosts_only_under_pressure(
    cpu, pressed, late, monkeypatch
) -> None:
    monkeypatch.setattr("workers.pressure._pressed", lambda: pressed)
    assert host_was_late(Mark(0, 0, {}), Mark(WALL, int(cpu * WALL), {})) is late


@pytest.mark.parametrize(
    ("threads", "waited"),
    [
        ({"main": (100, 900)}, 150),  # of the 900 its own other threads had the core for 400
        ({"main": (100, 900), "new": (400, 950)}, 500),
        ({"main": (0, 10), "long there": (400, 3_950)}, 500),
        ({"main": (100, 300)}, 0),
        ({"main": (100, 900), "hidden before": (0, WALL + 1)}, 150),
        ({}, 0),
    ],
)
def test_what_its_own_threads_its_neighbours_and_we_on_its_behalf_used_is_no_excuse(threads, waited) -> None:
    before = Mark(0, 1_000, {"main": (0, 0), "long there": (0, 3_000)}, 50, 7)
    assert starved(before, Mark(WALL, 1_500, threads, 350, 57)) == waited
