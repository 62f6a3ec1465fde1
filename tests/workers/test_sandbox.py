"""The sandbox around the bots: what it needs, what it says without, and that nothing outlives its worker."""

import contextlib
import os
import shutil
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
)

pytestmark = pytest.mark.sandbox
REPOSITORY = Path(__file__).parents[2]
SITE = next(Path(path) for path in sys.path if path.endswith("site-packages"))
as_root = pytest.mark.skipif(os.getuid() != 0, reason="takes root to become somebody else")


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
    from workers.sandbox.sandbox import _diagnosis

    assert remedy in _diagnosis(words.encode())


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


WORKER = """
import sys, time
from service.limits import Limits
from workers.sandbox import BotCode, Sandbox
sandbox = Sandbox.probe()
for slot in range(3):
    running = sandbox.launch(BotCode("bot.py", "py", b"while True: pass"), Limits(), slot=slot)
    import os
    os.write(running.stdin, b'{"type":"start","seed":1}\\n')
(sandbox.claim.folder / "bot-99").mkdir()
time.sleep(0.5)
print(sandbox.claim.number, flush=True)
time.sleep(60)
"""


def test_nothing_outlives_a_worker_that_is_killed(leftovers) -> None:
    worker = subprocess.Popen([sys.executable, "-c", WORKER], stdout=subprocess.PIPE, cwd=REPOSITORY)
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
    assert dying["folders"] == ["bot-99"]
    end = time.monotonic() + 20
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


ANYBODY = '''
from engine.rules import RuleSet
from service.limits import Limits
from workers.match import play_match
from workers.check import house_bot
from workers.sandbox import BotCode, Sandbox
sandbox = Sandbox.probe(launcher=@LAUNCHER@)
bots = [house_bot("random"), house_bot("counter")]
rules = RuleSet.parse({"preset": "fundex", "hand_sizes": [3, 2]})
played = play_match(rules, bots, seed=bytes(32), bot_seeds=[1, 2], limits=Limits(), sandbox=sandbox)
own_users = sandbox.description()["user_per_seat"]
print(sandbox.mode, len(played.outcome.faults), played.outcome.places != (), own_users)
bomb = b"""
import threading, time
threading.stack_size(65536)
def bid(view):
    for n in range(1000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
def play(view): return view["legal"][0]
"""
bots[0] = BotCode("bomb.py", "py", bomb)
played = play_match(rules, bots, seed=bytes(32), bot_seeds=[1, 2], limits=Limits(), sandbox=sandbox)
said = [line for line in played.usage[0].log.splitlines() if line.startswith("RuntimeError")]
print(*[fault.kind for fault in played.outcome.faults], *[line.replace(" ", "_") for line in said])
killer = b"""
import os
def bid(view):
    try:
        os.kill(-1, 9)
    except OSError:
        pass
    return 0
def play(view): return view["legal"][0]
"""
bots[0] = BotCode("killer.py", "py", killer)
played = play_match(rules, bots, seed=bytes(32), bot_seeds=[1, 2], limits=Limits(), sandbox=sandbox)
print(*[fault.kind for fault in played.outcome.faults])
sandbox.close()
'''


REFUSED = "RuntimeError:_can't_start_new_thread"


def _elsewhere(where: Path, uid: int | None, launcher: str | None) -> subprocess.CompletedProcess[str]:
    """Play matches on the system's Python with the packages copied to `where`."""
    script = ANYBODY.replace("@LAUNCHER@", repr(launcher))
    command = ["/usr/bin/python3", "-c", script]
    if uid is not None:
        command = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--", *command]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{where}:{SITE}", "TMPDIR": str(where)}
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, timeout=60)


def _copied(where: Path) -> Path:
    for package in ("engine", "service", "workers"):
        shutil.copytree(REPOSITORY / package, where / package, ignore=shutil.ignore_patterns("__pycache__"))
    return where


@pytest.fixture
def home(tmp_path_factory):
    """A closed folder, short-lived, outside pytest's own closed one."""
    where = Path(f"/var/tmp/rage-test-{os.getpid()}")
    where.mkdir(mode=0o700)
    yield where
    shutil.rmtree(where)


@as_root
def test_a_checkout_and_data_in_a_closed_home_are_no_hindrance(home: Path) -> None:
    done = _elsewhere(_copied(home), None, None)
    assert done.stdout.split() == ["A", "0", "True", "True", "escape", REFUSED], done.stderr


@as_root
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="shares packages with the system's Python 3.11")
@pytest.mark.parametrize(("launcher", "mode"), [(None, "B"), ("one-shot", "B"), ("landlock", "C")])
def test_an_ordinary_user_plays_without_groups(launcher: str | None, mode: str, home: Path) -> None:
    _copied(home)
    for path in [home, *home.rglob("*")]:
        os.chown(path, 64_900, 64_900)
    done = _elsewhere(home, 64_900, launcher)
    assert done.stdout.split() == [mode, "0", "True", "False", "escape", REFUSED], done.stderr
