"""Control groups: version 2 is read from a plain folder with its files, where a host has only version 1."""

from pathlib import Path

import pytest

from workers.sandbox import groups


@pytest.fixture
def unified(tmp_path: Path, monkeypatch) -> Path:
    """A folder that looks like a v2 hierarchy which hands out memory and pids."""
    (tmp_path / "cgroup.subtree_control").write_text("memory pids cpu")
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"30 23 0:26 / {tmp_path} rw,nosuid - cgroup2 cgroup2 rw\n")
    own = tmp_path / "own"
    own.write_text("0::/user.slice/worker\n")
    monkeypatch.setattr(groups, "MOUNTS", mounts)
    monkeypatch.setattr(groups, "OWN", own)
    return tmp_path


def test_a_unified_hierarchy_without_writable_processes_file_is_left_alone(unified: Path) -> None:
    assert groups.find() is None


def test_a_v2_group_tells_what_it_counted(tmp_path: Path) -> None:
    (tmp_path / "memory.peak").write_text("4096\n")
    (tmp_path / "memory.events").write_text("low 0\nmax 3\noom 1\noom_kill 1\n")
    (tmp_path / "pids.events").write_text("max 7\n")
    (tmp_path / "cpu.stat").write_text("usage_usec 1500\nuser_usec 1000\n")
    group = groups.Group(2, tmp_path, tmp_path, tmp_path)
    assert group.joins() == [str(tmp_path / "cgroup.procs")]
    assert group.seen() == groups.Seen(4096, 1, 7, 3)
    assert group.cpu_ns() == 1_500_000


def test_no_hierarchy_at_all_means_no_groups(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(groups, "MOUNTS", tmp_path / "nothing")
    assert groups.find() is None


def test_what_one_bot_did_is_not_laid_to_the_next(tmp_path: Path) -> None:
    before, after = groups.Seen(4096, 1, 7, 3), groups.Seen(8192, 1, 9, 3)
    assert after.since(before) == groups.Seen(8192, 0, 2, 0)
