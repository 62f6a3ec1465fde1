"""Every attack of the table against the real sandbox: stopped, rightly named, no concern of the neighbour."""

import importlib.util
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workers.match import Played
from workers.sandbox import Sandbox

spec = importlib.util.spec_from_file_location("attacks", Path(__file__).with_name("attacks.py"))
assert spec and spec.loader
attacks = importlib.util.module_from_spec(spec)
sys.modules["attacks"] = attacks
spec.loader.exec_module(attacks)

pytestmark = pytest.mark.sandbox
SECRET = "the canary sings"


@pytest.fixture(scope="module")
def canary() -> Iterator[Path]:
    path = Path(f"/var/tmp/rage-canary-{os.getpid()}")
    path.write_text(SECRET)
    path.chmod(0o644)
    os.environ["RAGE_CANARY"] = SECRET
    yield path
    path.unlink()
    del os.environ["RAGE_CANARY"]


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.0)
        yield server


@pytest.fixture(scope="module")
def quiet(table) -> Played:
    """The match that is left when a seat only ever plays default moves."""
    return table()


def filled(attack, canary: Path, listener: socket.socket, at: Sandbox | None = None) -> str:
    text = attack.source.replace("@CANARY@", str(canary)).replace("@PID@", str(os.getpid()))
    text = text.replace("@CLAIM@", str(at.claim.folder if at else canary))
    text = text.replace("@PORT@", str(listener.getsockname()[1]))
    return text.replace("@CHECKOUT@", str(Path(__file__).parents[2])).replace(
        "\ndef attack", attacks.OPENED + "\ndef attack"
    )


def _open_descriptors(sandbox: Sandbox) -> int:
    """Ours, without those of the parents that stay."""
    parents = getattr(sandbox.launcher, "parents", {}).values()
    return len(os.listdir("/proc/self/fd")) - sum(
        (not parent.closed) + (parent.hold >= 0) for parent in parents
    )


@pytest.fixture(params=["sandbox", "one_shot", "locked"])
def each(request) -> Sandbox:
    """Every launcher there is."""
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("attack", attacks.ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_is_stopped_and_hurts_nobody_else(
    attack, table, each: Sandbox, quiet: Played, canary, listener, leftovers
) -> None:
    descriptors = _open_descriptors(each)
    played = table(filled(attack, canary, listener, each), at=each)
    faults = [fault for fault in played.outcome.faults if fault.seat == 0]
    log = played.usage[0].log

    assert attack.allows({str(fault.kind) for fault in faults}, each.mode), (faults, log)
    assert attack.out is None or (0 in played.outcome.out) == attack.out
    assert [fault for fault in played.outcome.faults if fault.seat != 0] == []
    assert played.outcome.scores[1] == quiet.outcome.scores[1]
    assert SECRET not in log
    assert leftovers(each) == {}
    assert _open_descriptors(each) == descriptors
    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.parametrize("attack", attacks.AT_START, ids=lambda attack: attack.name)
def test_an_attack_while_being_imported_is_a_fault_before_the_first_decision(
    attack, table, each: Sandbox, leftovers
) -> None:
    body = "\n".join(["if True:", *("    " + line for line in attack.body.splitlines())])
    played = table(f"{attacks.PREAMBLE}\n{body}\n{attacks.PLAY}".replace("attack()", "None"), at=each)
    kinds = {str(fault.kind) for fault in played.outcome.faults}
    assert attack.allows(kinds, each.mode), played.outcome.faults
    assert attack.out is None or (0 in played.outcome.out) == attack.out
    assert leftovers(each) == {}


MODE_B = {
    *("fork", "thread bomb", "memory at once", "memory bit by bit", "endless loop", "read a secret", "TCP"),
    *("write over itself", "fill the inodes", "kill everybody", "daemon", "new namespaces", "stop itself"),
}
NO_SCRATCH = {"fill the inodes"}  # there is nothing to fill: the bot fails to write


@pytest.mark.parametrize(
    "attack", [attack for attack in attacks.ATTACKS if attack.name in MODE_B], ids=lambda attack: attack.name
)
def test_the_walls_stand_without_control_groups(
    attack, table, bare_sandbox: Sandbox, quiet: Played, canary, listener, leftovers
) -> None:
    played = table(filled(attack, canary, listener), at=bare_sandbox)
    kinds = {str(fault.kind) for fault in played.outcome.faults}
    assert kinds == {"crash"} if attack.name in NO_SCRATCH else attack.allows(kinds), played.outcome.faults
    assert played.outcome.scores[1] == quiet.outcome.scores[1]
    assert played.mode == "B"
    assert SECRET not in played.usage[0].log
    assert leftovers(bare_sandbox) == {}


def test_a_bot_inherits_no_descriptor_but_its_own_five(table, canary, listener) -> None:
    attack = next(attack for attack in attacks.ATTACKS if attack.name == "inherited descriptors")
    log = table(filled(attack, canary, listener)).usage[0].log
    assert "OPEN [0, 1, 2, 3, 4]" in log


def test_a_bot_sees_only_the_environment_of_the_policy(table, canary, listener) -> None:
    attack = next(attack for attack in attacks.ATTACKS if attack.name == "read the environment")
    log = table(filled(attack, canary, listener)).usage[0].log
    assert "PYTHONHASHSEED" in log and "RAGE_CANARY" not in log


def test_a_late_answer_costs_one_strike_and_no_more(table, canary, listener) -> None:
    attack = next(attack for attack in attacks.ATTACKS if attack.name == "late answer")
    faults = table(filled(attack, canary, listener)).outcome.faults
    assert [str(fault.kind) for fault in faults] == ["timeout"]
