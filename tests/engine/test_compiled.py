"""The compiled engine: built from the same sources, it passes the same tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import engine

REPOSITORY = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@pytest.mark.timeout(600)
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_compiled_engine_passes_the_same_tests(tmp_path: Path) -> None:
    built = tmp_path / "built"
    shutil.copytree(Path(engine.__file__).parent, built / "engine")
    subprocess.run([sys.executable, REPOSITORY / ".ci" / "compiled.py", built], check=True, timeout=300)
    python, environment = [sys.executable, "-P"], os.environ | {"PYTHONPATH": str(built)}
    said = [*python, "-c", "import engine; print(engine.COMPILED, engine.__file__)"]
    loaded = subprocess.run(said, env=environment, capture_output=True, text=True, check=True)
    assert loaded.stdout == f"True {built / 'engine' / '__init__.py'}\n"
    again = subprocess.run(
        [*python, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "tests/engine"],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert again.returncode == 0, again.stdout[-4000:]
