"""What a sandbox's end means: which fault it was, in words its author can act on."""

import re
import signal

from engine.table import FaultKind
from workers.log import Log
from workers.sandbox import Ending, MachineBusy, MatchVoid, SandboxError

NOT_RUN = "bwrap: execvp "
REFUSED_CALL = re.compile(r"PermissionError: \[Errno 1\]")
LOOPS = " (asyncio does not run in a Python file; an archive makes its event loops before it is ready)"
PIPES = re.compile(r"\bin socketpair\n|\bos\.pipe2?\(")  # in a traceback
REFUSED_SPACE = re.compile(r"OSError: \[Errno (24|27|28|122)\]")
NO_MEMORY = re.compile(r"(\w+\.)*(_ArrayMemoryError|MemoryError)\b|OSError: \[Errno 12\]")
REFUSED_THREAD = "can't start new thread"
BY_SIGNAL = {
    signal.SIGSYS: (
        FaultKind.ESCAPE,
        "made a system call that is not allowed",
    ),
    signal.SIGXFSZ: (FaultKind.ESCAPE, "wrote a file beyond the limit"),
    signal.SIGXCPU: (FaultKind.TIMEOUT, "used up the CPU time of the match"),
}


def spare(ending: Ending, log: Log, seat: int) -> None:
    """Raises `MatchVoid` or `SandboxError` for an end that was not the bot's doing."""
    if ending.trouble:
        raise MatchVoid(f"seat {seat}: {ending.trouble}")
    if ending.host_out_of_memory:
        text = "the machine ran out of memory and ended a bot that kept to its limit"
        raise MachineBusy(f"seat {seat}: {text}")
    if _never_began(ending) and not log.last_line().startswith(NOT_RUN):
        raise SandboxError(f"a sandbox ended before its bot began: {log.last_line()[-500:]}")


def of_ending(ending: Ending, log: Log) -> tuple[FaultKind, str]:
    """The kind of fault and a sentence, for a bot that ended by itself."""
    last = log.last_line()
    if _never_began(ending):
        return FaultKind.START, f"cannot be run: {last.removeprefix(NOT_RUN)}"
    if ending.out_of_memory or (ending.status == 1 and NO_MEMORY.match(last)):
        return FaultKind.MEMORY, "used more memory than allowed"
    if ending.signal in BY_SIGNAL:
        return BY_SIGNAL[signal.Signals(ending.signal)]
    if ending.refused_processes or REFUSED_THREAD in last:
        return FaultKind.ESCAPE, "started more processes or threads than allowed"
    if ending.status == 1 and REFUSED_CALL.search(last):
        why = LOOPS if PIPES.search(_end(log)) else ""
        return FaultKind.ESCAPE, f"tried what the sandbox does not allow: {last}{why}"
    if ending.status == 1 and REFUSED_SPACE.search(last):
        return FaultKind.ESCAPE, f"used up its scratch space or files: {last}"
    return FaultKind.CRASH, _crash(ending, last)


def _never_began(ending: Ending) -> bool:
    """Whether no line of its code was run: then every word of the log is bubblewrap's and can be trusted."""
    return ending.status is None and not ending.out_of_memory


def _end(log: Log) -> str:
    return log.tail() or log.head()


def _crash(ending: Ending, last: str) -> str:
    if ending.signal is not None:
        return f"ended by {_name(ending.signal)}"
    if ending.status == 0:
        return "ended before the match was over"
    return (
        f"{last[:300]} (exit status {ending.status})" if last else f"ended with exit status {ending.status}"
    )


def _name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
