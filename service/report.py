"""The report of a trial match as its author reads it: the same words at home and from the server. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

LOG_LINES = 30
LONGEST = 300  # characters of a line
TURNING = [
    0x61C,
    0x200E,
    0x200F,
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
]  # of lines and direction
HALVES = range(0xD800, 0xE000)  # of letters, which no terminal can be sent
CONTROL = {code: "?" for code in [*range(9), *range(11, 32), *range(127, 160), *TURNING, *HALVES]}
Told = Mapping[str, Any]


def text(told: Told, *, log: bool = False) -> str:
    """A report in a few lines; with `log`, also the end of what the bot wrote. Any part may be missing."""
    lines = list(_ready(told) if told.get("ready") else _rejected(told))
    if log:
        lines += ["log:", *(tail(told.get("stderr")) or ["  (nothing)"])]
    elif not told.get("ready"):
        lines += map(_short, tail((told.get("error") or {}).get("traceback") or told.get("stderr")))
    return "\n".join(lines)


def tail(log: str | None) -> list[str]:
    """The last lines of what a bot wrote, indented, without what could command a terminal."""
    return [f"  {clean(line)}" for line in (log or "").rstrip().splitlines()[-LOG_LINES:]]


def clean(words: str) -> str:
    """A bot's words without what could command a terminal."""
    return words.translate(CONTROL)


def _short(line: str) -> str:
    """The beginning of a line that floods the screen."""
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}... ({len(line)} characters)"


def _ready(told: Told) -> Iterator[str]:
    if "points" not in told or "timings" not in told:
        yield "ready"
        return
    times = told["timings"]["decision"]
    seats = len(told.get("scores") or ()) or 4
    yield f"ready: {told['points']} points, place {told.get('place')} of {seats}, no faults"
    yield (
        f"CPU a decision: mean {times['cpu_ms_mean']:.2f} ms, longest {times['cpu_ms_max']:.2f} ms; "
        f"memory {told['timings']['memory_kb'] // 1024} MiB"
    )


def _rejected(told: Told) -> Iterator[str]:
    error = told.get("error") or {}
    yield f"rejected at: {told.get('stage') or 'check'}"
    where = f" (line {error['line']})" if error.get("line") else ""
    message = error.get("message") or "no reason was kept"
    yield f"{error.get('kind') or 'error'}{where}: {_short(clean(message))}"
    yield from _decision(told.get("decision") or {})
    if error.get("advice"):
        yield error["advice"]


def _decision(told: Told) -> Iterator[str]:
    if told.get("number"):
        place = f"decision {told['number']}, round {told['round']}, trick {told['trick']}"
        yield f"asked: {told['asked']} ({place})"
    if "answer" in told:
        yield f"answered: {_short(clean(str(told['answer'])))}"
