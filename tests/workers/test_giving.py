"""Results outlive the database's absence: they wait on the disk, and count once when it is back."""

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from loadtests import singly
from service import incidents, leases, lost
from service.errors import Unavailable
from service.sheet import Sheet
from service.turns import ONE
from workers import giving, playing, stopping
from workers.batch import Batch
from workers.giving import Broken

pytestmark = pytest.mark.sandbox
Shop = Any  # the one of conftest.py


def play_one(shop: Shop) -> tuple[leases.Assignment, Batch]:
    match = singly.claim(shop.arena, shop.name)
    assert match is not None
    batch = Batch([match])
    batch.begin()
    sheet = playing._play(shop, match)
    assert isinstance(sheet, Sheet)
    batch.end(sheet)
    return match, batch


def test_a_result_waits_for_the_database_and_is_given_in(shop: Shop) -> None:
    _, batch = play_one(shop)
    other = shop.database_taken()
    waiting = threading.Thread(target=giving.give_in, args=(shop, batch, None))
    waiting.start()
    while not shop.spool.waiting():
        time.sleep(0.01)
    other.close()
    waiting.join()
    assert shop.states() == {"done": 1, "planned": 3}
    assert list(shop.spool.directory.iterdir()) == []


def left_on_the_disk(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> leases.Assignment:
    """A match whose worker gave up while the database was away."""
    monkeypatch.setattr(giving, "TRY_AGAIN_SECONDS", 0.0)
    match, batch = play_one(shop)
    other = shop.database_taken()
    assert giving.give_in(shop, batch, ONE) == []
    other.close()
    return match


def test_a_result_whose_worker_gave_up_is_given_in_by_another_and_counts_once(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_on_the_disk(shop, monkeypatch)
    assert shop.states() == {"leased": 1, "planned": 3}
    another = shop.another(1)
    another._put_in_order()
    another._put_in_order()
    assert shop.states() == {"done": 1, "planned": 3}
    assert another.spool.waiting() == []


def test_a_result_that_comes_too_late_from_the_disk_is_refused_without_harm(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = left_on_the_disk(shop, monkeypatch)
    lost.inherit(shop.arena, shop.place, "another")
    again = singly.claim(shop.arena, "another")
    assert again is not None and again.number == match.number
    shop.another(1)._put_in_order()
    assert shop.states() == {"leased": 1, "planned": 3}
    assert shop.spool.waiting() == []
    with shop.arena.read() as db:
        assert incidents.counts(db)[incidents.LATE] == 1


def test_a_worker_that_is_to_stop_leaves_its_result_on_the_disk(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, batch = play_one(shop)
    monkeypatch.setattr(stopping, "asked", lambda: True)
    other = shop.database_taken()
    assert giving.give_in(shop, batch, None) == []
    assert len(shop.spool.waiting()) == 1
    other.close()


def test_results_of_a_batch_wait_for_the_database_together(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = shop.batch(2)
    shop.lasting(batch_ms=60_000)
    assert playing._play_all(shop, batch, batch.held()) is None  # type: ignore[arg-type]
    monkeypatch.setattr(giving, "TRY_AGAIN_SECONDS", 0.0)
    other = shop.database_taken()
    assert giving.give_in(shop, batch, ONE) == []
    assert len(shop.spool.waiting()) == 2
    other.close()
    another = shop.another(1)
    another._put_in_order()
    assert shop.states() == {"done": 2, "planned": 2} and another.spool.waiting() == []


def test_results_outlive_a_database_that_goes_away_in_the_midst_of_a_batch(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the second match needs cannot be fetched: the first one's result is safe before all else."""
    shop.lasting(batch_ms=60_000)
    monkeypatch.setattr(giving, "TRY_AGAIN_SECONDS", 0.0)
    batch, code, taken = shop.batch(2), shop.code, []

    def gone(version_id: str) -> Any:
        if len(batch._played) == 1:
            taken.append(shop.database_taken())
            raise Unavailable("the database cannot be reached; try again")
        return code(version_id)

    monkeypatch.setattr(shop, "code", gone)
    monkeypatch.setattr(leases, "claim_some", lambda *_: batch.held())
    monkeypatch.setattr(playing, "Batch", lambda _: batch)
    playing.play_for_a_while(shop)
    taken[0].close()
    assert len(shop.spool.waiting()) == 1
    shop.another(1)._put_in_order()
    assert shop.states() == {"done": 1, "leased": 1, "planned": 2}
    assert shop.suspicions() == [0] * 4


def test_one_that_cannot_be_written_costs_no_other_its_result(shop: Shop) -> None:
    shop.lasting(batch_ms=60_000)
    batch = shop.batch(2)
    assert playing._play_all(shop, batch, batch.held()) is None  # type: ignore[arg-type]
    good, bad = batch._played
    batch._played = [replace(bad, seats=[{**each, "place": None} for each in bad.seats]), good]
    assert giving.give_in(shop, batch, ONE) == []
    assert shop.states() == {"done": 1, "planned": 3}
    assert shop.suspicions() == [0, lost.ALONE, 0, 0]
    assert shop.spool.waiting() == []


def test_what_could_not_be_given_in_early_still_is_held(shop: Shop) -> None:
    match, batch = play_one(shop)
    other = shop.database_taken()
    with pytest.raises(Unavailable):
        giving.lighten(shop, batch)
    other.close()
    assert [each.match_id for each in batch.held()] == [match.match_id]
    giving.give_in(shop, batch, None)
    assert shop.states() == {"done": 1, "planned": 3}


def test_what_could_not_be_handed_back_is_left_to_its_lease(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "asked", lambda: True)
    match = shop.batch(1).begin()
    other = shop.database_taken()
    giving.hand_back(shop, Broken(match, "Stopped: ", 0))
    other.close()
    assert shop.states() == {"leased": 1, "planned": 3}
