"""A lease is kept whatever happens beside it, and what is lost is broken off in time all the same."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from service.errors import Unavailable
from service.settings import Settings
from workers import keeping, stopping


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A lease is renewed at every look, each millisecond."""
    monkeypatch.setattr(keeping, "LOOK_SECONDS", 0.001)
    made = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path)})
    return replace(made, lease_seconds=0)


@pytest.mark.parametrize("error", [RuntimeError("unforeseen"), Unavailable("away")])
def test_a_lease_is_renewed_whatever_a_look_or_a_renewal_raises(settings: Settings, error: Exception) -> None:
    renewed, answers = threading.Event(), iter([None, True])

    def renew() -> bool:
        if next(answers, True) is None:
            raise error
        renewed.set()
        return True

    def look() -> None:
        raise error

    with keeping.kept(settings, renew, look):
        assert renewed.wait(30)


def test_what_is_lost_is_renewed_no_more_but_looked_to_and_broken_off(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, looks, broken_off = [], iter(range(3)), threading.Event()
    overdue = threading.Event()
    monkeypatch.setattr(stopping, "overdue", lambda _: overdue.is_set())
    monkeypatch.setattr(stopping, "break_off", broken_off.set)

    def renew() -> bool:
        asked.append(True)
        return False

    def look() -> None:
        if next(looks, None) is None:
            overdue.set()

    with keeping.kept(settings, renew, look):
        assert broken_off.wait(30)
    assert len(asked) == 1
