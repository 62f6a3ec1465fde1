"""What a seat costs: `python -m loadtests.bench_table`, side by side in one run, medians, one pinned core.

Floors are measured in the same run as what stands on them, turn by turn, so that a busy machine slows all
alike. Wall times of a busy machine say little, ratios more, CPU most. CPU is that of a control group with
this process and everything it starts in it, where such a group can be made.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from engine.table import play
from loadtests.archives import archived
from loadtests.scaling import scaling
from loadtests.seats import (
    ECHO,
    HELLO,
    QUESTION,
    RULES,
    START,
    TRIVIAL,
    VIEW,
    bare,
    counted,
    line,
    python,
    ready,
    sdk_bot,
    seat,
    trips,
)
from service.limits import Limits
from workers.match import play_match
from workers.player import SandboxPlayer
from workers.sandbox import BotCode, Sandbox

BARE = "import sys\nsys.stdin.readline()\nprint('{\"ready\":true}', flush=True)\nsys.stdin.readline()"
SAME = "one-shot, the bare bot itself"
BARE_BOT = BotCode(
    "bare.zip",
    "zip",
    archived({"bot.toml": b'run = ["python", "-I", "-S", "main.py"]', "main.py": BARE.encode()}),
)
US = 1e6


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=15, help="turns of each contestant")
    chosen = options.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    scaled = scaling(cores)
    os.sched_setaffinity(0, cores[:1])
    with counted() as cpu:
        rows = [*_table(chosen.rounds, cpu), scaled]
    _show(rows)


def _table(rounds: int, cpu: Callable[[], float] | None) -> list[tuple[str, str, str]]:
    sandboxes = {}
    with ExitStack() as stack:
        for name in ("one-shot", "fork-server", "landlock"):
            sandboxes[name] = Sandbox.probe(launcher=name)
            stack.callback(sandboxes[name].close)
        fast = sandboxes["fork-server"]
        return [
            *_round_trips(rounds, fast),
            *_matches(rounds, sandboxes, cpu),
            *_seats(rounds, sandboxes, cpu),
            *_starts(rounds, sandboxes),
            *_memory(sandboxes),
        ]


# decisions


def _round_trips(rounds: int, sandbox: Sandbox) -> list[tuple[str, str, str]]:
    """The SDK's bot in and out of the sandbox, the raw pipe, and whole decisions of a match, in turns."""
    with ExitStack() as stack:
        raw = stack.enter_context(bare([sys.executable, "-I", "-S", "-c", ECHO]))
        plain = stack.enter_context(sdk_bot(sandbox))
        running = stack.enter_context(seat(sandbox, TRIVIAL, 9))
        walled = (running.stdin, running.stdout)
        ready(walled)
        times: dict[str, list[float]] = {name: [] for name in ("raw", "bare", "walled", "wall", "cpu")}
        for _ in range(rounds):
            times["raw"].append(trips(raw, VIEW, 2_000))
            times["bare"].append(trips(plain, QUESTION, 1_000))
            times["walled"].append(trips(walled, QUESTION, 1_000))
            wall, spent = _decisions(sandbox)
            times["wall"].append(wall)
            times["cpu"].append(spent)
    found = {name: statistics.median(each) for name, each in times.items()}
    ratio = statistics.median(
        inside / outside for inside, outside in zip(times["walled"], times["bare"], strict=True)
    )
    floor = statistics.median(whole / raw for whole, raw in zip(times["wall"], times["raw"], strict=True))
    return [
        (
            "decision round trip, sandboxed / the same bot bare",
            f"{ratio:.2f}  ({found['walled'] * US:.1f} / {found['bare'] * US:.1f} us)",
            "<= 1.25",
        ),
        (
            "whole decision / raw pipe ping-pong of 600 bytes",
            f"{floor:.1f}  ({found['wall'] * US:.1f} / {found['raw'] * US:.1f} us)",
            "<= 10, aim 6",
        ),
        ("CPU a decision, engine and trivial bot", f"{found['cpu'] * US:.0f} us", "<= 60, aim 35"),
    ]


def _decisions(sandbox: Sandbox) -> tuple[float, float]:
    """Wall and CPU seconds a decision in rounds 2 to 10 of a match of four, starts and ends left out."""
    marks: list[tuple[float, float]] = []
    limits = Limits()
    with ExitStack() as stack:
        seats = [stack.enter_context(seat(sandbox, TRIVIAL, slot, hello=False)) for slot in range(4)]
        players = [SandboxPlayer(running, limits) for running in seats]

        def note(finished: int, rounds: int) -> None:
            spent = time.process_time_ns() + sum(running.cpu_ns() for running in seats)
            marks.append((time.perf_counter(), spent / 1e9))

        play(RULES, players, seed=bytes(32), bot_seeds=[1, 2, 3, 4], limits=limits.as_dict(), on_round=note)
    first, last = marks[0], marks[-2]  # the last round's mark comes after the farewells' beginning
    hands = RULES.rounds(4)[1:-1]
    count = 4 * sum(size + 1 for size in hands)
    return (last[0] - first[0]) / count, (last[1] - first[1]) / count


