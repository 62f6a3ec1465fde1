"""A bot's code as the sandbox takes it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BotCode:
    """`kind` is `py` (one source file) or `zip`; `name` is what tracebacks and reports call it."""

    name: str
    kind: str
    content: bytes

    def file_name(self) -> str:
        """The source file's name for tracebacks: short, printable, ending in .py."""
        kept = "".join(sign for sign in self.name if sign.isprintable() and sign not in '/\\"<>')[:80].strip()
        return kept if kept.endswith(".py") else f"{kept or 'bot'}.py"
