"""What a person starting Rage sees: colours and a moving sign on a terminal, plain lines anywhere else."""

import threading
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text


class Screen:
    """Prints steps, sentences and the closing summary; may be used from several threads."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, highlight=False, soft_wrap=True)
        self._status = self._console.status("") if self._console.is_terminal else None
        self._lock = threading.Lock()
        self._last = ""

    def step(self, text: str) -> None:
        """What is being done now; on a terminal the next step takes its place."""
        if self._status is None and text != self._last:
            self.line(f"{text} …")
        elif self._status is not None:
            self._status.update(f"{text} …")
            self._status.start()
        self._last = text

    def settle(self) -> None:
        """No step is under way any more."""
        if self._status is not None:
            self._status.stop()

    def line(self, text: str, style: str = "") -> None:
        with self._lock:
            self._console.print(Text(text, style=style))

    def summary(self, title: str, rows: Sequence[tuple[str, str]]) -> None:
        """A heading and named values, each on one line whatever its length, fit to be copied."""
        width = max(len(name) for name, _ in rows)
        self.line(f"\n{title}\n", style="bold green")
        for name, value in rows:
            with self._lock:
                self._console.print(Text.assemble("  ", (name.ljust(width), "dim"), "   ", (value, "bold")))
        self.line("")
