"""The sandbox around the bots: what it needs, what it says without, and that nothing outlives its worker."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.limits import Limits
from workers.sandbox import (
    BotCode,
    Sandbox,
    SandboxError,
    SandboxUnavailable,
    bubblewrap,
    claims,
    hierarchy,
    landlock,
    runtime,
    selftest,
)

pytestmark = pytest.mark.sandbox
REPOSITORY = Path(__file__).parents[2]


def test_the_sandbox_says_what_it_is(sandbox: Sandbox) -> None:
    told = sandbox.description()
    assert told["mode"] == sandbox.mode
    assert told["python"].startswith("3.")
    assert (told["cgroups"] is None) == (sandbox.mode == "B")


def test_two_sandboxes_of_one_machine_share_no_seat(sandbox: Sandbox, bare_sandbox: Sandbox) -> None:
    uids = [{probed.claim.uid(slot) for slot in range(claims.SEATS)} for probed in (sandbox, bare_sandbox)]
    assert uids[0].isdisjoint(uids[1])


def test_a_missing_program_is_named_with_the_command_that_installs_it(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable, match=r"bwrap is not installed.*apt-get install bubblewrap"):
        Sandbox.probe()


@pytest.fixture
def no_namespaces(monkeypatch) -> Iterator[None]:
    """A bubblewrap that says what it says where namespaces are switched off."""
    program = Path(f"/var/tmp/rage-test-bwrap-{os.getpid()}")  # where every user may run it
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "found", lambda: str(program))
    yield
    program.unlink()


def test_without_namespaces_landlock_stands_in_and_says_why(no_namespaces, table) -> None:
    probed = Sandbox.probe()
    try:
        told = probed.description()
        assert (told["mode"], told["launcher"], told["cgroups"]) == ("C", "landlock", None)
        assert "user.max_user_namespaces" in " ".join(told["notes"])
        assert table(at=probed).mode == "C"
    finally:
        probed.close()


def test_groups_that_are_required_rule_out_the_weaker_modes(no_namespaces) -> None:
    with pytest.raises(SandboxUnavailable, match=r"user\.max_user_namespaces"):
        Sandbox.probe(require_groups=True)


def test_with_neither_namespaces_nor_landlock_no_bot_runs(no_namespaces, monkeypatch) -> None:
    monkeypatch.setattr(landlock, "OLDEST", 99)
    with pytest.raises(SandboxUnavailable, match=r"user\.max_user_namespaces.*Landlock version"):
        Sandbox.probe()


def test_a_python_that_does_not_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match=f"{tmp_path}/python"):
        Sandbox.probe(python=f"{tmp_path}/python")


def test_without_any_python_the_remedy_is_told(monkeypatch) -> None:
    monkeypatch.setattr(runtime, "USUAL", ("/nowhere/python3",))
    with pytest.raises(SandboxUnavailable, match="RAGE_SANDBOX_PYTHON"):
        Sandbox.probe()


def test_another_python_with_numpy_can_be_used(table, monkeypatch) -> None:
    with_numpy = Sandbox.probe(python=sys.executable)
    try:
        source = """
            import sys, numpy

            def bid(view):
                print(sys.version_info[:3], numpy.arange(3).sum())
                return numpy.int64(0)

            def play(view):
                return view["legal"][0]
        """
        limits = Limits(start_cpu_ms=10_000, start_ms=20_000)
        played = table(textwrap.dedent(source), limits=limits, at=with_numpy)
    finally:
        with_numpy.close()
    assert played.outcome.faults == ()
    assert f"{sys.version_info[:3]} 3" in played.usage[0].log


def test_a_copy_that_was_broken_off_is_cleared_away() -> None:
    old, new = (claims.home() / f"draft-test-{age}" for age in ("old", "new"))
    for draft in (old, new):
        draft.mkdir()
    os.utime(old, (0, 0))
    Sandbox.probe().close()
    assert not old.exists() and new.exists()
    new.rmdir()


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("bwrap: No permissions to create new namespace", "user.max_user_namespaces"),
        ("bwrap: Creating new namespace failed: Operation not permitted", "user.max_user_namespaces"),
        ("bwrap: Unknown option --disable-userns", "0.8 or newer"),
        ("something else", "something else"),
    ],
)
def test_what_bubblewrap_says_is_turned_into_a_remedy(words: str, remedy: str) -> None:
    assert remedy in selftest.diagnosis(words)


def test_a_sandbox_is_not_carried_over_a_fork(sandbox: Sandbox, monkeypatch) -> None:
    monkeypatch.setattr(sandbox, "owner", sandbox.owner + 1)
    with pytest.raises(SandboxError, match="each worker process"):
        sandbox.launch(BotCode("bot.py", "py", b"x"), Limits(), slot=0)


def test_a_launch_that_fails_leaves_nothing(one_shot: Sandbox, monkeypatch, leftovers) -> None:
    monkeypatch.setattr(one_shot.launcher, "program", "/nowhere/bwrap")
    running = one_shot.launch(BotCode("bot.py", "py", b"x"), Limits(), slot=0)
    assert running.stop().status is None
    assert leftovers(one_shot) == {}


def test_a_broken_launcher_is_nobodys_fault(table, one_shot: Sandbox, monkeypatch, leftovers) -> None:
    monkeypatch.setattr(one_shot.launcher, "program", "/bin/false")
    with pytest.raises(SandboxError, match="before its bot began"):
        table(at=one_shot)
    assert leftovers(one_shot) == {}


def test_a_stopped_sandbox_can_be_stopped_again(sandbox: Sandbox) -> None:
    running = sandbox.launch(BotCode("bot.py", "py", b"x"), Limits(), slot=0)
    assert running.stop() == running.stop()


OWN_BLOCKS = range(claims.BLOCKS.stop, claims.BLOCKS.stop + 8)


@pytest.fixture
def own_blocks(monkeypatch) -> Iterator[None]:
    """Blocks of seats that no worker claims or sweeps, nor this test where it runs a second time beside."""
    monkeypatch.setattr(claims, "BLOCKS", OWN_BLOCKS)
    with (claims.home() / "own-blocks").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


WORKER = f"""
import os, sys, time
from loadtests.archives import RUN, archived
from service.limits import Limits
from workers.sandbox import BotCode, Sandbox, claims
claims.BLOCKS = {OWN_BLOCKS}
SPIN = b"while True: pass"
CODES = {{
    "a file": BotCode("bot.py", "py", SPIN),
    "an archive": BotCode("bot.zip", "zip", archived({{"bot.toml": RUN, "main.py": SPIN}})),
}}
sandbox = Sandbox.probe()
for slot in range(3):
    running = sandbox.launch(CODES[sys.argv[1]], Limits(), slot=slot)
    os.write(running.stdin, b'{{"type":"start","seed":1}}\\n')
