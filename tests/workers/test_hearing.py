"""When a worker counts as deaf: idle for long beside messages that wait, and never otherwise."""

from collections.abc import Iterator

import pytest

from workers import hearing
from workers.hearing import DEAF_SECONDS, Ear


@pytest.fixture(autouse=True)
def idle() -> Iterator[None]:
    hearing.at_work(False)
    yield
    hearing.at_work(False)


def test_idle_beside_waiting_messages_for_long_is_deaf() -> None:
    ear = Ear(1)
    assert not ear.deaf(0.0, 5, 3)
    assert not ear.deaf(1.0, 5, 3)
    assert not ear.deaf(DEAF_SECONDS, 5, 3)
    assert ear.deaf(DEAF_SECONDS + 2, 5, 3)


@pytest.mark.parametrize(("heard", "waiting"), [(6, 3), (5, 0)])
def test_who_hears_something_or_has_nothing_to_hear_is_not(heard: int, waiting: int) -> None:
    ear = Ear(1)
    ear.deaf(0.0, 5, 3)
    ear.deaf(1.0, 5, 3)
    assert not ear.deaf(DEAF_SECONDS * 2, heard, waiting)
    assert not ear.deaf(DEAF_SECONDS * 2 + 1, heard, 3)


def test_who_is_at_work_is_not_and_one_idle_of_two_is() -> None:
    hearing.at_work(True)
    busy, half = Ear(1), Ear(2)
    for now in (0.0, 1.0, DEAF_SECONDS):
        assert not busy.deaf(now, 5, 3)
        assert not half.deaf(now, 5, 3)
    assert not busy.deaf(DEAF_SECONDS * 3, 5, 3)
    assert half.deaf(DEAF_SECONDS * 3, 5, 3)