# matches


def _matches(
    rounds: int, sandboxes: dict[str, Sandbox], cpu: Callable[[], float] | None
) -> list[tuple[str, str, str]]:
    if cpu is None:
        return [("4-seat match of 260 decisions, fresh sandboxes", "no group that counts CPU", "<= 60 ms")]
    spent: dict[str, list[float]] = {name: [] for name in sandboxes}
    for _ in range(rounds):
        for name, sandbox in sandboxes.items():
            before = cpu()
            _match(sandbox)
            spent[name].append(cpu() - before)
    shown = ", ".join(f"{name} {statistics.median(each) * 1e3:.0f} ms" for name, each in spent.items())
    return [("CPU of a 4-seat match of 260 decisions, fresh sandboxes", shown, "<= 60 ms, aim 30")]


def _match(sandbox: Sandbox) -> None:
    played = play_match(
        RULES, [TRIVIAL] * 4, seed=bytes(32), bot_seeds=[1, 2, 3, 4], limits=Limits(), sandbox=sandbox
    )
    assert not played.outcome.faults, played.outcome.faults


# starts


def _seats(
    rounds: int, sandboxes: dict[str, Sandbox], cpu: Callable[[], float] | None
) -> list[tuple[str, str, str]]:
    """All that a seat costs beside its decisions: from launch to ready, from farewell to nothing left."""
    if cpu is None:
        return []
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in sandboxes}
    for _ in range(4 * rounds):
        for name, sandbox in sandboxes.items():
            marks = [cpu()]
            player = SandboxPlayer(sandbox.launch(TRIVIAL, Limits(), slot=0), Limits())
            player.start(START)
            marks.append(cpu())
            player.end({"scores": [0] * 4, "places": [1] * 4})
            player.stop()
            marks.append(cpu())
            spent[name].append((marks[1] - marks[0], marks[2] - marks[1]))
    medians = {name: map(statistics.median, zip(*each, strict=True)) for name, each in spent.items()}
    shown = (
        f"{name} {' + '.join(f'{part * 1e3:.1f}' for part in parts)} ms" for name, parts in medians.items()
    )
    return [("CPU of a seat: start + end", ", ".join(shown), "")]


def _starts(rounds: int, sandboxes: dict[str, Sandbox]) -> list[tuple[str, str, str]]:
    times: dict[str, list[float]] = {name: [] for name in ("bare", *sandboxes, SAME)}
    for _ in range(2 * rounds):
        begin = time.perf_counter()
        with bare(python(sandboxes["one-shot"], BARE, "-I")) as ends:
            os.write(ends[0], HELLO)
            line(ends[1])
            times["bare"].append(time.perf_counter() - begin)
        for name, sandbox in sandboxes.items():
            begin = time.perf_counter()
            with seat(sandbox, TRIVIAL) as running:
                ready((running.stdin, running.stdout))
                times[name].append(time.perf_counter() - begin)
        begin = time.perf_counter()
        with seat(sandboxes["one-shot"], BARE_BOT) as running:
            ready((running.stdin, running.stdout))
            times[SAME].append(time.perf_counter() - begin)
    found = {name: statistics.median(each) for name, each in times.items()}
    floor = found.pop("bare")
    bars = {"one-shot": "<= 2.2", "fork-server": "<= 0.8", "landlock": "<= 1.4", SAME: "<= 2.2"}
    return [
        (
            f"ready / bare Python bot: {name}",
            f"{each / floor:.2f}  ({each * 1e3:.1f} / {floor * 1e3:.1f} ms)",
            bars[name],
        )
        for name, each in found.items()
    ]


# memory


def _memory(sandboxes: dict[str, Sandbox]) -> list[tuple[str, str, str]]:
    bars = {"one-shot": "<= 10 MB", "fork-server": "<= 4 MB", "landlock": "<= 4 MB"}
    return [
        (f"private memory of an idle seat: {name}", _private(sandbox), bars[name])
        for name, sandbox in sandboxes.items()
    ]


def _private(sandbox: Sandbox) -> str:
    with seat(sandbox, TRIVIAL) as running:
        ready((running.stdin, running.stdout))
        outer = getattr(running, "outer", None)
        top = outer.pid if outer else running._pid()
        shown = f"{sum(map(_own, _family(top))) / 1024:.1f} MB"
        parents = getattr(sandbox.launcher, "parents", {}).values()
        kept = [sum(map(_own, parent.pids())) / 1024 for parent in parents]
        return shown + (f"  (and its parent {max(kept):.1f} MB)" if kept else "")


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in _family(int(child)))]


def _own(pid: int) -> int:
    """KiB that only this process maps."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


def _show(rows: list[tuple[str, str, str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    print(f"{os.uname().machine}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
