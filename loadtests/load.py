"""Authors, organisers and spectators on a fresh service of this machine, and a report.

    python -m loadtests.load short|steady|spike|soak [--workers 2] [--json FILE]

Starts a whole service (a folder, a port, worker processes of its own), has Locust drive it headless, prints
requests/s, p50, p95 and p99, failures, matches/s, the oldest waiting work and memory, and leaves nothing
running. The shapes and their bars are data (`loadtests/shapes.py`); status 1 if one is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from loadtests import fresh
from loadtests.bars import FREE, Row, show, status, table
from loadtests.shapes import SHAPES, Shape
from service.supervisor import Supervisor

ROOT = Path(__file__).parents[1]
LOOK_EVERY = 2.0  # seconds
SAY_EVERY = 10.0
READS, WRITES = ("GET",), ("POST", "PATCH", "DELETE")
WAIT, JOURNEY = "WAIT", "JOURNEY"  # lines that are no requests: somebody waited, or gave up
WAITING = ("queue_age", "oldest_check")
WAITED = {
    "uploads checked": "check of an upload",
    "tournaments seen to their end": "tournament of four matches",
}
QUANTILES = (0.5, 0.95, 0.99)
MB = 1 << 20
QUIET = (
    "--headless",
    "--only-summary",
    "--loglevel",
    "ERROR",
    "--exit-code-on-error",
    "0",
    "--stop-timeout",
    "5",
)


@dataclass(slots=True)
class Watch:
    """What the service itself says while it is used: at which second, and the figure."""

    service: Supervisor
    done: list[tuple[float, float]] = field(default_factory=list)
    age: list[float] = field(default_factory=list)
    memory: dict[str, list[float]] = field(default_factory=dict)

    def run(self, over: threading.Event) -> None:
        """Look every few seconds until it is over."""
        began = said = time.monotonic()
        while not over.wait(LOOK_EVERY):
            self.look(time.monotonic() - began)
            if time.monotonic() - said > SAY_EVERY:
                said = time.monotonic()
                say(f"{said - began:.0f} s: {self.done[-1][1]:.0f} matches, oldest work {self.age[-1]:.1f} s")

    def look(self, now: float) -> None:
        """One look."""
        with urlopen(f"{self.service.address}/metrics", timeout=10) as answer:  # noqa: S310 - our own
            found = gauges(answer.read().decode())
        # Absent until there is one; were it gone for good, matches/s would miss its bar.
        self.done.append((now, found.get('rage_matches{"status": "done"}', 0.0)))
        self.age.append(max(found[f"rage_{name}_seconds{{}}"] for name in WAITING))
        for name, size in fresh.kept(self.service).items():
            sizes = self.memory.setdefault(name, [])
            if size is not None:
                sizes.append(size / MB)

    def matches_a_second(self, warm_up: float) -> float:
        """After the warm-up."""
        counted = [each for each in self.done if each[0] >= warm_up] or self.done
        (first, some), (last, more) = counted[0], self.done[-1]
        return (more - some) / (last - first) if last > first else 0.0


def gauges(text: str) -> dict[str, float]:
    """Figures by name and labels."""
    return {
        f"{sample.name}{json.dumps(sample.labels)}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def main(argv: Sequence[str]) -> int:
    """Drive, print, judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    shapes = "; ".join(f"{name}: {shape.about}" for name, shape in SHAPES.items())
    parser.add_argument("shape", choices=SHAPES, help=shapes)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="matches at once")
    parser.add_argument("--json", type=Path, metavar="FILE", help="leave the figures there too")
    told = parser.parse_args(argv)
    shape = SHAPES[told.shape]
    say(f"{told.shape}: {shape.about}; {shape.seconds:.0f} s and the service's start")
    with fresh.fresh(workers=told.workers, RAGE_LOG_LEVEL="warning") as service:
        watch = Watch(service)
        found = driven(service, told.shape, watch)
    rows = judged(shape, found["lines"], watch)
    report(found, shape)
    show(f"{told.shape}: {shape.about}", rows)
    if told.json:
        figures = {row.what: row.value for row in rows}
        told.json.write_text(json.dumps({"figures": figures, **found}, indent=1))
    return status(rows)


