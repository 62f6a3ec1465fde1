"""The made-up past is consistent, and the capacity model obeys what no measurement can change."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from loadtests import capacity, ledger
from loadtests.capacity import Size
from loadtests.measured import Measured, known
from service import health, rankings, rerate

COSTS = Measured(
    origin="made up",
    mode="A",
    match=100.0,
    batch_worker=4.0,
    batch_database=3.0,
    each_worker=1.0,
    each_database=1.0,
    lease_worker=0.0,
    lease_database=0.0005,
    pooled=1.5,
    pooler=0.5,
    renew_database=0.5,
    present_database=0.5,
    pass_database=20.0,
    pass_lease=0.01,
    rankings_warm=0.1,
    rankings_cold=1.0,
    read_database=1.0,
    match_bytes=2_000.0,
)
SIZE = Size(database_cores=4, api_cores=2, connections=400, match_ms=100)


def test_a_ledger_is_what_its_records_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"EACH": 40, "GAMES": 8, "ENTRANTS": 10, "STEP": 7}.items():
        monkeypatch.setattr(ledger, name, value)
    arena = ledger.opened(f"sqlite:///{tmp_path}/ledger.sqlite3")
    told: list[int] = []
    ledger.fill(arena, 12, 200, waiting=8, tell=told.append)
    found = rerate.rerate(arena)
    assert (found.wrong, found.matches, told[-1]) == ([], 200, 200)
    assert len(rankings.rankings(arena).items) == 12
    figures = health.metrics(arena)
    assert (figures['rage_matches{status="done"}'], figures['rage_matches{status="planned"}']) == (200, 16)
    arena.close()


def test_more_of_anything_never_gets_less_done() -> None:
    few = capacity.load(COSTS, SIZE, 10)
    assert few.carried == pytest.approx(few.matches), "nothing is full yet"
    for workers in capacity.WORKERS:
        usual = capacity.load(COSTS, SIZE, workers)
        assert usual.carried <= usual.matches
        assert capacity.load(COSTS, replace(SIZE, database_cores=8), workers).carried >= usual.carried
        assert capacity.load(COSTS, replace(SIZE, connections=4_000), workers).carried >= usual.carried
        assert capacity.load(COSTS, replace(SIZE, replica=True), workers).carried >= usual.carried
        assert capacity.load(COSTS, replace(SIZE, parts=2), workers).carried >= usual.carried
        assert (
            capacity.load(COSTS, replace(SIZE, batch_ms=500), workers).parts["database"]
            < usual.parts["database"]
        )
        assert (
            capacity.load(COSTS, replace(SIZE, match_ms=1_000), workers).parts["database"]
            < usual.parts["database"]
        )


@pytest.mark.parametrize("match_ms", [40.0, 1_000.0])
@pytest.mark.parametrize("workers", capacity.WORKERS)
def test_with_all_remedies_all_workers_are_carried(match_ms: float, workers: int) -> None:
    *_, (_, last) = capacity.remedies(COSTS, replace(SIZE, match_ms=match_ms), workers)
    found = capacity.load(COSTS, last, workers)
    assert found.carried == pytest.approx(found.matches)


def test_what_gives_way_first_is_told_with_what_helps(capsys: pytest.CaptureFixture[str]) -> None:
    capacity.show(COSTS, replace(SIZE, match_ms=40))
    few, many = capsys.readouterr().out.split("\n   1,000  ")
    assert "connections;" not in few
    rows = [line.strip() for line in many.splitlines()[:6]]
    assert [row.partition("  ")[0].lstrip("+ 0123456789") for row in rows] == [
        "one match a lease",
        "matches a lease",
        "matches a lease",
        "PgBouncers",
        "a replica for reads",
        "installations",
    ]
    found = [next(word for word in ("database;", "connections;", "nothing;") if word in row) for row in rows]
    assert found == [*["database;"] * 5, "nothing;"]


def test_figures_of_another_machine_are_read_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    path.write_text(json.dumps(asdict(COSTS)))
    assert known(path) == COSTS
    path.write_text(json.dumps({"match": 3}))
    with pytest.raises(SystemExit, match="each_worker"):
        known(path)
