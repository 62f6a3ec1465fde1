"""Matches as a worker plays them: in batches, under leases it keeps, with a word on those it could not."""

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import structlog
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sqlalchemy import select

from loadtests import singly
from service import leases, log, lost, reap, tables, traces
from service.work import Arena
from workers import giving, in_play, playing, stopping
from workers.giving import Broken
from workers.sandbox import MachineBusy, Sandbox, SandboxError

pytestmark = pytest.mark.sandbox
Shop = Any  # the one of conftest.py


def test_a_trace_shows_what_a_worker_spends_its_time_on(shop: Shop) -> None:
    kept = InMemorySpanExporter()
    assert traces.setup("players", kept)
    playing.play_for_a_while(shop)
    traces.stop()
    *within, whole = kept.get_finished_spans()
    assert [each.name for each in within][:3] == ["claim", "match", "give in"]
    assert {each.parent.span_id for each in within if each.parent} == {whole.context.span_id}
    assert whole.attributes == {"rage.worker": shop.name}
    match = within[1].attributes
    assert match is not None and str(match["rage.match"]).endswith("-0") and match["rage.attempt"] == 1


def test_a_worker_that_is_to_stop_claims_nothing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "asked", lambda: True)
    playing.play_for_a_while(shop)
    assert shop.states() == {"planned": 4}


