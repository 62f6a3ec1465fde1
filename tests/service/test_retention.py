"""Old records move into files: results stay, records are still to be had, and nothing is lost on the way."""

import fcntl
import json
import socket
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, func, select, update

from service import (
    admin,
    archive,
    desk,
    doctor,
    folds,
    inquiry,
    matches,
    presence,
    reap,
    replays,
    rerate,
    retention,
    shelf,
    summaries,
    tournaments,
)
from service.accounts import Account
from service.errors import Conflict, Gone, NotFound
from service.settings import Settings
from service.shelf import Damaged, Entry
from service.tables import match, record_file, summary, tournament
from service.work import Arena

SMALL = {"preset": "fundex", "hand_sizes": [1]}
DAY = 86_400


@pytest.fixture
def cup(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], play_all: Callable[[Arena], int]
) -> str:
    """A tournament of 24 matches that is over and summed up."""
    told = {"name": "Cup", "entrants": ready_bots(4), "players": 2, "rules": SMALL, "deals": 2}
    made = tournaments.create(arena, author, told).id
    assert play_all(arena) == 24
    reap.reap(arena)
    return made


def in_database(arena: Arena) -> int:
    with arena.read() as db:
        return db.scalar(select(func.count(match.c.record))) or 0


def test_a_record_in_a_file_is_the_record_it_was(arena: Arena, cup: str) -> None:
    ids = [f"{cup}-{number}" for number in range(24)]
    before = [matches.record(arena, each) for each in ids], folds.standings_of(arena, cup)
    known = matches.of_deal(arena, ids[5])
    deal, told = replays.tables_of(arena, known), replays.told(arena, ids[5])
    path = retention.move(arena, cup)
    assert in_database(arena) == 0 and path.stat().st_mode & 0o777 == 0o600
    assert ([matches.record(arena, each) for each in ids], folds.standings_of(arena, cup)) == before
    assert (replays.tables_of(arena, known), replays.told(arena, ids[5])) == (deal, told)
    with arena.read() as db:
        kept = summaries.of_tournament(db, cup)
    assert kept is not None and asdict(inquiry.worked_out(arena, cup)) == asdict(
        inquiry._read(kept["fairness"])
    )
    assert rerate.rerate(arena).wrong == []
    assert retention.move(arena, cup) == path, "again: no harm"
    assert retention.bring_back(arena, cup) == 24 == in_database(arena)
    assert [matches.record(arena, each) for each in ids] == before[0]
    assert retention.due(arena, -1) == retention.shelved(arena) == [], "it is to stay"
    with pytest.raises(NotFound):
        retention.bring_back(arena, cup)
    assert retention.move(arena, cup) == path and in_database(arena) == 0, "but for who names it"


def test_without_its_file_a_record_is_gone_and_it_is_said_where_to(arena: Arena, cup: str) -> None:
    path = retention.move(arena, cup)
    path.rename(path.with_suffix(".elsewhere"))
    with pytest.raises(Gone, match=path.name):
        matches.record(arena, f"{cup}-3")
    found = rerate.rerate(arena)
    assert found.wrong == [] and path.name in found.away[0]
    assert [each.here for each in retention.shelved(arena)] == [False]


def test_a_damaged_file_is_found_and_never_taken_for_a_record(arena: Arena, cup: str) -> None:
    path = retention.move(arena, cup)
    packed = bytearray(path.read_bytes())
    packed[-shelf.DIGEST - 5] ^= 1  # in the last record
    path.write_bytes(packed)
    (moved,) = retention.shelved(arena)
    assert "damaged" in (retention.trouble(arena, moved) or "")
    with pytest.raises(Gone):
        matches.record(arena, f"{cup}-23")
    assert matches.record(arena, f"{cup}-0")["about"]["match"] == f"{cup}-0"
    assert "damaged" in rerate.rerate(arena).wrong[0]
    with pytest.raises(Damaged):
        retention.bring_back(arena, cup)


def test_nothing_leaves_the_database_before_the_file_is_proved(
    arena: Arena, cup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "checked", lambda path: "something else")
    with pytest.raises(Damaged):
        retention.move(arena, cup)
    assert in_database(arena) == 24 and retention.shelved(arena) == []


