"""The bots' own read-only root: a Python with its standard library and shared libraries, numpy, `engine`.

It is a copy, named by what it was copied from, so that a bot's user can read it wherever the checkout and the
interpreter lie, and so that nothing of the service or of the host's other packages is in reach.
"""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine
from service.interpreters import OURS
from workers.sandbox import copies
from workers.sandbox.errors import SandboxLate, SandboxUnavailable, crowded, unmade

FORMAT = "3"
LIMITER = "/usr/bin/prlimit"
OLDEST = (3, 11)
PATIENCE = 120.0  # seconds a program has for what takes it one or two
USUAL = ("/usr/bin/python3", "/usr/local/bin/python3")
LEFT_OUT = {
    *("test", "tests", "idlelib", "ensurepip", "lib2to3", "tkinter", "turtledemo", "pydoc_data", "distutils"),
    *("dist-packages", "site-packages", "venv", "sitecustomize.py", "__pycache__.tmp"),
}
ASK = """
import json, sys, sysconfig
try:
    import numpy
    numpy = numpy.__path__[0]
except Exception as error:
    if isinstance(error, MemoryError) or "allocate memory" in str(error):
        raise SystemExit("Cannot allocate memory")
    numpy = None
import os
print(json.dumps({"version": sys.version_info[:3], "program": os.path.realpath(sys.executable),
    "numpy": numpy, "library": sysconfig.get_path("stdlib"), "platform": sysconfig.get_path("platstdlib")}))
"""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Finished folders, and where Python lies inside the root."""

    root: Path
    engine: Path
    python: str
    version: str
    numpy: bool
    interpreters: Mapping[str, str]  # paths inside the root, by the names bots know
    locks: tuple[int, ...] = ()

    def program(self, name: str) -> str:
        """The path in the root of what a bot calls by this name; what is no interpreter's is its own."""
        return self.python if name in OURS else self.interpreters.get(name, name)

    def outside(self, program: str) -> list[str]:
        """The command that runs a program of the root where the root is a folder like any other."""
        loader = next(path for path in sorted(self.root.glob("lib*/ld-*.so*")))
        libraries = {path.parent for path in self.root.glob("**/lib*.so*") if "python3" not in str(path)}
        path = ":".join(sorted(map(str, libraries)))
        return [str(loader), "--library-path", path, str(self.root) + program]

    def home(self) -> str:
        """Its PYTHONHOME there."""
        return str(self.root) + str(Path(self.python).parents[1])

    def release(self) -> None:
        """Let the folders go, once."""
        for lock in self.locks:
            os.close(lock)


def prepare(python: str | None, home: Path, interpreters: Mapping[str, str]) -> Runtime:
    """The root for this Python and this engine, copied the first time; raises `SandboxUnavailable`.

    `interpreters` are other programs by name; they lie in the root where they lie here.
    """
    facts = _ask(python or _usual())
    facts["interpreters"] = {name: _program(name, path) for name, path in interpreters.items()}
    copies.drop_old_drafts(home)
    root = home / f"root-{_root_name(facts)}"
    package = Path(engine.__file__).parent
    rules = home / f"engine-{_engine_name(facts, package)}"
    locks = [copies.made(root, lambda draft: _fill_root(facts, draft))]
    locks.append(copies.made(rules, lambda draft: _fill_engine(facts, package, draft)))
    copies.prune(home)
    version = ".".join(map(str, facts["version"]))
    numpy, programs = facts["numpy"] is not None, facts["interpreters"]
    return Runtime(root, rules, facts["program"], version, numpy, programs, tuple(locks))


def _program(name: str, path: str) -> str:
    if not os.path.isabs(path) or not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise SandboxUnavailable(
            f"{name} for bots is not at {path}: install it, or give RAGE_INTERPRETERS its whole path"
        )
    return path


def _usual() -> str:
    found = next((path for path in USUAL if os.access(path, os.X_OK)), None)
    if found is None:
        raise SandboxUnavailable(
            "no python3 for bots: apt-get install python3, or set RAGE_SANDBOX_PYTHON to the path of one"
        )
    return found


def _ask(python: str) -> dict[str, Any]:
    try:
        answer = subprocess.run([python, "-I", "-c", ASK], capture_output=True, check=True, timeout=PATIENCE)
        facts: dict[str, Any] = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise unmade(f"the bots' Python {python} does not run", error) from error
    if tuple(facts["version"][:2]) < OLDEST:
        raise SandboxUnavailable(
            f"the bots' Python {python} is older than 3.11; set RAGE_SANDBOX_PYTHON to a newer one"
        )
    return facts


