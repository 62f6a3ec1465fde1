"""House bots: files as an author would upload them. Examples, trial opponents and test players in one."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

NAMES: Final = ("random", "cautious", "counter", "montecarlo")
"""The house bots, weakest first."""


def source(name: str) -> str:
    """The text of a house bot's file; raises `KeyError` for an unknown name."""
    return _path(name).read_text(encoding="utf-8")


def load(name: str) -> ModuleType:
    """A house bot as a module of its own, sharing nothing with those loaded before; for `LocalPlayer.of`."""
    spec = spec_from_file_location(f"house_bot_{name}", _path(name))
    if spec is None or spec.loader is None:
        raise KeyError(name)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _path(name: str) -> Path:
    if name not in NAMES:
        raise KeyError(name)
    return Path(__file__).with_name(f"{name}.py")
