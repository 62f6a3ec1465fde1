"""A backup holds everything, can be restored into either kind of database, and is not taken when damaged."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from loadtests import singly
from service import accounts, archive, folds, refit, schema, tournaments
from service.accounts import Account
from service.errors import Conflict, Invalid
from service.jobs import InlineQueue
from service.settings import Settings
from service.work import Arena

SPEC = {"name": "Cup", "players": 4, "deals": 2, "rules": {"preset": "fundex", "hand_sizes": [2, 1]}}


@pytest.fixture
def empty(tmp_path: Path, clock: Any) -> Iterator[Arena]:
    """Another, empty SQLite database."""
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path / "other")})
    settings.data_dir.mkdir()
    schema.migrate(settings)
    opened = Arena.open(settings, InlineQueue(), clock)
    yield opened
    opened.close()


@pytest.fixture
def cup(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], finish: Callable[..., Any]
) -> str:
    """A tournament half played, rated."""
    made = tournaments.create(arena, author, {**SPEC, "entrants": ready_bots(4)})
    for _ in range(5):
        held = singly.claim(arena, "w")
        assert held is not None
        finish(arena, held)
    refit.settle(arena, made.id)
    return made.id


def rows(arena: Arena) -> dict[str, list[Any]]:
    with arena.read() as db:
        return {
            each.name: [tuple(row) for row in db.execute(select(each).order_by(*each.primary_key))]
            for each in archive.TABLES
        }


def test_a_backup_goes_into_another_kind_of_database_and_back(
    arena: Arena, cup: str, empty: Arena, tmp_path: Path, play_all: Callable[[Arena], int]
) -> None:
    before = rows(arena)
    made = archive.backup(arena, tmp_path / "backup")
    assert archive.restore(empty, tmp_path / "backup") == made
    assert rows(empty) == before
    assert made.rows == sum(map(len, before.values())) > 40
    archive.backup(empty, tmp_path / "again")
    play_all(arena)
    with pytest.raises(Conflict, match="--replace"):
        archive.restore(arena, tmp_path / "again")
    archive.restore(arena, tmp_path / "again", replace=True)
    assert rows(arena) == before
    assert play_all(arena) == 3
    assert refit.settle(arena, cup), "a new snapshot finds a number of its own"


def test_both_go_on_alike(
    arena: Arena, cup: str, empty: Arena, tmp_path: Path, play_all: Callable[[Arena], int]
) -> None:
    archive.backup(arena, tmp_path / "backup")
    archive.restore(empty, tmp_path / "backup")
    assert play_all(arena) == play_all(empty) == 3
    assert folds.standings_of(arena, cup) == folds.standings_of(empty, cup)


def test_a_backup_sees_one_moment_though_writing_goes_on(
    arena: Arena, cup: str, tmp_path: Path, play_all: Callable[[Arena], int]
) -> None:
    before = {name: len(found) for name, found in rows(arena).items()}
    told: list[int] = []

    def meanwhile(done: int, total: int) -> None:
        if not told:
            play_all(arena)
            accounts.register(arena, name="Eve")
        told.append(done)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "BATCH", 10)
        made = archive.backup(arena, tmp_path / "backup", meanwhile)
    assert told
    assert made.tables == before == archive.look(tmp_path / "backup").tables
    assert len(rows(arena)["account"]) == before["account"] + 1


def damaged(path: Path, change: Callable[[list[bytes]], list[bytes]]) -> Path:
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(change(lines))))
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:-1],
        lambda lines: [*lines[:3], *lines[4:]],
        lambda lines: [*lines[:2], lines[2].replace(b"A", b"B").replace(b"a", b"b"), *lines[3:]],
        lambda lines: [json.dumps({"format": "tar"}).encode() + b"\n", *lines[1:]],
        lambda lines: [],
        lambda lines: [b"\x00" * 80],
    ],
)
def test_a_damaged_backup_is_refused_before_anything_is_thrown_away(
    arena: Arena, author: Account, tmp_path: Path, change: Any
) -> None:
    archive.backup(arena, tmp_path / "backup")
    with pytest.raises(Invalid, match="not a whole backup"):
        archive.restore(arena, damaged(tmp_path / "backup", change), replace=True)
    assert len(rows(arena)["account"]) == 1


def test_a_cut_file_and_one_of_another_schema_are_refused(
    arena: Arena, author: Account, tmp_path: Path
) -> None:
    path = tmp_path / "backup"
    archive.backup(arena, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Invalid, match="not a whole backup"):
        archive.restore(arena, path, replace=True)
    with pytest.raises(Invalid, match="not a whole backup"):
        archive.restore(arena, tmp_path / "none", replace=True)
    path.write_bytes(whole)
    with arena.work() as work:
        work.db.exec_driver_sql("UPDATE alembic_version SET version_num = '0000'")
    with pytest.raises(Invalid, match="was made at schema"):
        archive.restore(arena, path, replace=True)


def test_a_backup_that_fails_leaves_nothing_and_only_its_owner_may_read_one(
    arena: Arena, author: Account, tmp_path: Path
) -> None:
    archive.backup(arena, tmp_path / "good")
    assert (tmp_path / "good").stat().st_mode & 0o777 == 0o600

    def fail(done: int, total: int) -> None:
        raise RuntimeError

    with pytest.MonkeyPatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr(archive, "BATCH", 1)
        archive.backup(arena, tmp_path / "bad", fail)
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith("bad")]