@pytest.mark.parametrize(("sick", "suspicion"), [(True, 0), (False, lost.ALONE)])
def test_a_match_is_suspected_only_on_a_machine_that_is_well(
    shop: Shop, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, sick: bool, suspicion: int
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise SandboxError("no room on the disk")

    monkeypatch.setattr(playing, "play_match", broken)
    monkeypatch.setattr(shop, "forget_sandbox", lambda: None)
    match = singly.claim(shop.arena, shop.name)
    assert match is not None
    if sick:
        monkeypatch.setattr(shop, "sandbox", broken)
    broken_off = playing._play(shop, match)
    assert isinstance(broken_off, Broken)
    giving.hand_back(shop, broken_off)
    with shop.arena.read() as db:
        row = db.execute(select(tables.match).where(tables.match.c.number == match.number)).one()
    assert (row.status, row.suspicion) == ("planned", suspicion)
    assert row.trouble == "SandboxError: no room on the disk"
    if sick:
        playing.play_for_a_while(shop)
        assert shop.states() == {"planned": 4}, "a sick machine claims nothing"


def test_a_machine_that_is_too_busy_is_left_alone_and_its_match_hardly_suspected(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def starved(*_: Any, **__: Any) -> None:
        begun.append(True)
        raise MachineBusy("seat 1: the machine was too busy to let its bot answer in time")

    play, begun = playing.play_match, list[bool]()
    monkeypatch.setattr(playing, "play_match", starved)
    monkeypatch.setattr(stopping, "asked", lambda: bool(begun))
    rests = []
    for _ in range(8):
        begun.clear()  # who is to stop does not rest on
        playing.play_for_a_while(shop)
        rests.append(shop.rest)
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60]
    assert shop.states() == {"planned": 4}
    assert max(shop.suspicions()) == 8 * lost.TOGETHER < lost.ENOUGH
    monkeypatch.setattr(playing, "play_match", play)
    begun.clear()
    playing.play_for_a_while(shop)
    assert shop.rest == 0 and shop.states()["done"] >= 1


def test_everything_is_put_right_by_the_reaper_after_a_worker_vanished(shop: Shop) -> None:
    shop.batch(1)
    limit = time.monotonic() + 60
    while shop.states().get("leased"):
        assert time.monotonic() < limit
        reap.reap(shop.arena)
        time.sleep(0.3)
    playing.play_for_a_while(shop)
    assert shop.states().get("done", 0) >= 1


def test_every_line_about_a_match_bears_its_id(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever gets a match's id from the API finds what the workers said of it."""

    def broken(version_id: str) -> None:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(shop, "code", broken)
    with lines_in_json():
        playing.play_for_a_while(shop)
    said = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    (wrong,) = [line for line in said if line["event"] == "match_went_wrong"]
    with shop.arena.read() as db:
        tried = select(tables.match.c.tournament_id, tables.match.c.number).where(
            tables.match.c.attempts == 1
        )
        (tournament, number) = db.execute(tried).one()
    assert (wrong["match"], wrong["worker"]) == (f"{tournament}-{number}", shop.name)
    assert "the disk is on fire" in wrong["exception"]


@contextmanager
def lines_in_json() -> Iterator[None]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    log.setup("info")
    try:
        yield
    finally:
        root.handlers[:], root.level = before
        structlog.reset_defaults()


def test_short_matches_are_claimed_and_given_in_together(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.lasting(batch_ms=60_000, chunk_ms=60_000)
    sizes: list[tuple[int, int]] = []
    give_in = leases.give_in_all

    def seen(arena: Arena, sheets: Any, **told: Any) -> Any:
        taken, following = give_in(arena, sheets, **told)
        sizes.append((len(sheets), len(following)))
        return taken, following

    monkeypatch.setattr(leases, "give_in_all", seen)
    monkeypatch.setattr(shop, "workers", 1)
    playing.play_for_a_while(shop)
    assert sizes == [(1, 2), (2, 1), (1, 0)], "one of unknown length, half of what is left, the last"
    assert shop.states() == {"done": 4}


def test_a_worker_that_is_told_to_stop_hands_back_what_it_has_not_begun(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = shop.batch(2)
    monkeypatch.setattr(stopping, "asked", lambda: True)
    assert playing._play_all(shop, batch, batch.held()) is None  # type: ignore[arg-type]
    assert giving.give_in(shop, batch, None) == []
    assert shop.states() == {"done": 1, "planned": 3}
    with shop.arena.read() as db:
        assert sorted(db.scalars(select(tables.match.c.attempts))) == [0, 0, 0, 1]


def test_a_match_that_lasts_keeps_nobody_waiting_for_the_rest_of_its_batch(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = shop.batch(2)
    shop.lasting(batch_ms=1)
    play, seen = playing.play_match, []

    def slow(*given: Any, **told: Any) -> Any:
        while shop.states().get("leased", 0) > 1:
            time.sleep(0.02)
        seen.append(shop.states())
        return play(*given, **told)

    monkeypatch.setattr(playing, "play_match", slow)
    assert playing._play_all(shop, batch, batch.held()) is None  # type: ignore[arg-type]
    assert seen == [{"leased": 1, "planned": 3}]
    giving.give_in(shop, batch, None)
    assert shop.states() == {"done": 1, "planned": 3}


def test_a_process_knows_what_its_predecessor_was_at_when_it_died(shop: Shop) -> None:
    batch = shop.batch(2)
    match = batch.begin()
    assert match is not None
    in_play.note(shop.number, match.match_id)
    assert shop.another(shop.number)._died_at == match.match_id, "which died before it told"
    heir = shop.another(shop.number)
    heir.name += "0"  # in the same process here, which would be another's
    heir._put_in_order()
    assert shop.suspicions() == [lost.ALONE if number == match.number else 0 for number in range(4)]
    assert in_play.noted(shop.number) == ""


def test_of_a_process_that_died_between_two_matches_none_is_suspected(shop: Shop) -> None:
    shop.batch(1)
    heir = shop.another(shop.number)
    heir.name += "0"  # in the same process here, which would be another's
    heir._put_in_order()
    assert (shop.states(), shop.suspicions()) == ({"planned": 4}, [0] * 4)


def test_a_process_says_what_it_is_at_while_it_is_at_it(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []

    def broken(*_: Any, **__: Any) -> None:
        seen.append(in_play.noted(shop.number))
        raise SandboxError("no room on the disk")

    monkeypatch.setattr(playing, "play_match", broken)
    match = singly.claim(shop.arena, shop.name)
    assert match is not None and isinstance(playing._play(shop, match), Broken)
    assert (seen, in_play.noted(shop.number)) == ([match.match_id], "")


def test_what_is_lost_is_not_begun(shop: Shop) -> None:
    batch = shop.batch(2)
    first, second = batch.held()
    assert batch.begin() is first
    leases.give_back(shop.arena, second, "lost", suspicion=0)
    assert playing._renew(shop, batch)
    batch.end(None)
    assert batch.begin() is None


def test_a_worker_knows_how_many_share_what_is_left(shop: Shop) -> None:
    shop.workers = 99
    shop._closing.set()  # so it tells once
    shop._tell()
    assert shop.workers == 1