def test_what_was_interrupted_goes_on(arena: Arena, cup: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PORTION", 10)

    def stop(done: int, _: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retention.move(arena, cup, stop)
    assert in_database(arena) == 14
    assert all(matches.record(arena, f"{cup}-{number}") for number in range(24))
    assert retention.due(arena, 365) == [cup]
    assert [each.partly_back for each in retention.shelved(arena)] == [False]
    retention.move(arena, cup)
    assert in_database(arena) == 0 and retention.due(arena, 0) == []
    with pytest.raises(KeyboardInterrupt):
        retention.bring_back(arena, cup, stop)
    assert in_database(arena) == 10
    assert all(matches.record(arena, f"{cup}-{number}") for number in range(24))
    assert [each.partly_back for each in retention.shelved(arena)] == [True]
    assert retention.bring_back(arena, cup) == in_database(arena) == 24


def test_what_is_brought_back_during_a_move_is_not_lost(
    arena: Arena, cup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "PORTION", 10)
    with pytest.raises(Conflict, match="brought back meanwhile"):
        retention.move(arena, cup, lambda done, of: retention.bring_back(arena, cup) and None)
    assert in_database(arena) == 24


def test_a_file_is_never_written_over(arena: Arena, cup: str) -> None:
    path = retention.move(arena, cup)
    packed = path.read_bytes()
    with arena.work() as work:  # as a schema that went down and up again has it
        work.db.execute(delete(record_file))
    assert retention.move(arena, cup).read_bytes() == packed
    assert [each.matches for each in retention.shelved(arena)] == [24]
    assert retention.bring_back(arena, cup) == 24
    held = [entry for entry in shelf.entries(path, of=cup) if entry.number != 3]
    left = [packed for number, packed in shelf.each(path, of=cup) if number != 3]
    shelf.write(path, {"tournament": cup}, held, iter(left))
    packed = path.read_bytes()
    with pytest.raises(Conflict, match="put it away first"):
        retention.move(arena, cup)
    assert path.read_bytes() == packed and in_database(arena) == 24
    path.unlink()
    with arena.work() as work:
        work.db.execute(update(match).where(match.c.number == 3).values(record=None))
    with pytest.raises(Conflict, match="23 records of 24 matches"):
        retention.move(arena, cup)
    assert not path.exists() and in_database(arena) == 23


def test_another_tournaments_file_is_never_taken_for_its_own(arena: Arena, cup: str) -> None:
    path = retention.move(arena, cup)
    held, records = shelf.entries(path, of=cup), list(shelf.each(path, of=cup))
    shelf.write(path, {"tournament": "t_other"}, held, (packed for _, packed in records))
    with pytest.raises(Gone, match="cannot be read"):
        matches.record(arena, f"{cup}-3")
    assert "records of t_other" in rerate.rerate(arena).wrong[0]
    with pytest.raises(Damaged, match="another file"):
        retention.bring_back(arena, cup)
    shelf.write(path, {"tournament": cup}, held[1:], (packed for _, packed in records[1:]))
    assert [f"{cup}-0:" in each for each in rerate.rerate(arena).wrong] == [True], "one is missing, no more"


def test_what_is_away_keeps_a_tournament_from_being_summed_up(arena: Arena, cup: str, clock: Any) -> None:
    path = retention.move(arena, cup)
    with arena.work() as work:
        work.db.execute(delete(summary))
    path.rename(path.with_suffix(".elsewhere"))
    assert desk.sum_up(arena) == [] and inquiry.fairness_of(arena, cup).matches == 24
    path.with_suffix(".elsewhere").rename(path)
    assert desk.sum_up(arena) == [], "put off"
    clock.turn(desk.PUT_OFF.total_seconds())
    assert desk.sum_up(arena) == [cup]


def test_one_record_is_found_without_the_others(tmp_path: Path) -> None:
    path, held = tmp_path / "many.records", [Entry(number, 0, 0) for number in range(50_000)]
    shelf.write(path, {"tournament": "t"}, held, (b"" for _ in held))
    tracemalloc.start()
    assert list(shelf.some(path, [31_313], of="t")) == [(31_313, b"")]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200_000 < path.stat().st_size, "bytes"


def test_the_desk_moves_what_is_old_enough_if_it_is_told_to(arena: Arena, cup: str, clock: Any) -> None:
    clock.turn(8 * DAY)
    reap.reap(arena)
    assert in_database(arena) == 24
    keeping = replace(arena, settings=replace(arena.settings, records_days=10))
    reap.reap(keeping)
    assert in_database(arena) == 24
    clock.turn(3 * DAY)
    reap.reap(keeping)
    assert in_database(arena) == 0


def test_only_what_is_over_is_moved(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]
) -> None:
    told = {"name": "Cup", "entrants": ready_bots(2), "players": 2, "rules": SMALL, "deals": 1}
    made = tournaments.create(arena, author, told).id
    with pytest.raises(Conflict, match="running"):
        retention.move(arena, made)
    with pytest.raises(NotFound):
        retention.move(arena, "t_nobody")
    tournaments.cancel(arena, author, made)
    reap.reap(arena)
    assert retention.due(arena, -1) == [], "nothing was played"
    with pytest.raises(Conflict, match="0 records of 0"):
        retention.move(arena, made)


def test_an_operators_commands(arena: Arena, cup: str, tmp_path: Path) -> None:
    environment = {"RAGE_DATABASE_URL": arena.database.url.render_as_string(hide_password=False)}

    def run(*words: str, status: int = 0) -> str:
        done = CliRunner().invoke(admin.main, ["--data-dir", str(tmp_path), *words], env=environment)
        assert done.exit_code == status, done.output
        return done.output

    assert "All records are in the database" in run("records", "list")
    with arena.work() as work:
        kept = work.db.execute(select(summary)).one()
        work.db.execute(delete(summary))
        work.db.execute(update(tournament).values(finished_at=datetime(2020, 1, 1, tzinfo=UTC)))
    assert "not summed them up yet: 1" in run("records", "move", "--days", "0")
    with arena.work() as work:
        work.db.execute(summary.insert().values(kept._asdict()))
    run("records", "move", status=2)
    assert "no tournament Summer open" in run("records", "move", "Summer open", status=1)
    assert f"{cup}.records" in run("records", "move", "cUP")
    assert "brought back: 24" in run("records", "back", "Cup")
    assert f"{cup}.records" in run("records", "move", cup)
    (told,) = json.loads(run("records", "list", "--check", "--json"))
    assert (told["tournament_id"], told["matches"], told["here"], told["trouble"]) == (cup, 24, True, None)
    here = Settings.from_environment({**environment, "RAGE_DATA_DIR": str(tmp_path)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retention, "PORTION", 10)
        with pytest.raises(ZeroDivisionError):
            retention.bring_back(arena, cup, lambda done, of: 1 // 0)
    assert "partly brought back" in run("records", "list")
    found = doctor._records(here)
    assert (found.state, cup in found.text) == (doctor.State.ODD, True)
    run("records", "move", cup)
    assert "partly" not in run("records", "list")
    assert "back up" in run("backup", str(tmp_path / "all.rage"))
    (tmp_path / "records" / f"{cup}.records").write_bytes(b"nonsense")
    assert "damaged" in run("records", "list", "--check", status=1)
    (tmp_path / "records" / f"{cup}.records").unlink()
    assert f"{cup}.records is missing in" in run("records", "list", "--check", status=1)
    found = doctor._records(Settings.from_environment({**environment, "RAGE_DATA_DIR": str(tmp_path)}))
    assert (found.state, f"1 of 1: {cup}.records" in found.text) == (doctor.State.ILL, True)
    player = {"RAGE_DATA_DIR": str(tmp_path / "player"), "RAGE_REDIS_URL": "redis://elsewhere"}
    playing = Settings.from_environment({**environment, **player})
    assert doctor._records(playing).state is doctor.State.ILL, "it may be who answers"
    presence.here(arena, f"{socket.gethostname()}-1-1-1", "A", {})
    assert doctor._records(playing).state is doctor.State.WELL
    presence.gone(arena, f"{socket.gethostname()}-1-1-1")
    assert "Put files of records" in run("restore", str(tmp_path / "all.rage"), "--replace")
    assert archive.look(tmp_path / "all.rage").tables["record_file"] == 1


@given(st.dictionaries(st.integers(0, 2**31), st.binary(max_size=60), max_size=30), st.integers(0, 2**31))
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, told: dict[int, bytes], other: int
) -> None:
    path = tmp_path_factory.mktemp("shelf") / "one.records"
    listed = sorted(told.items())
    entries = [Entry(number, len(packed), zlib.crc32(packed)) for number, packed in listed]
    sha256 = shelf.write(path, {"tournament": "t"}, entries, (packed for _, packed in listed))
    assert shelf.checked(path) == sha256
    assert list(shelf.each(path, of="t")) == listed
    wanted = sorted({other, *told})
    assert list(shelf.some(path, wanted, of="t")) == listed
    with pytest.raises(Damaged, match="not those of u"):
        list(shelf.each(path, of="u"))
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_name_that_two_have_is_no_name(arena: Arena, cup: str, author: Account) -> None:
    ids = [each.bot_id for each in tournaments.tournament(arena, cup).entrants]
    told = {"name": tournaments.tournament(arena, cup).name.upper(), "entrants": ids, "start_at": "manual"}
    other = tournaments.create(arena, author, told).id
    with pytest.raises(Conflict, match=f"2 tournaments .*{other}"):
        retention.named(arena, told["name"])
    assert retention.named(arena, other) == other


def test_what_a_killed_writer_left_is_swept_and_what_one_writes_is_not(tmp_path: Path) -> None:
    left, held = tmp_path / "t.records.00000000.part", tmp_path / "t.records.11111111.part"
    left.write_bytes(b"half")
    with held.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        shelf.write(tmp_path / "u.records", {}, [Entry(7, 3, zlib.crc32(b"abc"))], iter([b"abc"]))
        assert {each.name for each in tmp_path.iterdir()} == {"u.records", held.name}
    shelf.sweep(tmp_path)
    assert not held.exists()


@pytest.mark.parametrize("cut", [0, 1, 40, -1, -33])
def test_a_file_that_is_cut_short_is_damaged(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "one.records"
    shelf.write(path, {}, [Entry(7, 3, zlib.crc32(b"abc"))], iter([b"abc"]))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(Damaged):
        shelf.checked(path)
