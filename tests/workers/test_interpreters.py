"""Bots in other languages, run by what the operator lists, talking the protocol as anybody may."""

import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import api
from service.limits import Limits
from workers.sandbox import BotCode, Sandbox, SandboxError, SandboxUnavailable

pytestmark = pytest.mark.sandbox
SKELETON = Path(api.__file__).parent / "skeletons" / "bash" / "main.sh"
BASH = "#!/bin/bash\n" + SKELETON.read_text().replace("exit 0", "echo bash $BASH_VERSION >&2; exit 0")
NODE = r"""#!/usr/bin/node
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const told = JSON.parse(line);
  if (told.type === "start") console.log(JSON.stringify({ ready: true }));
  else if (told.type === "end") console.error("node " + process.version);
  else console.log(JSON.stringify({ id: told.id, move: told.legal[0] }));
});
"""
KNOWN = {"bash": "/bin/bash", "node": "/usr/bin/node"}
PRESENT = {name: path for name, path in KNOWN.items() if os.access(path, os.X_OK)}
ROOMY = Limits(memory_mb=512, start_ms=20_000, start_cpu_ms=10_000)


def archive(program: str, run: str = '"./main"') -> BotCode:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("bot.toml", f"run = [{run}]")
        file.writestr("main", program)
    return BotCode("bot.zip", "zip", packed.getvalue())


@pytest.fixture(scope="module")
def many() -> Iterator[Sandbox]:
    probed = Sandbox.probe(interpreters=PRESENT)
    yield probed
    probed.close()


@pytest.mark.parametrize("how", ["by name", "by its first line"])
@pytest.mark.parametrize(("program", "word"), [(BASH, "bash"), (NODE, "node")], ids=["bash", "node"])
def test_a_bot_in_another_language_plays(
    program: str, word: str, how: str, table, many: Sandbox, leftovers
) -> None:
    if word not in PRESENT:
        pytest.skip(f"no {word} here")
    run = f'"{word}", "main"' if how == "by name" else '"./main"'
    played = table(archive(program, run), at=many, limits=ROOMY)
    assert played.outcome.faults == ()
    assert played.usage[0].log.startswith(word)
    assert leftovers(many) == {}


def test_an_interpreter_that_is_not_listed_is_not_there(table, sandbox: Sandbox) -> None:
    fault = table(archive(BASH), at=sandbox).outcome.faults[0]
    assert (str(fault.kind), fault.text) == ("start", "cannot be run: ./main: No such file or directory")


def test_bash_plays_without_namespaces_too(table) -> None:
    probed = Sandbox.probe(launcher="landlock", interpreters={"bash": "/bin/bash"})
    try:
        played = table(archive(BASH, '"bash", "main"'), at=probed)
    finally:
        probed.close()
    assert (played.mode, played.outcome.faults) == ("C", ())


def test_a_bot_accepted_for_an_interpreter_this_worker_lacks_is_not_blamed(table, sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match='run starts with "bash"; it may be "python" or'):
        table(archive(BASH, '"bash", "main"'), at=sandbox)


@pytest.mark.parametrize("path", ["/nowhere/ruby", "ruby", "/etc"])
def test_a_listed_interpreter_must_be_a_program(path: str) -> None:
    wanted = f"ruby for bots is not at {path}.*RAGE_INTERPRETERS"
    with pytest.raises(SandboxUnavailable, match=wanted) as refusal:
        Sandbox.probe(interpreters={"ruby": path})
    assert str(refusal.value).count("is not at") == 1, "said once"


def test_the_sandbox_says_what_bots_may_run_on(many: Sandbox) -> None:
    assert many.description()["interpreters"] == PRESENT
