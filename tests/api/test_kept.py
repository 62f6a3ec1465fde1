"""What takes long to add up is added up anew only when something came in."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest

from api.kept import MOST, Kept


class Slow:
    """A value that takes some seconds of a clock of its own."""

    def __init__(self, seconds: float) -> None:
        self.now = 0.0
        self.made = 0
        self._seconds = seconds

    def clock(self) -> float:
        return self.now

    def make(self) -> int:
        self.now += self._seconds
        self.made += 1
        return self.made


def test_nothing_new_is_not_added_up_again() -> None:
    slow = Slow(1)
    kept = Kept(slow.clock)
    assert [kept.get("a", "running", 5, slow.make) for _ in range(3)] == [1, 1, 1]


def test_further_matches_are_added_up_after_a_rest() -> None:
    slow = Slow(1)
    kept = Kept(slow.clock)
    kept.get("a", "running", 5, slow.make)
    assert kept.get("a", "running", 6, slow.make) == 1
    slow.now += 4
    assert kept.get("a", "running", 6, slow.make) == 2


def test_what_is_quick_needs_no_rest() -> None:
    slow = Slow(0.01)
    kept = Kept(slow.clock)
    assert [kept.get("a", "running", played, slow.make) for played in (5, 6, 6, 7)] == [1, 2, 2, 3]


def test_another_state_is_added_up_at_once() -> None:
    slow = Slow(1)
    kept = Kept(slow.clock)
    kept.get("a", "running", 5, slow.make)
    assert kept.get("a", "finished", 6, slow.make) == 2


def test_what_was_not_used_for_long_is_dropped() -> None:
    slow = Slow(0)
    kept = Kept(slow.clock)
    for key in range(MOST + 1):
        kept.get(key, "running", 5, slow.make)
    assert kept.get(MOST, "running", 5, slow.make) == MOST + 1
    assert kept.get(0, "running", 5, slow.make) == MOST + 2


def test_a_failure_is_not_kept() -> None:
    kept = Kept()

    def fail() -> int:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        kept.get("a", "running", 5, fail)
    assert kept.get("a", "running", 5, lambda: 7) == 7


def test_many_who_ask_at_once_get_one_sum() -> None:
    kept, made, both = Kept(), [], threading.Barrier(4)

    def make() -> int:
        made.append(1)
        return len(made)

    def ask(answers: list[int]) -> Callable[[], None]:
        def run() -> None:
            both.wait()
            answers.append(kept.get("a", "running", 5, make))

        return run

    answers: list[int] = []
    threads = [threading.Thread(target=ask(answers)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [1] * 4


@dataclass(frozen=True)
class Heavy:
    """What says how many bytes it has."""

    weight: int


def test_of_what_is_heavy_no_more_is_kept_than_there_is_room_for() -> None:
    kept, made = Kept(room=100), []

    def make(weight: int) -> Heavy:
        made.append(weight)
        return Heavy(weight)

    for key, weight in (("a", 60), ("b", 50), ("c", 5), ("b", 50), ("a", 60)):
        kept.get(key, "running", 5, partial(make, weight))
    assert made == [60, 50, 5, 60], "the one that was not used for longest went"
