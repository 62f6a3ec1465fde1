"""One probed sandbox for all, and eyes for what a match may leave behind."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.rules import RuleSet
from service.limits import Limits
from workers.match import Played, play_match
from workers.sandbox import BotCode, Sandbox

HONEST = b"""
def bid(view):
    return 0

def play(view):
    return view["legal"][0]
"""
SHORT = {"preset": "fundex", "hand_sizes": [3, 2]}
STRICT = Limits(
    decision_ms=500, decision_cpu_ms=20, bank_cpu_ms=300, start_ms=1_500, start_cpu_ms=800, memory_mb=96
)
SEED = bytes(range(32))


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The sandbox this machine offers: the fork-server where it can be."""
    probed = Sandbox.probe()
    yield probed
    probed.close()


@pytest.fixture(scope="session")
def one_shot() -> Iterator[Sandbox]:
    """The same with a bubblewrap of its own for every bot."""
    probed = Sandbox.probe(launcher="one-shot")
    yield probed
    probed.close()


@pytest.fixture(scope="session")
def bare_sandbox() -> Iterator[Sandbox]:
    """The same without control groups: mode B."""
    probed = Sandbox.probe(use_groups=False)
    yield probed
    probed.close()


@pytest.fixture(scope="session")
def locked() -> Iterator[Sandbox]:
    """Without namespaces: mode C."""
    probed = Sandbox.probe(launcher="landlock")
    yield probed
    probed.close()


Table = Callable[..., Played]


@pytest.fixture(scope="session")
def table(sandbox: Sandbox) -> Table:
    """Plays a short match of the given sources, honest bots added up to two seats."""

    def play(
        *sources: str | bytes | BotCode, limits: Limits = STRICT, at: Sandbox = sandbox, **options
    ) -> Played:
        bots = [as_code(source, f"bot{seat}.py") for seat, source in enumerate(sources)]
        while len(bots) < 2:
            bots.append(as_code(HONEST, "honest.py"))
        rules = RuleSet.parse(SHORT)
        seeds = list(range(len(bots)))
        return play_match(rules, bots, seed=SEED, bot_seeds=seeds, limits=limits, sandbox=at, **options)

    return play


def as_code(source: str | bytes | BotCode, name: str) -> BotCode:
    """A source as a Python bot."""
    if isinstance(source, BotCode):
        return source
    return BotCode(name, "py", source.encode() if isinstance(source, str) else source)


def left_behind(sandbox: Sandbox) -> dict[str, list[str]]:
    """Processes, groups, folders and mounts that bear the sandbox's number; the warm parents may stay."""
    claim = sandbox.claim
    uids = {claim.uid(slot) for slot in range(16)} if os.getuid() == 0 else set()
    parents = list(getattr(getattr(sandbox, "launcher", None), "parents", {}).values())
    warm = {str(pid) for parent in parents for pid in parent.pids()}
    numbers = [entry.name for entry in os.scandir("/proc") if entry.name.isdigit() and _owner(entry) in uids]
    processes = [number for number in numbers if number not in warm]
    kept = {path for parent in parents if parent.group for path in (parent.group.memory, parent.group.pids)}
    groups = [
        str(path)
        for parent in claim.parents
        for path in parent.glob(f"rage-{claim.name}-*")
        if path not in kept or set((path / "cgroup.procs").read_text().split()) - warm
    ]
    mounts = [
        line for line in Path("/proc/self/mountinfo").read_text().splitlines() if "rage-sandbox" in line
    ]
    folders = [path.name for path in claim.folder.glob("bot-*")]
    return {"processes": processes, "groups": groups, "folders": folders, "mounts": mounts}


def _owner(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_uid
    except OSError:
        return -1


@pytest.fixture(scope="session")
def leftovers() -> Callable[[Sandbox], dict[str, list[str]]]:
    """What is left behind, by sort; empty when nothing is."""
    return lambda sandbox: {sort: found for sort, found in left_behind(sandbox).items() if found}
