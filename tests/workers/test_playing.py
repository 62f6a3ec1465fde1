"""A worker whose database goes away: the result waits on the disk, and counts once when it is back."""

import json
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import structlog
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sqlalchemy import select, update

from service import accounts, bots, incidents, leases, log, lost, reap, schema, tables, tournaments, traces
from service.jobs import InlineQueue
from service.settings import Settings
from service.turns import ONE, Share
from service.work import Arena
from workers import in_play, playing, stopping
from workers.batch import Batch
from workers.sandbox import Sandbox, SandboxError
from workers.workshop import Workshop

pytestmark = pytest.mark.sandbox
BOT = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"
SPEC = {"name": "Cup", "players": 2, "deals": 2, "rules": {"preset": "fundex", "hand_sizes": [2, 1]}}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    """A workshop on a database with a tournament of four matches, and with a sandbox that it may close."""
    environment = {"RAGE_DATA_DIR": str(tmp_path), "RAGE_CHUNK_MS": "50", "RAGE_LEASE_SECONDS": "5"}
    settings = Settings.from_environment(environment)
    schema.migrate(settings)
    made = Workshop(settings, 0)
    made.arena = Arena.open(settings, InlineQueue(), patience=0.2)
    made._sandbox = Sandbox.probe()
    owner, _ = accounts.register(made.arena, name="Ada")
    ids = [bots.submit(made.arena, owner, name=n, filename="b.py", content=BOT).id for n in ("a", "b")]
    with made.arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    tournaments.create(made.arena, owner, {**SPEC, "entrants": ids})
    yield made
    made.forget_sandbox()
    made.arena.close()


