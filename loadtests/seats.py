"""A bot in its sandbox and the same bot without, to be talked to from outside; and the CPU of it all."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from engine.rules import RuleSet
from service.limits import Limits
from workers.sandbox import BotCode, Running, Sandbox, groups, hierarchy

TRIVIAL = BotCode(
    "trivial.py", "py", b'def bid(view):\n    return 0\n\ndef play(view):\n    return view["legal"][0]\n'
)
RULES = RuleSet.parse({"preset": "fundex"})
START = {
    "type": "start",
    "protocol": 1,
    "seat": 0,
    "players": 4,
    "rules": RULES.as_dict(),
    "limits": {},
    "seed": 1,
}
ROUND = {
    "round": 1,
    "hand_size": 4,
    "dealer": 0,
    "hand": ["R4", "O1", "O2", "WILD"],
    "trump": "B",
    "trump_card": "B3",
    "scores": [0, 0, 0, 0],
}
QUESTION = (
    json.dumps({"id": 1, "type": "bid", "events": [{"round": ROUND}], "legal": [0, 1, 2, 3, 4]}).encode()
    + b"\n"
)
HELLO = json.dumps(START).encode() + b"\n"
ECHO = "import os\nwhile os.read(0, 65536):\n    os.write(1, b'{\"id\":1}\\n')"
BOOT = "from engine.bot import main; main()"
VIEW = b"x" * 599 + b"\n"


def trips(ends: tuple[int, int], question: bytes, count: int) -> float:
    """Seconds a round trip."""
    writing, reading = ends
    begin = time.perf_counter()
    for _ in range(count):
        os.write(writing, question)
        line(reading)
    return (time.perf_counter() - begin) / count


def line(reading: int) -> bytes:
    """What it says up to the end of a line."""
    data = b""
    while not data.endswith(b"\n"):
        data += os.read(reading, 65536)
    return data


@contextmanager
def seat(sandbox: Sandbox, code: BotCode, slot: int = 0, *, hello: bool = True) -> Iterator[Running]:
    """A bot in the sandbox, told of its match unless `hello` is false."""
    running = sandbox.launch(code, Limits(), slot=slot)
    try:
        if hello:
            os.write(running.stdin, HELLO)
        yield running
    finally:
        running.stop()


def ready(ends: tuple[int, int]) -> None:
    """Wait until it says so."""
    os.set_blocking(ends[1], True)
    assert b"ready" in line(ends[1])


def python(sandbox: Sandbox, code: str, *options: str) -> list[str]:
    """The bots' own Python, without walls."""
    return [sandbox.python.python, *options, "-S", "-c", code]


@contextmanager
def sdk_bot(sandbox: Sandbox) -> Iterator[tuple[int, int]]:
    """The same bot as a plain process."""
    folder = sandbox.claim.folder / "bench"
    folder.mkdir(exist_ok=True)
    (folder / "bot.py").write_bytes(TRIVIAL.content)
    library = folder / "library"
    library.mkdir(exist_ok=True)
    link = library / "engine"
    link.unlink(missing_ok=True)
    link.symlink_to(sandbox.python.engine)
    try:
        environment = {"PYTHONPATH": str(library), "PYTHONHASHSEED": "0"}
        with bare(python(sandbox, BOOT), cwd=folder, env=environment) as ends:
            os.write(ends[0], HELLO)
            ready(ends)
            yield ends
    finally:
        for path in (link, folder / "bot.py"):
            path.unlink()
        library.rmdir()
        folder.rmdir()


@contextmanager
def bare(command: list[str], **options: Any) -> Iterator[tuple[int, int]]:
    """A plain process: where to write to it and where to read from it."""
    process = subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
    assert process.stdin and process.stdout
    try:
        yield process.stdin.fileno(), process.stdout.fileno()
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@contextmanager
def counted() -> Iterator[Callable[[], float] | None]:
    """CPU seconds of this process and all it starts from now on, or None."""
    places = hierarchy.find()
    if places is None or places.cpu is None:
        yield None
        return
    folder = places.cpu / f"rage-bench-{os.getpid()}"
    folder.mkdir()
    group = groups.Group(places.version, folder, folder, folder)
    (folder / "cgroup.procs").write_text("0")
    try:
        yield lambda: (group.cpu_ns() or 0) / 1e9
    finally:
        (places.cpu / "cgroup.procs").write_text("0")
        groups.remove(folder)
