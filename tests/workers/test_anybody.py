"""The sandbox for whoever starts it: from a closed home, or as an ordinary user."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.sandbox
REPOSITORY = Path(__file__).parents[2]
SITE = next(Path(path) for path in sys.path if path.endswith("site-packages"))
as_root = pytest.mark.skipif(os.getuid() != 0, reason="takes root to become somebody else")
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
