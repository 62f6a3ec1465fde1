"""How series and replayed matches look on a terminal."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from engine.table import Fault
from service import report
from workers import diagnosis
from workers.local import Series, Tally
from workers.replay import Parting, Replayed

QUIET_SECONDS = 2.0
FAULTS_SHOWN = 10


class Bar:
    """A progress bar that appears only when the games take longer than two seconds."""

    def __init__(self, progress: Progress, games: int) -> None:
        self._progress = progress
        self._games = games
        self._done = 0.0
        self._begun = time.monotonic()
        self._task: Any = None

    def round(self, finished: int, rounds: int) -> None:
        """A round of the present game is over."""
        self._show(self._done + finished / rounds)

    def game(self) -> None:
        """A game is over."""
        self._done += 1
        self._show(self._done)

    def _show(self, done: float) -> None:
        if self._task is None and time.monotonic() - self._begun > QUIET_SECONDS:
            self._progress.start()
            self._task = self._progress.add_task("games", total=self._games)
        if self._task is not None:
            self._progress.update(self._task, completed=done)


@contextmanager
def progress(console: Console, games: int) -> Iterator[Bar]:
    """A bar on a terminal, nothing elsewhere."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    try:
        yield Bar(bar, games)
    finally:
        bar.stop()


def results(console: Console, series: Series) -> None:
    """The table of a series, best first, and what went wrong."""
    games = series.tallies[0].games
    title = f"{games} game{'s' if games != 1 else ''} of {series.rules.name}, seed {escape(series.seed)}"
    table = Table("bot", title=title, title_justify="left")
    for name in ("points a game", "wins", "exact bids", "CPU ms a decision", "faults"):
        table.add_column(name, justify="right")
    for tally in sorted(series.tallies, key=lambda tally: -tally.points):
        table.add_row(*_row(tally))
    console.print(table)
    for tally in series.tallies:
        for place, (game, fault) in enumerate(tally.faults[:FAULTS_SHOWN]):
            _fault(console, tally.name, game, fault, with_log=place == 0)
        if (more := len(tally.faults) - FAULTS_SHOWN) > 0:
            console.print(f"... and {more} more faults of {escape(tally.name)}")


def replayed(console: Console, name: str, again: Replayed) -> None:
    """A recorded match that was played again."""
    scores = ", ".join(map(str, again.outcome.scores))
    console.print(f"{report.clean(name)}: {_parting(again.parted)}; scores {scores}", markup=False)
    for place, fault in enumerate(again.outcome.faults):
        _fault(console, name, 1, fault, with_log=place == 0)
    if not again.outcome.faults:
        console.print("no faults")
        _log(console, again.usage.log)


def _parting(parted: Parting | None) -> str:
    if parted is None:
        return "as recorded to the end"
    place = f"decision {parted.number} (round {parted.now.round}, {parted.now.asked})"
    return f"in {place} it chose {_word(parted.now.move)}, recorded is {_word(parted.recorded.move)}"


def _word(move: object) -> str:
    return {True: "a challenge", False: "no challenge"}[move] if isinstance(move, bool) else str(move)


def logs(console: Console, series: Series) -> None:
    """What each bot wrote in the last game: the end of it."""
    for tally in series.tallies:
        console.print(f"log of {report.clean(tally.name)}, last game:", markup=False, highlight=False)
        _log(console, tally.log or "(nothing)")


def _row(tally: Tally) -> list[str]:
    games, decisions = max(tally.games, 1), max(tally.decisions, 1)
    return [
        escape(report.clean(tally.name)),
        f"{tally.points / games:.1f}",
        str(tally.wins),
        f"{100 * tally.exact_bids / max(tally.bids, 1):.0f} %",
        f"{tally.cpu_ms / decisions:.2f}",
        f"[red]{len(tally.faults)}[/red]" if tally.faults else "0",
    ]


def _fault(console: Console, name: str, game: int, fault: Fault, *, with_log: bool) -> None:
    place = f"game {game}, round {fault.round}, decision {fault.decision} ({fault.asked})"
    out = ", out" if fault.out else ""
    console.print(f"{name}: {fault.kind}{out} in {place}: {report.clean(fault.text)}", markup=False)
    log = fault.evidence.get("log_tail") or fault.evidence.get("log_head") or ""
    if with_log:
        begin = max(log.rfind(diagnosis.TRACEBACK), 0)
        _log(console, log[begin:])


def _log(console: Console, text: str | None) -> None:
    for line in report.tail(text):
        console.print(line, markup=False, highlight=False)
