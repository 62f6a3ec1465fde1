"""One probed sandbox for all, and eyes for what a match may leave behind."""

from collections.abc import Callable, Iterator

import pytest

from loadtests import proving
from loadtests.proving import STRICT
from service.limits import Limits
from workers.match import Played
from workers.sandbox import BotCode, Sandbox


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
        return proving.play(bots, at, limits, **options)

    return play


def as_code(source: str | bytes | BotCode, name: str) -> BotCode:
    """A source as a Python bot."""
    if isinstance(source, BotCode):
        return source
    return BotCode(name, "py", source.encode() if isinstance(source, str) else source)


@pytest.fixture(scope="session")
def leftovers() -> Callable[[Sandbox], dict[str, list[str]]]:
    """What is left behind, by sort; empty when nothing is."""
    return proving.left_behind
