"""`python3 -m service`: what it needs, refuses and installs, and that the locks fit the project."""

import ast
import fcntl
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from service import __main__ as bootstrap

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "service" / "__main__.py"
LOCKS = ("k8s/requirements.lock", "k8s/runtime.lock", "k8s/image.lock")


def bare_python() -> str:
    """The interpreter this environment was made from."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


def run(place: Path, *words: str, python: str = "", **env: str) -> "subprocess.CompletedProcess[str]":
    argv = [python or bare_python(), "-m", "service", *words]
    return subprocess.run(
        argv, cwd=place, env={**os.environ, **env}, capture_output=True, text=True, timeout=280
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """The files a clone would have, and no environment."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode != 0:
        pytest.skip("not a checkout: git knows nothing of these files")
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / name)
    yield tmp_path


def test_the_bootstrap_imports_the_standard_library_only() -> None:
    tree = ast.parse(SOURCE.read_text())
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names | {"__future__"}
    package = ast.parse((ROOT / "service" / "__init__.py").read_text())
    assert not [node for node in ast.walk(package) if isinstance(node, ast.Import | ast.ImportFrom)]


def test_an_old_python_can_read_it_far_enough_to_be_told() -> None:
    ast.parse(SOURCE.read_text(), feature_version=(3, 7))


def test_an_old_python_is_told_which_one_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    with pytest.raises(bootstrap.Trouble, match=r"needs Python 3\.11 or newer"):
        bootstrap.check_python()


def test_without_a_word_it_explains_itself_on_a_bare_interpreter() -> None:
    said = run(ROOT)
    assert said.returncode == 0
    assert all(word in said.stdout for word in ("demo", "up", "test"))


def test_outside_a_checkout_it_points_to_the_installed_command(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "service", tmp_path / "service")
    said = run(tmp_path, "up")
    assert said.returncode == 1
    assert "use `rage`" in said.stderr
    assert "Traceback" not in said.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(("word", "status"), [("up", 1), ("test", 0)])
def test_missing_debian_packages_stop_all_but_the_tests(
    word: str, status: int, checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A PATH without bwrap, apt-get, sudo and uv; the environment itself is borrowed from this one."""
    empty = tmp_path_factory.mktemp("bin")
    (checkout / ".venv").symlink_to(Path(sys.prefix))
    lines = [
        "import os, sys",
        "from service import __main__ as b",
        "b.install = lambda what: None",
        "b.become = lambda words, testing: print(words, testing)",
        "try: b.main(sys.argv[1:])",
        "except b.Trouble as trouble: sys.exit(str(trouble))",
    ]
    argv = [sys.executable, "-c", "\n".join(lines), word]
    said = subprocess.run(argv, cwd=checkout, env={"PATH": str(empty)}, capture_output=True, text=True)
    assert said.returncode == status
    assert "bubblewrap" in said.stderr


def test_root_or_sudo_installs_what_is_missing_with_apt_get(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """apt-get and sudo are small programs here that write down how they were called."""
    calls = tmp_path / "calls"
    for name in ("apt-get", "sudo"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho {name} "$@" >> {calls}\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/nowhere")
    monkeypatch.setattr(bootstrap, "missing_packages", lambda: ["bubblewrap", "libseccomp2"])
    for user, prefix in ((0, ""), (1000, "sudo -n ")):
        calls.write_text("")
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        bootstrap.install_packages(required=True)
        asked = calls.read_text().splitlines()
        assert asked[-1].startswith(f"{prefix}apt-get")
        assert asked[-1].endswith("install --no-install-recommends bubblewrap libseccomp2")
    assert "Installing bubblewrap, libseccomp2" in capsys.readouterr().err


def test_the_tests_browser_is_installed_if_there_is_none_and_its_lack_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """apt-get is a small program here that writes down how it was called, and has no chromium at last."""
    calls, program = tmp_path / "calls", tmp_path / "apt-get"
    program.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/nowhere")
    monkeypatch.delenv("RAGE_CHROMIUM", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    bootstrap.install_browser()
    assert "install --no-install-recommends chromium" in calls.read_text()
    program.write_text("#!/bin/sh\necho no chromium here; exit 100\n")
    bootstrap.install_browser()
    assert "will be skipped" in capsys.readouterr().err
    (tmp_path / "chromium").write_text("")
    (tmp_path / "chromium").chmod(0o755)
    calls.unlink()
    bootstrap.install_browser()
    assert not calls.exists()


def test_a_step_that_fails_shows_the_commands_last_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(bootstrap.Trouble, match="no network here"):
        bootstrap.step("Trying", [sys.executable, "-c", "raise SystemExit('no network here')"])
    assert "Trying … failed" in capsys.readouterr().err


def test_a_second_start_waits_for_the_first(checkout: Path) -> None:
    held = checkout / "pyproject.toml"
    code = "from service import __main__ as b\nwith b.one_at_a_time(): print('mine')"
    with held.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        argv = [sys.executable, "-u", "-c", code]
        with subprocess.Popen(
            argv, cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as second:
            assert second.stderr is not None
            assert second.stdout is not None
            assert "waiting" in second.stderr.readline()
            fcntl.flock(file, fcntl.LOCK_UN)
            assert second.stdout.read() == "mine\n"


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_two_starts_at_once_from_a_fresh_checkout_both_get_there(checkout: Path) -> None:
    """The whole of it, over the network: a bare interpreter, no environment, two terminals."""
    argv = [bare_python(), "-m", "service", "play", "--help"]
    both = [
        subprocess.Popen(argv, cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in "ab"
    ]
    said = [each.communicate() for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    assert all("Usage" in out for out, _ in said)
    assert sum("Installing Rage" in err for _, err in said) == 1
    assert "Installing" not in run(checkout, "play", "--help").stderr


def pins(name: str) -> Mapping[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for line in (ROOT / name).read_text().splitlines():
        if line[:1].isalnum():
            pinned = Requirement(line.removesuffix("\\"))
            found.setdefault(canonicalize_name(pinned.name), []).append(pinned)
    return found


def wanted(*extras: str) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [
        *project["dependencies"],
        *(line for extra in extras for line in project["optional-dependencies"][extra]),
    ]
    return [made for line in lines if (made := Requirement(line)).name != project["name"]]


@pytest.mark.parametrize(
    ("lock", "extras"),
    [
        (LOCKS[0], ("postgres", "load", "otel", "dev")),
        (LOCKS[1], ("postgres",)),
        (LOCKS[2], ("postgres", "otel")),
    ],
)
def test_a_lock_has_every_dependency_in_a_version_the_project_allows(
    lock: str, extras: tuple[str, ...]
) -> None:
    locked = pins(lock)
    for requirement in wanted(*extras):
        versions = [
            str(next(iter(pin.specifier)).version)
            for pin in locked.get(canonicalize_name(requirement.name), [])
        ]
        assert versions, f"{requirement.name} is not in {lock}: run .ci/lock"
        assert all(requirement.specifier.contains(version) for version in versions), (
            f"{requirement}: run .ci/lock"
        )


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_hashes_for_everything_and_names_no_index(lock: str) -> None:
    text = (ROOT / lock).read_text()
    blocks = [block for block in text.replace("\\\n", " ").splitlines() if block[:1].isalnum()]
    assert len(blocks) > 40
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text
    assert "index-url" not in text


def test_the_locks_agree() -> None:
    everything, *parts = (
        {name: {str(each.specifier) for each in found} for name, found in pins(lock).items()}
        for lock in LOCKS
    )
    for part in parts:
        assert {name: everything.get(name) for name in part} == part
