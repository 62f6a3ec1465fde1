"""Breaks each rule of the engine in turn and shows which test notices: `python -m loadtests.mutate_engine`.

Works on a copy of `engine/` and `tests/`, so the checkout stays as it is. A break that ran into a limit of
time is told apart: it may never end, or the machine is slow. Exits with the number of breaks on which no test
failed.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from loadtests.breaks import BREAKS, Break

ROOT = Path(__file__).parent.parent
FIRST = (
    *("trick", "pile", "scoring", "rulings", "referee", "golden", "perft", "deal", "rules", "match"),
    *("round", "record", "table", "view", "sampling"),
)
"""Test files in the order they are asked, quick ones first."""

PATIENCE = 600
"""Seconds for all of them; pytest has a limit of its own for each test."""
NOBODY, LATE = "NOBODY NOTICED", "TIMED OUT"


def noticed(broken: Break, folder: Path) -> str:
    """The first test that fails with this break; `NOBODY`, or `LATE` and where, if none does."""
    path = folder / "engine" / broken.file
    whole = path.read_text(encoding="utf-8")
    if broken.old not in whole:
        raise SystemExit(f"{broken.file} has no {broken.old!r} any more; mend the list")
    path.write_text(whole.replace(broken.old, broken.new), encoding="utf-8")
    try:
        files = [f"tests/engine/test_{name}.py" for name in FIRST]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "--no-header",
            *files,
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"{LATE}: all tests, after {PATIENCE} s"
    finally:
        path.write_text(whole, encoding="utf-8")
    found = re.search(r"^(?:FAILED|ERROR) \S*?test_(\S+)", done.stdout, re.MULTILINE)
    if "from pytest-timeout" in done.stdout or "+ Timeout +" in done.stderr + done.stdout:
        return f"{LATE}: {found[1] if found else 'a test'}"
    return found[1] if found else (NOBODY if done.returncode == 0 else "(cannot be imported)")


def main() -> int:
    """Break, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("part", nargs="?", default="", help="only rules or files that contain this")
    part = parser.parse_args().part
    said: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in ("engine", "tests/engine", "tests/golden", "tests/cases"):
            shutil.copytree(ROOT / each, folder / each, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        for broken in BREAKS:
            if part in broken.rule or part in broken.file:
                said.append(noticed(broken, folder))
                print(f"{broken.file:12} {broken.rule:52} {said[-1]}", flush=True)
    missed, late = said.count(NOBODY), sum(test.startswith(LATE) for test in said)
    print(f"{len(said)} breaks: {missed} unnoticed, {late} ended by a limit of time and by no failed test")
    return missed + late


if __name__ == "__main__":
    sys.exit(main())
