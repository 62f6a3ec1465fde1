"""Ticks that no setting of the clock delays."""

import pickle
import time
from datetime import UTC, datetime, timedelta

import pytest

from service.ticks import Every


@pytest.mark.parametrize("last", [timedelta(0), timedelta(hours=1), -timedelta(hours=1)])
def test_it_ticks_whatever_time_the_last_one_is_said_to_have_been(
    monkeypatch: pytest.MonkeyPatch, last: timedelta
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    every, told = Every(2), datetime.now(UTC) + last
    assert every.is_due(told) == (True, 2)
    now += 1.5
    assert every.is_due(told) == (False, 0.5)
    now += 0.5
    assert every.is_due(told) == (True, 2)


def test_it_may_be_sent_to_another_process() -> None:
    assert repr(pickle.loads(pickle.dumps(Every(2)))) == "every 2 s"
