"""How the command shows data: tables and bars on a terminal, plain columns and lines anywhere else."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import click

from service.report import clean

STEP = 10  # percent; how often a line is printed where there is no bar


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; numbers stand to the right."""

    heading: str
    right: bool = False


def say(words: str = "", *, aside: bool = False) -> None:
    """A line for a person, `aside` on standard error; a server's words in it cannot command the terminal.

    Nor can they begin a line of their own: what looks like ours is ours.
    """
    click.echo(_cell(words), err=aside)


def minute(moment: str | None) -> str:
    """A time of the API's to the minute, in UTC as the Z says; nothing for none."""
    return "" if moment is None else f"{moment[:10]} {moment[11:16]}Z"


def confirm(question: str) -> None:
    """Ends the command unless the answer is yes."""
    click.confirm(clean(question), abort=True)


def as_json(data: Any) -> None:
    """Data as it came; JSON has a way to write everything that could command a terminal."""
    click.echo(json.dumps(data, indent=2))


def as_it_came(content: bytes) -> None:
    """A server's CSV."""
    lines = content.decode().split("\r\n")
    click.echo("\r\n".join(map(clean, lines)), nl=False)


def table(columns: Sequence[Column], rows: Sequence[Sequence[object]], *, empty: str = "none") -> None:
    """Rows under headings; what stands in a cell cannot command a terminal or begin a line."""
    texts = [["" if value is None else _cell(value) for value in row] for row in rows]
    if not texts:
        say(empty)
    elif sys.stdout.isatty():
        _rich_table(columns, texts)
    else:
        _plain_table(columns, texts)


def _cell(value: object) -> str:
    return clean(str(value)).replace("\n", " ")


def _rich_table(columns: Sequence[Column], texts: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        shown.add_column(column.heading, justify="right" if column.right else "left", overflow="fold")
    for row in texts:
        shown.add_row(*(Text(text) for text in row))
    Console().print(shown)


def _plain_table(columns: Sequence[Column], texts: Sequence[Sequence[str]]) -> None:
    lines = [[column.heading for column in columns], *texts]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    for line in lines:
        cells = zip(line, widths, columns, strict=True)
        shown = [text.rjust(width) if column.right else text.ljust(width) for text, width, column in cells]
        click.echo("  ".join(shown).rstrip())


class Bar(Protocol):
    """Something that shows how far it is."""

    def at(self, done: int, total: int) -> None:
        """So many of so many."""

    def say(self, words: str) -> None:
        """A line beside it."""


@contextmanager
def bar(title: str) -> Iterator[Bar]:
    """A moving bar on a terminal; else a line now and then. Both on standard error."""
    title = clean(title)
    if not sys.stderr.isatty():
        yield _Lines(title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    parts = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*parts, console=Console(stderr=True)) as progress:
        yield _Moving(progress, progress.add_task(title, total=None))


@dataclass(slots=True)
class _Lines:
    title: str
    last: int = -1

    def at(self, done: int, total: int) -> None:
        step = 100 * done // max(total, 1) // STEP
        if step != self.last:
            self.last = step
            click.echo(f"{self.title}: {done} of {total}", err=True)

    def say(self, words: str) -> None:
        say(words, aside=True)


@dataclass(slots=True)
class _Moving:
    progress: Any
    task: Any
    begun: bool = False

    def at(self, done: int, total: int) -> None:
        if not self.begun:  # what was done before somebody looked is no measure of the time that is left
            self.begun = True
            self.progress.reset(self.task, completed=done, total=total)
        self.progress.update(self.task, completed=done, total=total)

    def say(self, words: str) -> None:
        self.progress.console.print(clean(words), markup=False, highlight=False)
