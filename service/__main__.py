"""`python3 -m service WORD …`: from a bare Python and a checkout to a running Rage, in one command.

Standard library only, and readable by any Python from 3.7 on, so that an old one gets a plain sentence. It
finds what is missing, installs what is locked into .venv beside pyproject.toml, and becomes the real program.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "rage-installed.json"
LOCKS = {"runtime": "k8s/runtime.lock", "everything": "k8s/requirements.lock"}
NUMPY_FOR_BOTS = Path("/usr/lib/python3/dist-packages/numpy")
PYTHONS_FOR_BOTS = ("/usr/bin/python3", "/usr/local/bin/python3")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OLDEST = (3, 11)
USAGE = """\
python3 -m service WORD …

  demo   install what is missing, then play a small tournament from nothing to final standings
  up     install what is missing, then run the whole of Rage Arena on this machine
  test   install what is missing, then run the tests; further words go to pytest

Any other word is a command of `rage`, which is at .venv/bin/rage from the first time on.
"""


class Trouble(Exception):
    """Something a person has to put right; the text says what and how."""


def main(words: Sequence[str]) -> None:
    """Install if need be, then become the program that was asked for."""
    if not words or words[0] in ("-h", "--help", "help"):
        print(USAGE, end="")
        return
    check_python()
    check_checkout()
    testing = words[0] == "test"
    install_packages(required=not testing)
    if testing:
        install_browser()
    with one_at_a_time():
        install("everything" if testing else "runtime")
    become(words[1:] if testing else words, testing)


def check_python() -> None:
    if sys.version_info >= OLDEST:
        return
    newer = next(
        (name for name in ("python3.14", "python3.13", "python3.12", "python3.11") if shutil.which(name)),
        None,
    )
    advice = (
        f"Start it with: {newer} -m service"
        if newer
        else "Install a newer one, such as python3.11, and start it with that."
    )
    raise Trouble(
        f"Rage needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable}). {advice}"
    )


def check_checkout() -> None:
    project = ROOT / "pyproject.toml"
    if not project.is_file() or 'name = "rage-arena"' not in project.read_text(encoding="utf-8"):
        raise Trouble(
            "This command is for a checkout of the source. Rage is installed here already: use `rage`."
        )
    if not os.access(VENV if VENV.exists() else ROOT, os.W_OK):
        raise Trouble(f"Cannot write into {ROOT}, where .venv belongs. Use a checkout of your own.")


# What Debian has to provide.


def missing_packages() -> list[str]:
    """Names of the Debian packages without which Rage cannot be installed or bots cannot be run."""
    wanted = []
    if shutil.which("bwrap") is None:
        wanted.append("bubblewrap")
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError:
        wanted.append("libseccomp2")
    if not any(os.access(path, os.X_OK) for path in PYTHONS_FOR_BOTS):
        wanted.append("python3")
    if not PYTHON.exists() and shutil.which("uv") is None and importlib.util.find_spec("ensurepip") is None:
        wanted.append(f"python{sys.version_info[0]}.{sys.version_info[1]}-venv")
    return wanted


def wished_packages() -> list[str]:
    """What bots like to have and nothing else needs: asked for once, when Rage is first installed."""
    there = PYTHON.exists() or NUMPY_FOR_BOTS.exists() or not shutil.which("apt-get") or not may_install()
    return [] if there else ["python3-numpy"]


def install_packages(*, required: bool) -> None:
    """Debian's part: installed where that is allowed, else said. Most tests can do without."""
    wanted = missing_packages() + wished_packages()
    if not wanted:
        return
    if shutil.which("apt-get") and may_install():
        apt_install(wanted)
        return
    how = (
        f"sudo apt-get install {' '.join(wanted)}"
        if shutil.which("apt-get")
        else "your system's package program"
    )
    if required or "venv" in wanted[-1]:
        raise Trouble(f"{', '.join(wanted)} must be installed first, by: {how}")
    say(f"{', '.join(wanted)} would be needed for all of the tests; install by: {how}")


def install_browser() -> None:
    """For the tests: Chromium, where the system has it. Without one the tests of the pages are skipped."""
    there = os.environ.get("RAGE_CHROMIUM") or any(map(shutil.which, BROWSERS))
    if there or not shutil.which("apt-get") or not may_install():
        return
    try:
        apt_install(["chromium", "fonts-dejavu-core"])
    except Trouble as trouble:
        say(f"{trouble}\nThe tests in a browser will be skipped.")


