"""What can go wrong on our side of a sandbox; none of it is ever a bot's fault."""

import errno
import os
import signal
import subprocess

NO_ROOM = (errno.EAGAIN, errno.ENOMEM, errno.ENFILE)
KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)  # not by us: the machine has no memory left
SIGNS = (*map(os.strerror, NO_ROOM), "Cannot fork")  # in what programs say


class SandboxError(Exception):
    """A sandbox could not be started or watched: the match is played again, no seat is blamed."""


class SandboxUnavailable(SandboxError):
    """This machine cannot run strangers' code safely; the message names what is missing and the remedy."""


class SandboxLate(SandboxUnavailable):
    """The machine was too busy to show what it can do, so nothing weaker may stand in: it is tried again."""

    def __init__(self, why: object) -> None:
        super().__init__(
            f"this machine is too busy to try the sandbox out ({why}); "
            "stop other programs or wait a while, then try again"
        )


class MatchVoid(SandboxError):
    """We failed a bot in the midst of a match, which is played again from its start."""


class MachineBusy(MatchVoid):
    """The machine had too little time or memory for a bot that kept to its own."""


def refused(what: str, error: OSError) -> SandboxError:
    """To be raised when the kernel refuses: a want of room says nothing of what the machine can do."""
    kind = MachineBusy if _no_room(error) else SandboxError
    return kind(f"{what}: {error}")


def unmade(what: str, error: Exception) -> SandboxUnavailable:
    """The same for what must be there before any sandbox is."""
    text = f"{what}: {error}"
    return SandboxLate(text) if _no_room(error) else SandboxUnavailable(text)


def _no_room(error: Exception) -> bool:
    if isinstance(error, subprocess.CalledProcessError):
        said = (error.stderr or b"").decode(errors="replace")
        return error.returncode in KILLED or crowded(said)
    return isinstance(error, subprocess.TimeoutExpired) or getattr(error, "errno", None) in NO_ROOM


def crowded(said: str) -> bool:
    """Whether a program says that the machine had no room for it."""
    return any(sign in said for sign in SIGNS)
