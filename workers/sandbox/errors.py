"""What can go wrong on our side of a sandbox; none of it is ever a bot's fault."""


class SandboxError(Exception):
    """A sandbox could not be started or watched: the match is played again, no seat is blamed."""


class SandboxUnavailable(SandboxError):
    """This machine cannot run strangers' code safely; the message names what is missing and the remedy."""


class MatchVoid(SandboxError):
    """We failed a bot in the midst of a match, which is played again from its start."""


class MachineBusy(MatchVoid):
    """The machine had too little time or memory for a bot that kept to its own."""
