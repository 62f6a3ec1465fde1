"""What the engine refuses: one root, one class a reason. A bot's own failure lives in `table`."""


class EngineError(Exception):
    """Root of everything the engine raises on purpose."""


class RulesError(EngineError):
    """A rule set, a switch or a number of players that cannot be played; `field` is the bare key."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class RecordError(EngineError):
    """A record that cannot be read; `field` is the path of what is wrong in it."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class IllegalMove(EngineError):
    """A move that the rules do not allow now; the text says why."""