def apt_install(wanted: list[str]) -> None:
    apt = [*as_root(), "apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120"]
    step(
        f"Installing {', '.join(wanted)}",
        [*apt, "update"],
        [*apt, "install", "--no-install-recommends", *wanted],
    )


def as_root() -> list[str]:
    return [] if os.geteuid() == 0 else ["sudo", "-n"]


def may_install() -> bool:
    """Root may, and so may who needs no password for sudo."""
    if os.geteuid() == 0:
        return True
    return (
        shutil.which("sudo") is not None
        and subprocess.run([*as_root(), "true"], capture_output=True).returncode == 0
    )


# What Python has to provide.


def install(what: str) -> None:
    """Makes .venv hold exactly what is locked; at once done when it already does."""
    mark = fingerprint()
    have = stamp()
    if have.get("fingerprint") == mark and have.get("what") in (what, "everything") and works(PYTHON):
        return
    STAMP.unlink(missing_ok=True)
    uv = shutil.which("uv")
    make_venv(uv)
    pip = [uv, "pip", "install", "-q", "--python", str(PYTHON)] if uv else own_pip()
    lock = ROOT / LOCKS[what]
    count = sum("==" in line for line in lock.read_text(encoding="utf-8").splitlines())
    step(
        f"Installing {count} locked packages with {'uv' if uv else 'pip'}",
        [*pip, "--require-hashes", "-r", str(lock)],
    )
    step("Installing Rage", [*pip, "--no-deps", "-e", str(ROOT)])
    STAMP.write_text(json.dumps({"fingerprint": mark, "what": what}), encoding="utf-8")


def fingerprint() -> str:
    """Changes when what ought to be in .venv does, or when the checkout moves."""
    digest = hashlib.sha256(str(ROOT).encode())
    for name in ("pyproject.toml", *LOCKS.values()):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def stamp() -> dict[str, str]:
    try:
        return dict(json.loads(STAMP.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def works(python: Path) -> bool:
    """Whether this interpreter starts and is new enough: the one it was made from may be gone by now."""
    ask = f"import sys; sys.exit(sys.version_info < {OLDEST})"
    try:
        return subprocess.run([str(python), "-c", ask], capture_output=True).returncode == 0
    except OSError:
        return False


def make_venv(uv: str | None) -> None:
    if works(PYTHON):
        return
    base = getattr(sys, "_base_executable", None) or sys.executable
    make = [uv, "venv", "-q", "--python", base] if uv else [base, "-m", "venv"]
    step("Making .venv", [*make, "--clear", str(VENV)])


def own_pip() -> list[str]:
    pip = [str(PYTHON), "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True).returncode != 0:
        step("Adding pip to .venv", [str(PYTHON), "-m", "ensurepip"])
    return [*pip, "install", "-q", "--disable-pip-version-check", "--no-input"]


def become(words: Sequence[str], testing: bool) -> None:
    program = str(PYTHON if testing else VENV / "bin" / "rage")
    if testing:
        os.chdir(ROOT)
        words = ["-m", "pytest", "-n", "auto", "--dist", "loadgroup", "--no-loadscope-reorder", *words]
    sys.stdout.flush()
    os.execv(program, [program, *words])  # noqa: S606 - no shell is wanted


# How it is shown.


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Held while .venv is changed; a second start waits for the first, and then finds everything done."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another start is installing; waiting for it …")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def step(what: str, *commands: Sequence[str]) -> None:
    """One line for the person; the commands' own words only if the last one fails."""
    print(f"rage: {what} …", end="", file=sys.stderr, flush=True)
    began = time.monotonic()
    for command in commands:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            text=True,
        )
    if done.returncode != 0:
        print(" failed", file=sys.stderr)
        said = "\n".join(done.stdout.splitlines()[-15:])
        raise Trouble(f"This did not work:\n  {' '.join(commands[-1])}\n{said}")
    print(f" {time.monotonic() - began:.0f} s", file=sys.stderr)


def say(text: str) -> None:
    print(f"rage: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Trouble as trouble:
        say(str(trouble))
        sys.exit(1)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(130)