def driven(service: Supervisor, name: str, watch: Watch) -> dict[str, Any]:
    """What Locust saw; in a process of its own, since it changes how Python waits."""
    over = threading.Event()
    with TemporaryDirectory(prefix="rage-load-") as folder:
        out = Path(folder) / "figures.json"
        locust = [sys.executable, "-m", "locust", "-f", str(ROOT / "loadtests" / "locustfile.py")]
        command = [*locust, *QUIET, "--host", service.address]
        env = {**os.environ, "RAGE_LOAD_SHAPE": name, "RAGE_LOAD_OUT": str(out), "PYTHONPATH": str(ROOT)}
        with ThreadPoolExecutor(1) as beside:
            watching = beside.submit(watch.run, over)
            try:
                done = subprocess.run(
                    command, env=env, cwd=folder, capture_output=True, text=True, check=False
                )
            finally:
                over.set()
        watching.result()  # whoever could not look says so
        if done.returncode or not out.exists():
            raise SystemExit(f"Locust ended with {done.returncode}:\n{done.stderr[-3000:]}")
        return dict(json.loads(out.read_text()))


def judged(shape: Shape, lines: Sequence[Mapping[str, Any]], watch: Watch) -> list[Row]:
    """All figures, with the shape's bars; a bar whose figure is not there is missed."""
    figures = {**asked(shape, lines), **waited(lines), **watched(shape, watch)}
    absent = [Row(what, None, shape.bars[what], "there is no such figure", owed=True)
              for what in shape.bars if what not in figures]  # fmt: skip
    return [Row(what, value, shape.bars.get(what, FREE)) for what, value in figures.items()] + absent


def asked(shape: Shape, lines: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Requests, and journeys that were broken off."""
    requested = [line for line in lines if line["method"] not in (WAIT, JOURNEY)]
    broken = sum(line["failures"] for line in lines if line["method"] == JOURNEY)
    requests, failed = (sum(line[what] for line in requested) for what in ("requests", "failures"))
    counted = sum(stage.seconds for stage in shape.stages)
    figures: dict[str, float] = {
        "requests": requests,
        "requests/s": requests / counted,
        "failures, share of requests": failed / max(requests, 1),
        "journeys broken off, share of requests": broken / max(requests, 1),
    }
    for what, methods in (("reads", READS), ("writes", WRITES)):
        if those := [line for line in requested if line["method"] in methods]:
            marks = zip(QUANTILES, quantiles(*those), strict=True)
            figures |= {f"{what}, p{share * 100:.0f} ms": mark for share, mark in marks}
    return figures


def waited(lines: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """How much was seen to its end, and how long that took."""
    figures: dict[str, float | None] = {}
    waits = {line["name"]: line for line in lines if line["method"] == WAIT}
    for what, name in WAITED.items():
        figures[what] = waits.get(name, {"requests": 0})["requests"]
        figures[f"{name}, p95 ms"] = quantiles(waits[name])[1] if name in waits else None
    return figures


def watched(shape: Shape, watch: Watch) -> dict[str, float | None]:
    """What the service said; nothing if nobody looked, None for memory that /proc does not tell."""
    figures: dict[str, float | None] = {}
    if watch.done:
        figures["matches/s"] = watch.matches_a_second(shape.warm_up.seconds)
        figures["oldest waiting work, s"] = max(watch.age)
    for name, sizes in watch.memory.items():
        who = "the API" if name == "api" else "a worker"
        tenth = max(len(sizes) // 10, 1)
        most, end, beginning = (
            max(some, default=None) for some in (sizes, sizes[-tenth:], sizes[: 2 * tenth])
        )
        figures[f"memory of {who}, MB"] = most
        figures[f"memory of {who}, end / beginning"] = end / beginning if end and beginning else None
    return figures


def quantiles(*lines: Mapping[str, Any]) -> list[float]:
    """Milliseconds at each of `QUANTILES`, over several kinds of request together; 0 of none."""
    times: Counter[float] = Counter()
    for line in lines:
        for taken, count in line["times"].items():
            times[float(taken)] += count
    marks = []
    for share in QUANTILES:
        seen = 0
        for taken in sorted(times):
            seen += times[taken]
            if seen >= share * times.total():
                break
        marks.append(taken if times else 0.0)
    return marks


def report(found: Mapping[str, Any], shape: Shape) -> None:
    """Every kind of request, the most frequent first."""
    seconds = sum(stage.seconds for stage in shape.stages)
    lines = [("request", "requests/s", "p50, ms", "p95, ms", "p99, ms", "failures")]
    for line in sorted(found["lines"], key=lambda line: -line["requests"]):
        marks = (f"{mark:.0f}" for mark in quantiles(line))
        rate = f"{line['requests'] / seconds:.1f}"
        lines.append((f"{line['method']:<6} {line['name']}", rate, *marks, str(line["failures"])))
    print()
    table(lines)
    for error in found["errors"][:20]:
        print(f"  {error}")


def say(words: str) -> None:
    """A line on standard error."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
