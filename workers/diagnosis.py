"""From a fault and a log to what the author should look at: the exception, its line, and a plain sentence."""

import re
from typing import Any

from engine.table import Fault, FaultKind

TRACEBACK = "Traceback (most recent call last):\n"
CALLS = "(most recent call first):\n"
EXCEPTION = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$")
OUR_SIDE = re.compile(r'\n  File "(?:/usr/lib/rage/|[^"\n]*/library/engine/)')
CHOICES_SHOWN = 12

ADVICE = {
    FaultKind.TIMEOUT: "Is there a loop that never ends? Wall and CPU limits are under limits.",
    FaultKind.GARBAGE: "Standard output belongs to the protocol; write notes to standard error.",
    FaultKind.MEMORY: "See memory_mb under limits.",
    FaultKind.FLOOD: "Write less.",
    FaultKind.ESCAPE: "Bots have no network, no other processes and no files but a small /tmp.",
}


def of(fault: Fault, log: str, file_name: str) -> dict[str, Any]:
    """`kind`, `type`, `message`, `line` and `traceback` (null where there are none), and `advice`.

    `file_name` is the author's file as tracebacks call it, or what their files' names begin with.
    """
    trace = _traceback(log, file_name) if fault.out or fault.kind == FaultKind.TIMEOUT else None
    name, message = _exception(trace)
    return {
        "kind": str(fault.kind),
        "type": name,
        "message": _sentence(fault, name, message),
        "line": _line(trace, file_name),
        "traceback": trace,
        "advice": ADVICE.get(fault.kind),
    }


def _sentence(fault: Fault, name: str | None, message: str) -> str:
    if fault.kind == FaultKind.ILLEGAL:
        return f"{fault.text}; legal: {_choices(fault.evidence.get('legal') or [])}"
    if name is not None and fault.kind in (FaultKind.START, FaultKind.CRASH):
        return f"{name}: {message}" if message else name
    return fault.text


def _choices(legal: list[Any]) -> str:
    shown = ", ".join(str(choice) for choice in legal[:CHOICES_SHOWN])
    return shown + (" ..." if len(legal) > CHOICES_SHOWN else "")


def _traceback(log: str, file_name: str) -> str | None:
    """The last traceback of the log: the interpreter's, a bare syntax error's, or one of a refused call."""
    for sign in (TRACEBACK, CALLS, f'  File "{file_name}'):
        begin = log.rfind(sign)
        if begin >= 0:
            return _authors_part(log[log.rfind("\n", 0, begin) + 1 :])
    return None


def _authors_part(trace: str) -> str:
    """A stack without the frames of our own side below it."""
    return OUR_SIDE.split(trace, maxsplit=1)[0].rstrip()


def _exception(trace: str | None) -> tuple[str | None, str]:
    for line in reversed((trace or "").splitlines()):
        if found := EXCEPTION.match(line):
            return found[1], found[2] or ""
    return None, ""


def _line(trace: str | None, file_name: str) -> int | None:
    """The author's line where it went wrong: the innermost of their own file."""
    numbers = re.findall(rf'File "{re.escape(file_name)}[^"]*", line (\d+)', trace or "")
    if not numbers:
        return None
    return int(numbers[0] if CALLS in (trace or "") else numbers[-1])
