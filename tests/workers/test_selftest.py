"""The sandbox tried out on a slow machine: it is waited for, and nothing weaker ever stands in for it."""

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service import checks
from service.checks import Unfit
from workers import workshop
from workers.sandbox import (
    MachineBusy,
    Sandbox,
    SandboxError,
    SandboxLate,
    SandboxUnavailable,
    bubblewrap,
    errors,
    hierarchy,
    nursery,
    selftest,
)

pytestmark = pytest.mark.sandbox
WHO = {"a bubblewrap of its own": "", "a seat's parent": "--as-pid-1"}
HELD_UP = 'exec 9<>HERE/never; exec BWRAP --block-fd 9 "$@"'  # once it is there, but before its program
FIRST = "mkdir HERE/first 2>/dev/null"
PATIENCE = [0.1 * 2**number for number in range(10)]  # seconds
Changed = Callable[..., Path]


@pytest.fixture
def changed(monkeypatch) -> Iterator[Changed]:
    """Puts a bubblewrap in place that does what it is told before it is itself; gives its folder."""
    folder = Path(f"/var/tmp/rage-test-changed-{os.getpid()}")  # where every seat's user may come

    def change(who: str, what: str, tries: int = 1) -> Path:
        monkeypatch.setattr(selftest, "PATIENCE", PATIENCE[:tries])
        monkeypatch.setattr(nursery, "FIRST_PATIENCE", PATIENCE[0])
        monkeypatch.setattr(bubblewrap, "found", lambda: f"{folder}/bwrap")
        told = f'#!/bin/sh\ncase "$*" in *{WHO[who]}*)\n{what}\nesac\nexec BWRAP "$@"\n'
        told = told.replace("HERE", str(folder)).replace("BWRAP", str(shutil.which("bwrap")))
        (folder / "bwrap").write_text(told)
        (folder / "bwrap").chmod(0o755)
        return folder

    folder.mkdir()
    folder.chmod(0o777)
    os.mkfifo(folder / "never")
    (folder / "never").chmod(0o666)
    yield change
    shutil.rmtree(folder)


@pytest.mark.parametrize("who", WHO)
def test_what_is_slow_at_first_is_waited_for_and_is_none_the_weaker(who: str, changed, sandbox) -> None:
    folder = changed(who, f"if {FIRST}; then {HELD_UP}; fi", tries=10)
    probed = Sandbox.probe()
    try:
        assert (folder / "first").exists()
        assert probed.description() == sandbox.description()
    finally:
        probed.close()


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize(
    "what",
    [
        HELD_UP,
        "echo 'bwrap: Creating new namespace failed: Resource temporarily unavailable' >&2; exit 1",
        "echo '/bin/sh: 1: Cannot fork' >&2; exit 2",
    ],
)
def test_what_finds_no_room_is_refused_in_plain_words_and_nothing_weaker_is_taken(
    who: str, what: str, changed
) -> None:
    changed(who, what, tries=2)
    with pytest.raises(SandboxLate, match=r"this machine is too busy .* then try again"):
        Sandbox.probe()


def test_a_parent_that_is_killed_was_one_too_many_and_is_no_reason_for_slower_starts(changed) -> None:
    changed("a seat's parent", "kill -9 $$", tries=2)
    with pytest.raises(SandboxLate):
        Sandbox.probe()


def test_a_parent_that_says_why_it_does_not_start_leaves_the_slower_way_with_a_note(changed) -> None:
    changed("a seat's parent", "echo 'it will never do' >&2; exit 1", tries=2)
    probed = Sandbox.probe()
    try:
        assert probed.launcher.name == "one-shot"
        assert "it will never do" in " ".join(probed.notes)
    finally:
        probed.close()


@pytest.mark.parametrize(("rest", "tried"), [(3600.0, False), (0.0, True)])
def test_a_worker_leaves_a_machine_alone_that_was_too_busy_and_then_tries_again(
    rest: float, tried: bool, changed, shop, monkeypatch
) -> None:
    monkeypatch.setattr(workshop, "REST_SECONDS", rest)
    changed("a bubblewrap of its own", f"if {FIRST}; then {HELD_UP}; fi", tries=1)
    with pytest.raises(SandboxLate):
        shop.sandbox()
    monkeypatch.setattr(selftest, "PATIENCE", PATIENCE)
    if tried:
        shop.sandbox()
    else:
        with pytest.raises(SandboxLate):
            shop.sandbox()


def test_who_starts_a_service_is_told_that_the_machine_is_busy_and_not_that_it_is_unfit(
    changed, monkeypatch, tmp_path: Path
) -> None:
    folder = changed("a bubblewrap of its own", HELD_UP)
    hasty = "from workers.sandbox import selftest\nselftest.PATIENCE = (0.1,)\n"
    (tmp_path / "sitecustomize.py").write_text(hasty)
    monkeypatch.setattr(checks, "PROMPT", 0.01)
    environ = os.environ | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}",
        "RAGE_DATA_DIR": str(tmp_path),
    }
    told: list[str] = []
    with pytest.raises(Unfit, match=r"^this machine is too busy"):
        checks.sandbox(environ, tmp_path, lambda: told.append("still"))
    assert told


def test_who_is_told_to_stop_waits_for_no_trial(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checks, "PROMPT", 0.01)

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checks.sandbox(os.environ | {"RAGE_DATA_DIR": str(tmp_path)}, tmp_path, stop)


def test_a_machine_without_room_for_a_group_is_not_one_that_makes_none(monkeypatch, tmp_path: Path) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(SandboxLate, match="Cannot allocate memory"):
        hierarchy._can_make(tmp_path)


KILLED = subprocess.CalledProcessError(-9, "python")
LACKED = subprocess.CalledProcessError(1, "python", stderr=b"libm.so.6: Cannot allocate memory")
BROKEN = subprocess.CalledProcessError(1, "python", stderr=b"No such file or directory")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (subprocess.TimeoutExpired("python", 1), SandboxLate),
        (BlockingIOError(errno.EAGAIN, "fork"), SandboxLate),
        (KILLED, SandboxLate),
        (LACKED, SandboxLate),
        (BROKEN, SandboxUnavailable),
        (FileNotFoundError(errno.ENOENT, "python"), SandboxUnavailable),
    ],
)
def test_a_copy_for_which_there_was_no_room_can_be_made_later(error: Exception, kind: type) -> None:
    assert type(errors.unmade("it cannot be copied", error)) is kind


def test_a_start_for_which_there_was_no_room_is_the_machines_doing() -> None:
    assert type(errors.refused("no bot", BlockingIOError(errno.EAGAIN, "fork"))) is MachineBusy
    assert type(errors.refused("no bot", PermissionError(errno.EPERM, "fork"))) is SandboxError
