"""Copies of the bots' Python and engine: kept while anybody uses them, gone when nobody has for a while."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workers.sandbox import copies

LOCK = """
import sys
from pathlib import Path
from workers.sandbox import copies
print(copies._held(Path(sys.argv[1])) is not None, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A finished copy that nobody has used for a long time."""
    return old(tmp_path / "root-1")


def old(path: Path) -> Path:
    path.mkdir()
    (path / "python").write_text("x")
    (path / copies.SEAL).touch()
    os.utime(path / copies.SEAL, (0, 0))
    return path


def test_what_nobody_uses_goes(folder: Path, tmp_path: Path) -> None:
    engine = old(tmp_path / "engine-1")
    claims = old(tmp_path / "claims")
    copies.prune(tmp_path)
    assert not folder.exists() and not engine.exists() and claims.exists()
    assert list(tmp_path.glob("draft-*")) == []


def test_what_was_used_lately_stays(folder: Path, tmp_path: Path) -> None:
    lock = copies._held(folder)
    assert lock is not None
    os.close(lock)
    copies.prune(tmp_path)
    assert folder.exists()


def test_what_another_worker_holds_stays_until_it_ends(folder: Path, tmp_path: Path) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-c", LOCK, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert worker.stdout and worker.stdin and worker.stdout.readline() == b"True\n"
    os.utime(folder / copies.SEAL, (0, 0))
    copies.prune(tmp_path)
    assert folder.exists()
    worker.kill()
    worker.wait()
    worker.stdin.close()
    worker.stdout.close()
    copies.prune(tmp_path)
    assert not folder.exists()


def test_a_copy_that_is_removed_while_it_is_being_taken_is_made_again(folder: Path, monkeypatch) -> None:
    flock = copies.fcntl.flock

    def meanwhile(lock: int, kind: int) -> None:
        monkeypatch.setattr(copies.fcntl, "flock", flock)
        copies._remove(folder)
        flock(lock, kind)

    monkeypatch.setattr(copies.fcntl, "flock", meanwhile)
    lock = copies.made(folder, lambda draft: (draft / "python").write_text("new") and None)
    assert (folder / "python").read_text() == "new"
    os.close(lock)