def _root_name(facts: dict[str, Any]) -> str:
    """A digest of the host's Python, by path, size and time."""
    digest = hashlib.sha256(json.dumps([FORMAT, facts], sort_keys=True).encode())
    for path in _copied(facts):
        seen = path.stat()
        digest.update(f"{path}\0{seen.st_size}\0{seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:20]


def _engine_name(facts: dict[str, Any], package: Path) -> str:
    """A digest of the engine, by content."""
    digest = hashlib.sha256(json.dumps([FORMAT, facts["version"]]).encode())
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def _copied(facts: dict[str, Any]) -> Iterator[Path]:
    """Every file taken from the host's Python, without shared libraries."""
    yield from map(Path, [facts["program"], *facts["interpreters"].values()])
    for folder in dict.fromkeys((facts["library"], facts["platform"])):
        yield from _files(Path(folder), LEFT_OUT)
    for folder in _numpy(facts):
        yield from _files(folder, {"tests"})


def _numpy(facts: dict[str, Any]) -> list[Path]:
    if facts["numpy"] is None:
        return []
    package = Path(facts["numpy"])
    return [folder for folder in (package, package.parent / "numpy.libs") if folder.is_dir()]


def _files(top: Path, left_out: set[str]) -> Iterator[Path]:
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(
            name for name in folders if name not in left_out and not name.startswith("config-")
        )
        for name in sorted(files):
            path = Path(folder, name)
            if name not in left_out and path.is_file():
                yield path


def _fill_root(facts: dict[str, Any], draft: Path) -> None:
    copied = list(_copied(facts))
    numpy_home = Path(facts["numpy"]).parent if facts["numpy"] else None
    for path in copied:
        inside = draft / str(path).lstrip("/")
        if numpy_home and path.is_relative_to(numpy_home):
            inside = draft / "usr/lib/rage" / path.relative_to(numpy_home)
        _copy(path, inside)
    programs = {facts["program"], *facts["interpreters"].values()}
    for library in _libraries(path for path in copied if path.suffix == ".so" or str(path) in programs):
        _copy(Path(library), draft / library.lstrip("/"))
    _furnish(facts, draft)


def _furnish(facts: dict[str, Any], draft: Path) -> None:
    """Every interpreter by its name, and the places where mounts will lie."""
    for name, program in [*((name, facts["program"]) for name in OURS), *facts["interpreters"].items()]:
        link = draft / "usr/bin" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.exists():
            link.symlink_to(program)
    if limiter := shutil.which("prlimit"):
        for path in (limiter, *_libraries([Path(limiter)])):
            inside = LIMITER if path == limiter else path
            _copy(Path(path), draft / inside.lstrip("/"))
    for place in ("dev/null", "dev/urandom", "bot/bot.py"):
        (draft / place).parent.mkdir(exist_ok=True)
        (draft / place).touch(mode=0o644)
    for place in ("tmp", "usr/lib/rage/engine"):
        (draft / place).mkdir(parents=True, exist_ok=True)


def _fill_engine(facts: dict[str, Any], package: Path, draft: Path) -> None:
    """The engine's sources, compiled for the bots' Python."""
    for path in _files(package, {"__pycache__"}):
        if path.suffix == ".py":
            _copy(path, draft / path.relative_to(package))
    options = ["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-s", str(draft)]
    command = [facts["program"], "-I", *options, "-p", "/usr/lib/rage/engine", str(draft)]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
    os.chmod(target, 0o755 if os.access(source, os.X_OK) else 0o644)


def _libraries(files: Iterable[Path]) -> list[str]:
    """Paths of all shared libraries the files ask for, the loader included."""
    answer = subprocess.run(
        ["ldd", *map(str, files)], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    if crowded(answer.stderr) or answer.returncode < 0:  # else it ends with 1 if any file was no program
        raise SandboxLate(f"ldd: {answer.stderr.strip()[-500:] or 'it was killed'}")
    words = [line.split() for line in answer.stdout.splitlines() if line.startswith("\t")]
    paths = {word for line in words for word in line if word.startswith("/")}
    extra = {str(Path(path).with_name("libgcc_s.so.1")) for path in paths if "/libc.so" in path}
    return sorted(path for path in paths | extra if os.path.isfile(path))
