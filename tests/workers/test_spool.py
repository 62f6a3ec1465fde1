"""Results on disk: written whole, bounded, each in one process's hands, given in by whoever comes next."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from service.errors import Unavailable
from service.sheet import Sheet
from workers import spool as spooling
from workers.spool import Spool


def sheet(number: int = 1) -> Sheet:
    columns = {"mode": "A", "replays": 0, "faults": 0, "decisions": 4, "record": bytes(range(256))}
    return Sheet("t_x", number, 1, f"{number:032x}", columns, [{"seat": 0}], [])


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


def test_a_sheet_is_on_disk_only_while_it_is_being_given_in(spool: Spool) -> None:
    assert spool.waiting() == []
    with spool.kept(sheet()) as safe:
        assert safe
        (path,) = spool.waiting()
        assert Sheet.loads(path.read_bytes()) == sheet()
        assert path.stat().st_mode & 0o777 == 0o600
    assert list(spool.directory.iterdir()) == []


def test_what_could_not_be_given_in_is_given_in_by_the_next(spool: Spool) -> None:
    with pytest.raises(Unavailable), spool.kept(sheet()):
        raise Unavailable
    given: list[Sheet] = []
    assert spool.deliver(given.append) == 1
    assert given == [sheet()]
    assert spool.deliver(given.append) == 0


def test_a_sheet_in_somebodys_hands_is_left_to_them(spool: Spool) -> None:
    with spool.kept(sheet()):
        assert spool.deliver(lambda _: pytest.fail("it is not ours")) == 0


def test_a_sheet_stays_until_it_can_be_given_in(spool: Spool) -> None:
    with pytest.raises(Unavailable), spool.kept(sheet()):
        raise Unavailable

    def away(_: Sheet) -> None:
        raise Unavailable

    with pytest.raises(Unavailable):
        spool.deliver(away)
    assert len(spool.waiting()) == 1


def test_a_sheet_that_cannot_be_given_in_keeps_no_other_from_it(spool: Spool) -> None:
    for number in (1, 2):
        with pytest.raises(Unavailable), spool.kept(sheet(number)):
            raise Unavailable
    given: list[Sheet] = []

    def but_one(each: Sheet) -> None:
        if each == sheet(1):
            raise LookupError("no such match")
        given.append(each)

    assert spool.deliver(but_one) == 1
    assert given == [sheet(2)]
    assert [path.name for path in spool.waiting()] == [f"{sheet(1).match_id}.{sheet(1).token}.json"]


def test_a_sheet_outlives_a_process_that_is_killed(spool: Spool) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom service.sheet import Sheet\n"
        "from workers.spool import Spool\n"
        "with Spool(Path(sys.argv[1])).kept(Sheet.loads(sys.stdin.buffer.read())) as safe:\n"
        "    print(safe, flush=True)\n    time.sleep(60)\n"
    )
    argv = [sys.executable, "-c", code, str(spool.directory)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdin and writer.stdout
        writer.stdin.write(sheet().dumps())
        writer.stdin.close()
        assert writer.stdout.readline() == b"True\n"
        assert spool.deliver(lambda _: None) == 0, "its writer lives"
        os.kill(writer.pid, signal.SIGKILL)
    given: list[Sheet] = []
    assert spool.deliver(given.append) == 1
    assert given == [sheet()]


def test_it_is_bounded_in_number_and_bytes(tmp_path: Path) -> None:
    few = Spool(tmp_path / "few", most_sheets=2)
    small = Spool(tmp_path / "small", most_bytes=len(sheet().dumps()))
    for spool, fit in ((few, 2), (small, 1)):
        for number in range(4):
            with pytest.raises(Unavailable), spool.kept(sheet(number)) as safe:
                assert safe is (number < fit)
                raise Unavailable
        assert len(spool.waiting()) == fit


def test_without_a_place_to_write_it_says_so_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with Spool(tmp_path / "file" / "spool").kept(sheet()) as safe:
        assert not safe


def test_what_is_half_written_is_cleared_away_and_what_is_no_sheet_set_aside(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spooling, "MOST_ASIDE", 2)
    spool.directory.mkdir()
    (spool.directory / "t_x-1.aa.123.part").write_text('{"tournament_id')
    for number in range(4):
        (spool.directory / f"t_x-{number}.bb.json").write_text(f'{{"{number}": 0}}')
    assert spool.deliver(lambda _: pytest.fail("that is none")) == 0
    with spool.kept(sheet()):
        assert len(list(spool.directory.iterdir())) == 3
    aside = [path.name for path in spool.directory.iterdir()]
    assert len(aside) == 2 and all(name.endswith(".bb.unreadable") for name in aside)
    assert spool.waiting() == []


def test_a_newer_programs_sheet_is_given_in_by_an_older_one() -> None:
    newer = json.dumps({**json.loads(sheet().dumps()), "weather": "fine"}).encode()
    assert Sheet.loads(newer) == sheet()