(sandbox.claim.folder / "bot-99").mkdir()
time.sleep(0.5)
print(sandbox.claim.number, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("code", ["a file", "an archive"])
def test_nothing_outlives_a_worker_that_is_killed(code: str, leftovers, own_blocks) -> None:
    worker = subprocess.Popen([sys.executable, "-c", WORKER, code], stdout=subprocess.PIPE, cwd=REPOSITORY)
    assert worker.stdout is not None
    number = int(worker.stdout.readline())
    places = hierarchy.find()
    dead = claims.Claim(
        number, claims.home() / "claims" / str(number), -1, places.parents() if places else set()
    )
    dying = _seen(leftovers, dead)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    worker.stdout.close()
    assert "bot-99" in dying["folders"]
    assert ("processes" in dying) == (os.getuid() == 0)
    end = time.monotonic() + 60
    while left := _seen(leftovers, dead).get("processes"):
        assert time.monotonic() < end, f"{left} live on"
        _bury(left)
    Sandbox.probe().close()
    while _seen(leftovers, dead) and time.monotonic() < end:  # a group goes when its dead are buried
        time.sleep(0.1)
        Sandbox.probe().close()
    assert _seen(leftovers, dead) == {}


def _bury(pids: list[str]) -> None:
    """This process adopts orphans, so the dead worker's bots are its to reap."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(int(pid), os.WNOHANG)
    time.sleep(0.02)


def _seen(leftovers, claim: claims.Claim):
    class Shown:
        pass

    Shown.claim = claim
    return leftovers(Shown)
