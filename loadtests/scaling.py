"""How much two workers play beside one: each, `python -m loadtests.scaling SECONDS`, on a core of its own."""

import statistics
import subprocess
import sys
import time

from loadtests.seats import RULES
from service.limits import Limits
from workers.check import house_bot
from workers.match import play_match
from workers.sandbox import Sandbox


def scaling(cores: list[int], seconds: float = 4.0) -> tuple[str, str, str]:
    name = "two pinned workers / one, on two cores"
    if len(cores) < 2:
        return (name, "one core here", ">= 1.8")
    alone, both = [], []
    for _ in range(2):
        alone += _workers(cores[:1], seconds) + _workers(cores[1:2], seconds)
        both.append(sum(_workers(cores[:2], seconds)))
    ratio = statistics.mean(both) / statistics.mean(alone)
    return (
        name,
        f"{ratio:.2f}  ({statistics.mean(both):.1f} / {statistics.mean(alone):.1f} matches/s)",
        ">= 1.8",
    )


def _workers(cores: list[int], seconds: float) -> list[float]:
    """Matches a second of one worker on each core, all at once."""
    command = [sys.executable, "-m", "loadtests.scaling", str(seconds)]
    started = [
        subprocess.Popen(["taskset", "-c", str(core), *command], stdout=subprocess.PIPE, text=True)
        for core in cores
    ]
    return [float(worker.communicate()[0]) for worker in started]


def play_on(seconds: float) -> None:
    sandbox = Sandbox.probe()
    try:
        table = [house_bot(name) for name in ("random", "cautious", "counter", "random")]
        for count in range(-1, 1_000_000):
            if count == 0:  # the first match warmed the seats
                begin = time.monotonic()
            if count > 0 and time.monotonic() - begin > seconds:
                break
            play_match(RULES, table, seed=bytes(32), bot_seeds=[1, 2, 3, 4], limits=Limits(), sandbox=sandbox)
        print(count / (time.monotonic() - begin))
    finally:
        sandbox.close()


if __name__ == "__main__":
    play_on(float(sys.argv[1]))
