"""How a child program is tied to its parent, and how it is ended together with its own children."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

PR_SET_PDEATHSIG = 1


def tied_to(parent: int) -> Callable[[], None]:
    """For a new child, before its program starts: end when the crew's thread ends."""
    if not sys.platform.startswith("linux"):
        return lambda: None
    prctl = ctypes.CDLL(None, use_errno=True).prctl  # looked up here: the child should only call it

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)  # the parent was gone before the tie was made

    return tie


def ended(program: "subprocess.Popen[bytes]") -> bool:
    """Whether it ended; it stays a zombie, so that its number still belongs to its group."""
    found = os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return found is not None


def end_group(program: "subprocess.Popen[bytes]") -> None:
    """Kills whoever is left of a program and its children, and waits until they are gone."""
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    limit = time.monotonic() + 1.0
    while time.monotonic() < limit:
        try:
            os.killpg(program.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)


def ending(status: int) -> str:
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