def held(shop: Workshop) -> sqlite3.Connection:
    """Somebody else has the database: it cannot be written to until this is closed."""
    other = sqlite3.connect(shop.arena.settings.data_dir / "rage.sqlite3", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    return other


def states(shop: Workshop) -> dict[str, int]:
    with shop.arena.read() as db:
        found = [row.status for row in db.execute(select(tables.match.c.status))]
    return {status: found.count(status) for status in set(found)}


def play_one(shop: Workshop) -> tuple[leases.Assignment, Batch]:
    match = leases.claim(shop.arena, shop.name)
    assert match is not None
    batch = Batch([match])
    batch.begin()
    batch.end(playing._play(shop, match))
    assert len(batch.held()) == 1
    return match, batch


def test_a_trace_shows_what_a_worker_spends_its_time_on(shop: Workshop) -> None:
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


def test_a_result_waits_for_the_database_and_is_given_in(shop: Workshop) -> None:
    _, batch = play_one(shop)
    other = held(shop)
    giving = threading.Thread(target=playing._give_in, args=(shop, batch, None))
    giving.start()
    while not shop.spool.waiting():
        time.sleep(0.01)
    other.close()
    giving.join()
    assert states(shop) == {"done": 1, "planned": 3}
    assert list(shop.spool.directory.iterdir()) == []


def test_a_result_whose_worker_gave_up_is_given_in_by_another_and_counts_once(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "TRY_AGAIN_SECONDS", 0.0)
    _, batch = play_one(shop)
    other = held(shop)
    assert playing._give_in(shop, batch, ONE) == []
    other.close()
    assert states(shop) == {"leased": 1, "planned": 3}
    another = Workshop(shop.arena.settings, 1)
    another._put_in_order()
    another._put_in_order()
    assert states(shop) == {"done": 1, "planned": 3}
    assert another.spool.waiting() == []


def test_a_result_that_comes_too_late_from_the_disk_is_refused_without_harm(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "TRY_AGAIN_SECONDS", 0.0)
    match, batch = play_one(shop)
    other = held(shop)
    playing._give_in(shop, batch, ONE)
    other.close()
    lost.inherit(shop.arena, shop.place, "another")
    again = leases.claim(shop.arena, "another")
    assert again is not None and again.number == match.number
    Workshop(shop.arena.settings, 1)._put_in_order()
    assert states(shop) == {"leased": 1, "planned": 3}
    assert shop.spool.waiting() == []
    with shop.arena.read() as db:
        assert incidents.counts(db)[incidents.LATE] == 1


def test_a_worker_that_is_to_stop_leaves_its_result_on_the_disk(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, batch = play_one(shop)
    monkeypatch.setattr(stopping, "asked", lambda: True)
    other = held(shop)
    assert playing._give_in(shop, batch, None) == []
    assert len(shop.spool.waiting()) == 1
    other.close()


def test_a_worker_that_is_to_stop_claims_nothing(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "asked", lambda: True)
    playing.play_for_a_while(shop)
    assert states(shop) == {"planned": 4}


@pytest.mark.parametrize(("sick", "suspicion"), [(True, 0), (False, lost.ALONE)])
def test_a_match_is_suspected_only_on_a_machine_that_is_well(
    shop: Workshop, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, sick: bool, suspicion: int
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise SandboxError("no room on the disk")

    monkeypatch.setattr(playing, "play_match", broken)
    monkeypatch.setattr(shop, "forget_sandbox", lambda: None)
    match = leases.claim(shop.arena, shop.name)
    assert match is not None
    if sick:
        monkeypatch.setattr(shop, "sandbox", broken)
    assert playing._play(shop, match) is None
    with shop.arena.read() as db:
        row = db.execute(select(tables.match).where(tables.match.c.number == match.number)).one()
    assert (row.status, row.suspicion) == ("planned", suspicion)
    assert row.trouble == "SandboxError: no room on the disk"
    if sick:
        playing.play_for_a_while(shop)
        assert states(shop) == {"planned": 4}, "a sick machine claims nothing"


def test_everything_is_put_right_by_the_reaper_after_a_worker_vanished(shop: Workshop) -> None:
    play_one(shop)
    limit = time.monotonic() + 60
    while states(shop).get("leased"):
        assert time.monotonic() < limit
        reap.reap(shop.arena)
        time.sleep(0.3)
    playing.play_for_a_while(shop)
    assert states(shop).get("done", 0) >= 1


def test_every_line_about_a_match_bears_its_id(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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


def lasting(shop: Workshop, **told: int) -> None:
    shop.arena = replace(shop.arena, settings=replace(shop.arena.settings, **told))


def batch_of(shop: Workshop, many: int) -> Batch:
    with shop.arena.read() as db:
        of = db.execute(select(tables.tournament.c.id)).scalar_one()
    shop.workers = 1
    return Batch(leases.claim_some(shop.arena, shop.name, Share(10.0 * many, {of: 10.0}, 0)))


def test_short_matches_are_claimed_and_given_in_together(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    lasting(shop, batch_ms=60_000, chunk_ms=60_000)
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
    assert states(shop) == {"done": 4}


def test_a_worker_that_is_told_to_stop_hands_back_what_it_has_not_begun(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(shop, 2)
    monkeypatch.setattr(stopping, "asked", lambda: True)
    assert playing._play_all(shop, batch, batch.held())  # type: ignore[arg-type]
    assert playing._give_in(shop, batch, None) == []
    assert states(shop) == {"done": 1, "planned": 3}
    with shop.arena.read() as db:
        assert sorted(db.scalars(select(tables.match.c.attempts))) == [0, 0, 0, 1]


def test_a_match_that_lasts_keeps_nobody_waiting_for_the_rest_of_its_batch(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(shop, 2)
    lasting(shop, batch_ms=1)
    play, seen = playing.play_match, []

    def slow(*given: Any, **told: Any) -> Any:
        while states(shop).get("leased", 0) > 1:
            time.sleep(0.02)
        seen.append(states(shop))
        return play(*given, **told)

    monkeypatch.setattr(playing, "play_match", slow)
    assert playing._play_all(shop, batch, batch.held())  # type: ignore[arg-type]
    assert seen == [{"leased": 1, "planned": 3}]
    playing._give_in(shop, batch, None)
    assert states(shop) == {"done": 1, "planned": 3}


def test_results_of_a_batch_wait_for_the_database_together(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(shop, 2)
    lasting(shop, batch_ms=60_000)
    assert playing._play_all(shop, batch, batch.held())  # type: ignore[arg-type]
    monkeypatch.setattr(playing, "TRY_AGAIN_SECONDS", 0.0)
    other = held(shop)
    assert playing._give_in(shop, batch, ONE) == []
    assert len(shop.spool.waiting()) == 2
    other.close()
    another = Workshop(shop.arena.settings, 1)
    another._put_in_order()
    assert states(shop) == {"done": 2, "planned": 2} and another.spool.waiting() == []


def test_a_process_knows_what_its_predecessor_was_at_when_it_died(shop: Workshop) -> None:
    batch = batch_of(shop, 2)
    match = batch.begin()
    assert match is not None
    in_play.note(shop.number, match.match_id)
    heir = Workshop(shop.arena.settings, shop.number)
    heir.name += "0"  # in the same process here, which would be another's
    heir._put_in_order()
    heir.arena.close()
    with shop.arena.read() as db:
        found = dict(db.execute(select(tables.match.c.number, tables.match.c.suspicion)).all())  # type: ignore[arg-type]
    assert found == {match.number: lost.ALONE} | {n: 0 for n in range(4) if n != match.number}
    assert in_play.noted(shop.number) is None
