"""A bot of our own, tried out before any stranger's: do the walls stand, and does it answer?

Too slow is not broken: who says nothing yet is tried again with more patience, and nothing is concluded.
"""

import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from workers.sandbox.code import BotCode
from workers.sandbox.errors import KILLED, MachineBusy, SandboxLate, SandboxUnavailable, crowded
from workers.sandbox.policy import MIB
from workers.sandbox.running import Ending, Running

PATIENCE = (10.0, 20.0, 40.0)  # seconds, each with a bot of its own
DYING = 5.0  # seconds
BOT = BotCode(
    "self-test.py",
    "py",
    b"""
import os, sys

def start(info):
    for path in ("/etc/passwd", "/proc/self/environ", "/bin/sh"):
        try:
            open(path).close()
        except OSError:
            continue
        raise SystemExit(f"the walls have gaps: {path} can be read")
    if os.getuid() == 0:
        raise SystemExit("the walls have gaps: the bot is root")

def bid(view):
    return 0

def play(view):
    return view["legal"][0]
""",
)
HELLO = (
    b'{"type":"start","protocol":1,"seat":0,"players":2,'
    b'"rules":{"teams":null,"hand_sizes":[1]},"limits":{},"seed":1}\n'
)
REMEDIES = (
    (
        ("namespace", "No permissions to create", "uid map", "Operation not permitted"),
        "user namespaces are switched off here; allow them: sysctl -w user.max_user_namespaces=15000 "
        "kernel.unprivileged_userns_clone=1 (and kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu); "
        "in a container give the pod hostUsers: false or a seccomp profile that allows unshare",
    ),
    (("nknown option",), "this bubblewrap is too old; version 0.8 or newer is needed"),
)


def try_out(launch: Callable[[BotCode], Running]) -> None:
    """Raises `SandboxUnavailable` with what went wrong; `SandboxLate` if it was never known in time."""
    for seconds in PATIENCE:
        try:
            return _tried(launch(BOT), seconds)
        except MachineBusy as error:
            late = error
    raise SandboxLate(late) from late


def _tried(running: Running, seconds: float) -> None:
    with _stopped(running):
        with suppress(BrokenPipeError):  # it ended already, and its log says why
            os.write(running.stdin, HELLO)
        line = _first_line(running.stdout, seconds)
        if b'"ready"' in (line or b""):
            return
        ending = running.ended(0.0 if line is None else DYING)
        said = _all_said(running.stderr) or (ending.trouble if ending else "")
    if line is None and ending is None and not said:
        raise MachineBusy(f"a trial bot gave no answer in {seconds:.0f} s")
    if crowded(said) or (ending is not None and _was_killed(ending)):
        raise MachineBusy(f"a trial bot found no room: {said[-500:] or 'it was killed'}")
    raise SandboxUnavailable(diagnosis(said))


@contextmanager
def _stopped(running: Running) -> Iterator[Running]:
    try:
        yield running
    finally:
        running.stop()


def _first_line(descriptor: int, seconds: float) -> bytes | None:
    """What comes up to the end of a line, or of all; None if neither comes in time."""
    poll, end, data = select.poll(), time.monotonic() + seconds, b""
    poll.register(descriptor, select.POLLIN)
    while b"\n" not in data and len(data) < MIB:
        if not poll.poll(max(end - time.monotonic(), 0.0) * 1000):
            return None
        if not (chunk := os.read(descriptor, 65536)):
            break
        data += chunk
    return data


def _all_said(descriptor: int) -> str:
    """The log so far."""
    data = b""
    with suppress(BlockingIOError):
        while len(data) < MIB and (chunk := os.read(descriptor, 65536)):
            data += chunk
    return data.decode(errors="replace").strip()


def _was_killed(ending: Ending) -> bool:
    """By neither us nor its own limit: so does a machine that has no memory left."""
    return ending.host_out_of_memory or (ending.status in KILLED and not ending.out_of_memory)


def diagnosis(said: str) -> str:
    """A sentence with the remedy, if we know one."""
    advice = next((remedy for signs, remedy in REMEDIES if any(sign in said for sign in signs)), None)
    return (
        f"the sandbox's self-test failed: {advice or 'see the message'}. It said: {said[-1000:] or 'nothing'}"
    )
