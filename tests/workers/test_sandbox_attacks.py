"""Every attack of the table against the real sandbox: stopped, rightly named, no concern of the neighbour."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from loadtests import attacks, proving
from loadtests.attack import Attack
from loadtests.proving import SECRET, Ground
from workers.match import Played
from workers.sandbox import Sandbox

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    with proving.ground() as made:
        yield made


@pytest.fixture(scope="module")
def quiet(table) -> Played:
    """The match that is left when a seat only ever plays default moves."""
    return table()


OTHERS = ("one_shot", "locked")


def everywhere() -> Iterator[object]:
    """Every attack with every launcher; day by day with the usual one and, in turn, one of the others."""
    for number, attack in enumerate(attacks.ATTACKS):
        usual = ("sandbox", OTHERS[number % 2])
        for launcher in ("sandbox", *OTHERS):
            marks = () if launcher in usual else (pytest.mark.slow,)
            yield pytest.param(attack, launcher, id=f"{launcher}-{attack.name}", marks=marks)


@pytest.mark.parametrize(("attack", "launcher"), list(everywhere()))
def test_an_attack_is_stopped_and_hurts_nobody_else(
    attack: Attack, launcher: str, quiet: Played, ground: Ground, request
) -> None:
    tried = ground.tried(attack, request.getfixturevalue(launcher))
    assert tried.breaches(quiet) == [], (tried.faults, tried.log)


@pytest.fixture(params=["sandbox", "one_shot", "locked"])
def each(request) -> Sandbox:
    """Every launcher there is."""
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("attack", attacks.AT_START, ids=lambda attack: attack.name)
def test_an_attack_while_being_imported_is_a_fault_before_the_first_decision(
    attack: Attack, each: Sandbox, quiet: Played, ground: Ground
) -> None:
    tried = ground.tried(attack, each)
    assert tried.breaches(quiet) == [], (tried.faults, tried.log)


MODE_B = {
    *("fork", "thread bomb", "memory at once", "memory bit by bit", "endless loop", "read a secret", "TCP"),
    *("write over itself", "fill the inodes", "kill everybody", "daemon", "new namespaces", "stop itself"),
}


@pytest.mark.parametrize(
    "attack", [attack for attack in attacks.ATTACKS if attack.name in MODE_B], ids=lambda attack: attack.name
)
def test_the_walls_stand_without_control_groups(
    attack: Attack, bare_sandbox: Sandbox, quiet: Played, ground: Ground
) -> None:
    tried = ground.tried(attack, bare_sandbox)
    assert tried.breaches(quiet) == [], (tried.faults, tried.log)
    assert tried.mode == "B"


def named(name: str) -> Attack:
    return next(attack for attack in attacks.ATTACKS if attack.name == name)


def test_a_bot_inherits_no_descriptor_but_its_own_five(sandbox: Sandbox, ground: Ground) -> None:
    assert "OPEN [0, 1, 2, 3, 4]" in ground.tried(named("inherited descriptors"), sandbox).log


def test_a_bot_sees_only_the_environment_of_the_policy(sandbox: Sandbox, ground: Ground) -> None:
    log = ground.tried(named("read the environment"), sandbox).log
    assert "PYTHONHASHSEED" in log and "RAGE_CANARY" not in log


def test_a_late_answer_costs_one_strike_and_no_more(sandbox: Sandbox, ground: Ground) -> None:
    assert [str(fault.kind) for fault in ground.tried(named("late answer"), sandbox).faults] == ["timeout"]


def test_the_judge_sees_a_breach(sandbox: Sandbox, quiet: Played, ground: Ground) -> None:
    harmless = Attack("no attack at all", f"print({SECRET!r})", "escape", True)
    found = ground.tried(harmless, sandbox).breaches(quiet)
    assert found == ["recorded as no fault", "out: False", "a secret was read"]


def test_an_operator_can_have_the_table_printed() -> None:
    command = [sys.executable, "-m", "loadtests.attack_table", "--only", "exit at once", "--markdown"]
    done = subprocess.run(command, cwd=proving.CHECKOUT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| exit at once | crash: it ended itself | " in done.stdout
    assert "| wrong checksum | data.bin: broken: Bad CRC-32" in done.stdout
    assert done.stdout.endswith("1 attacks in 5 modes, 52 archives; breaches: 0\n")
