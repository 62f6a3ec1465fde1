"""A core for each child, where there are whole cores to be had."""

import os
from pathlib import Path

import pytest

from workers import cores

HERE = sorted(os.sched_getaffinity(0))


@pytest.mark.parametrize("told", [None, "max 100000", f"{100_000 * len(HERE)} 100000", "nonsense"])
def test_children_take_the_cores_in_turn(tmp_path: Path, told: str | None) -> None:
    if told is not None:
        (tmp_path / "cpu.max").write_text(told)
    assert [cores.own(number, tmp_path) for number in range(len(HERE) + 1)] == [
        {core} for core in [*HERE, HERE[0]]
    ]


def test_with_a_share_of_the_machine_the_kernel_chooses(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("50000 100000")
    assert cores.own(0, tmp_path) is None


def test_shares_are_read_in_the_older_kind_of_groups_too(tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("50000\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert cores.own(0, tmp_path) is None
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    assert cores.own(0, tmp_path) == {HERE[0]}
