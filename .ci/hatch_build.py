"""Build hook: with RAGE_COMPILE=1 in the environment the engine's hot modules are compiled by mypyc.

Without it the wheel is plain Python and needs no compiler. With it a build that cannot compile fails: whoever
asks for speed is told that it is not there. `engine.COMPILED` says which was installed.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledEngine(BuildHookInterface):
    """Adds extension modules beside the sources of a wheel."""

    def dependencies(self) -> list[str]:
        """What the build environment needs, only if asked to compile."""
        return ["mypy>=2.4", "setuptools>=77"] if self._wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and put what came out of it into the wheel."""
        if not self._wanted() or self.target_name != "wheel" or version == "editable":
            return
        built = tempfile.mkdtemp(prefix="rage-engine-")
        subprocess.run([sys.executable, Path(self.root, ".ci", "compiled.py"), built], check=True)
        build_data["pure_python"], build_data["infer_tag"] = False, True
        for module in Path(built).rglob("*.so"):
            build_data["force_include"][str(module)] = str(module.relative_to(built))

    def _wanted(self) -> bool:
        return os.environ.get("RAGE_COMPILE") == "1"
