"""Strangers' code behind walls: what may be done is in `policy`; who does it stands behind `Sandbox`."""

from workers.sandbox.code import BotCode
from workers.sandbox.errors import MachineBusy, MatchVoid, SandboxError, SandboxLate, SandboxUnavailable
from workers.sandbox.running import Ending, Running
from workers.sandbox.sandbox import Sandbox

__all__ = [
    "BotCode",
    "Ending",
    "MachineBusy",
    "MatchVoid",
    "Running",
    "Sandbox",
    "SandboxError",
    "SandboxLate",
    "SandboxUnavailable",
]
