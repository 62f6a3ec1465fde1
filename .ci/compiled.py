"""Compiles the engine's hot modules by mypyc: `python .ci/compiled.py FOLDER`.

The build hook beside it runs this. Needs mypy, setuptools and a C compiler.
"""

import os
import sys
import tempfile
from pathlib import Path

from mypyc.build import mypycify
from setuptools import Distribution

PARTS = ("cards", "trick", "deal", "pile", "hand", "tape", "actions", "law", "reasons", "scoring")
PLAY = ("course", "round", "match", "events", "view", "sampling", "packing")

INWARD = ["-fno-semantic-interposition", "-fno-plt", "-fvisibility=hidden"]  # nobody else's functions instead


def main(folder: str) -> None:
    """Leave the extension modules in `folder`, in a package `engine`."""
    built = Path(folder).resolve()
    os.chdir(Path(__file__).parents[1])
    sources = [f"engine/{module}.py" for module in PARTS + PLAY]
    with tempfile.TemporaryDirectory(prefix="rage-engine-") as generated:
        extensions = mypycify(sources, opt_level="3", debug_level="0", target_dir=generated)
        for extension in extensions:
            extension.extra_compile_args += INWARD
        distribution = Distribution({"name": "rage-engine", "ext_modules": extensions})
        command = distribution.get_command_obj("build_ext")
        command.build_lib, command.build_temp = str(built), generated
        command.ensure_finalized()
        command.run()


if __name__ == "__main__":
    main(sys.argv[1])
