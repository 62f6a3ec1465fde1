"""Signs of life: who is silent is named, whoever is away."""

import os
import subprocess
import sys
import time
from pathlib import Path

from workers import alive


def asked(directory: Path) -> "subprocess.CompletedProcess[str]":
    """As a probe asks."""
    argv = [sys.executable, "-P", "-m", "workers.alive", str(directory)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_who_signed_lately_lives(tmp_path: Path) -> None:
    for number in range(2):
        alive.sign(tmp_path / "alive", number)
    assert asked(tmp_path / "alive").returncode == 0


def test_one_silent_process_is_enough(tmp_path: Path) -> None:
    for number in range(2):
        alive.sign(tmp_path, number)
    long_ago = time.time() - 2 * alive.SILENT
    os.utime(tmp_path / "1", (long_ago, long_ago))
    said = asked(tmp_path)
    assert (said.returncode, said.stderr.strip()) == (1, f"silent: 1 ({2 * alive.SILENT:.0f} s)")


def test_before_anybody_signed_it_is_not_alive(tmp_path: Path) -> None:
    assert alive.trouble(tmp_path) == "nobody has signed yet"
    assert "No such file" in str(alive.trouble(tmp_path / "nowhere"))
