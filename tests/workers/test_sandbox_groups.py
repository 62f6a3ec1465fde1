"""Control groups: version 2 is read from a plain folder with its files, where a host has only version 1."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from workers.sandbox import groups, hierarchy


@pytest.fixture
def unified(tmp_path: Path, monkeypatch) -> Path:
    """A folder that looks like a v2 hierarchy which hands out memory and pids."""
    (tmp_path / "cgroup.subtree_control").write_text("memory pids cpu")
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"30 23 0:26 / {tmp_path} rw,nosuid - cgroup2 cgroup2 rw\n")
    own = tmp_path / "own"
    own.write_text("0::/user.slice/worker\n")
    monkeypatch.setattr(hierarchy, "MOUNTS", mounts)
    monkeypatch.setattr(hierarchy, "OWN", own)
    return tmp_path


def test_a_hierarchy_that_makes_no_groups_is_left_alone(unified: Path) -> None:
    assert hierarchy.find() is None  # a plain folder: nothing to enter by
    assert list(unified.glob("rage-*")) == []


@pytest.fixture
def kernel(monkeypatch) -> None:
    """Folders made from now on have the files of a v2 group, as the kernel documents them."""
    files = {
        "cgroup.procs": "",
        "cgroup.controllers": "memory pids",
        "cgroup.subtree_control": "",
        "memory.max": "max",
        "memory.swap.max": "max",
        "memory.oom.group": "0",
        "pids.max": "max",
    }
    mkdir = Path.mkdir

    def make(self: Path, *args, **options) -> None:
        mkdir(self, *args, **options)
        for name, text in files.items():
            (self / name).write_text(text)

    def remove(self: Path) -> None:
        for name in os.listdir(self):
            (self / name).unlink()
        os.rmdir(self)

    monkeypatch.setattr(Path, "mkdir", make)
    monkeypatch.setattr(Path, "rmdir", remove)


def test_groups_are_made_beside_our_own_and_limited_as_version_2_has_it(unified: Path, kernel) -> None:
    found = hierarchy.find()
    assert found == groups.Groups(2, unified, unified, unified)
    made = found.make("rage-0.1-1", memory=1 << 28, processes=18, count_cpu=True)
    told = {name: (made.memory / name).read_text() for name in ("memory.max", "memory.swap.max", "pids.max")}
    assert told == {"memory.max": "268435456", "memory.swap.max": "0ax", "pids.max": "18x"}  # files keep more
    assert (made.memory / "memory.oom.group").read_text() == "1"
    made.remove()
    assert not made.memory.exists()


TREE = Path("/sys/fs/cgroup/unified")
real = pytest.mark.skipif(not os.access(TREE, os.W_OK), reason="no v2 hierarchy to write to")


@pytest.fixture
def branch() -> Iterator[Path]:
    """A group of the kernel's own, which here has no controllers, with a process that has a child."""
    folder = TREE / f"rage-test-{os.getpid()}"
    folder.mkdir()
    running = subprocess.Popen(["/bin/sh", "-c", f"echo 0 > {folder}/cgroup.procs; sleep 60 & sleep 60"])
    while len((folder / "cgroup.procs").read_text().split()) < 3:
        time.sleep(0.01)
    yield folder
    for group in (folder / hierarchy.ASIDE, folder):
        assert groups.remove(group)
    running.wait()


@real
def test_a_group_is_ended_at_once_with_all_its_processes(branch: Path) -> None:
    assert groups.remove(branch)
    assert not branch.exists()


@real
def test_processes_move_aside_where_only_their_own_group_is_ours(branch: Path, monkeypatch) -> None:
    assert not hierarchy._move_aside(branch)  # it could not hand out what we need, so nothing is touched
    monkeypatch.setattr("workers.sandbox.kernel.whole", lambda path: (
        "cpu memory pids" if path.name == "cgroup.controllers" else path.read_text()
    ))  # fmt: skip
    assert hierarchy._move_aside(branch)
    assert (branch / "cgroup.procs").read_text() == ""
    assert len((branch / hierarchy.ASIDE / "cgroup.procs").read_text().split()) == 3
    assert hierarchy._can_make(branch)


def test_a_v2_group_tells_what_it_counted(tmp_path: Path) -> None:
    (tmp_path / "memory.peak").write_text("4096\n")
    (tmp_path / "memory.events").write_text("low 0\nmax 9\noom 3\noom_kill 1\n")
    (tmp_path / "pids.events").write_text("max 7\n")
    (tmp_path / "cpu.stat").write_text("usage_usec 1500\nuser_usec 1000\n")
    group = groups.Group(2, tmp_path, tmp_path, tmp_path)
    assert group.joins() == [str(tmp_path / "cgroup.procs")]
    assert group.seen() == groups.Seen(4096, 1, 7, 3)
    assert group.cpu_ns() == 1_500_000


def test_no_hierarchy_at_all_means_no_groups(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(hierarchy, "MOUNTS", tmp_path / "nothing")
    assert hierarchy.find() is None


def test_what_one_bot_did_is_not_laid_to_the_next(tmp_path: Path) -> None:
    before, after = groups.Seen(4096, 1, 7, 3), groups.Seen(8192, 1, 9, 3)
    assert after.since(before) == groups.Seen(8192, 0, 2, 0)
