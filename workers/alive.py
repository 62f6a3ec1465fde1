"""Signs of life on the disk, for who restarts a worker that hangs: `python -m workers.alive DIRECTORY`.

Each process that plays touches a file of its own every few seconds, whatever database and broker do: nobody
is to be killed because those are away. Only the standard library, so that asking costs next to nothing.
"""

import sys
import time
from pathlib import Path

SILENT = 300.0  # seconds: longer than the longest wait for a database, or for a sandbox's trial


def sign(directory: Path, number: int) -> None:
    """The process of this number lives."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / str(number)).touch()


def trouble(directory: Path) -> str | None:
    """What is wrong with those who signed here; None when all of them live."""
    now = time.time()
    try:
        ages = {path.name: now - path.stat().st_mtime for path in directory.iterdir()}
    except OSError as error:
        return f"{directory}: {error.strerror}"
    silent = [f"{name} ({age:.0f} s)" for name, age in sorted(ages.items()) if age > SILENT]
    return f"silent: {', '.join(silent)}" if silent else None if ages else "nobody has signed yet"


if __name__ == "__main__":
    sys.exit(trouble(Path(sys.argv[1])))
