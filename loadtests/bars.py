"""What was measured beside what is to be reached, as a table; missing one ends a command with status 1."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """A bound, `at_least` or at most, for one figure; without one the figure is only shown."""

    at_least: float | None = None
    at_most: float | None = None

    def holds(self, value: float) -> bool:
        """Whether it was reached."""
        low = self.at_least is None or value >= self.at_least
        return low and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        low = "" if self.at_least is None else f">= {self.at_least:g}"
        return low if self.at_most is None else f"{low} <= {self.at_most:g}".strip()


FREE = Bar()


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; `value` None: it could not be measured here, `note` says why."""

    what: str
    value: float | None
    bar: Bar = FREE
    note: str = ""
    owed: bool = False  # not to have it is to miss its bar

    @property
    def missed(self) -> bool:
        """Whether it was measured and is beyond its bar, or was owed and is not there."""
        return self.owed if self.value is None else not self.bar.holds(self.value)

    def cells(self) -> tuple[str, ...]:
        """As text."""
        value = (
            "left out"
            if self.value is None
            else f"{self.value:.3g}"
            if self.value < 100
            else f"{self.value:,.0f}"
        )
        met = "" if self.bar == FREE or self.value is None else "met"
        verdict = "MISSED" if self.missed else met
        return self.what, value, str(self.bar), verdict, self.note


def show(title: str, rows: Sequence[Row]) -> None:
    """The table, under a line that says when and on what it was measured."""
    machine = f"{os.uname().machine}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"\n{title}  ({time.strftime('%Y-%m-%d %H:%M')}, {machine})")
    table([("what", "measured", "bar", "", ""), *(row.cells() for row in rows)])


def table(lines: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they must be; the first is text, numbers stand to the right where all are short."""
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def status(rows: Sequence[Row]) -> int:
    """1 if any bar was missed, else 0."""
    return int(any(row.missed for row in rows))
