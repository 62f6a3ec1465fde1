"""A seat's player over a sandbox's pipes: asks, keeps the clocks, and turns whatever a bot does into a fault.

Only a bot's own failure becomes a `PlayerFault`. A late machine raises `MachineBusy`, a broken sandbox
`SandboxError`.
"""

import contextlib
import time
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from engine.table import FaultKind, PlayerFault, Question
from service.limits import Limits
from workers import answers, told, verdict
from workers.clock import FIRST_LOOK, WallClock
from workers.log import Log
from workers.neighbours import Neighbours
from workers.pressure import Mark
from workers.sandbox import Ending, MachineBusy, Running
from workers.spent import MS, Spent
from workers.wire import Closed, Flooded, Overlong, Wire

FAREWELL: Final = 0.25
TOO_BUSY: Final = "the machine was too busy to let its bot answer in time"


class SandboxPlayer:
    """An `engine.table.Player`. `neighbours`: the other seats that share its core.

    Its clock stands still while the machine keeps the bot waiting, so lateness is the bot's own; only where
    that wait cannot be told a late answer may void the match.
    """

    def __init__(self, running: Running, limits: Limits, *, neighbours: Neighbours | None = None) -> None:
        self.log = Log()
        self.spent = Spent()
        self.ending: Ending | None = None
        self._running = running
        self._limits = limits
        self._seat = -1
        self._neighbours = neighbours or Neighbours()
        self._neighbours.join(self)
        self._wire = Wire(running, self.log)
        self._delta = False
        self._late: set[int] = set()
        self._asked_at = 0
        self._cpu_before = 0
        self._farewell = False
        self._question: Question | None = None
        self._seed: object = None
        self._open = False
        self._overspent: tuple[str, int] | None = None

    def start(self, start: Mapping[str, Any]) -> None:
        """Hand over the match's start and wait for `ready`."""
        self._asked_at = time.monotonic_ns()
        self._seat, self._seed = start["seat"], start["seed"]
        self._open = True
        self._raise_overspent()
        try:
            self._start(start)
        finally:
            self.spent.begun, self._open = True, False

    def _start(self, start: Mapping[str, Any]) -> None:
        self._wire.send(told.start(start))
        try:
            line = self._wait(WallClock(self._asked_at, self._limits.start_ms))
        except Overlong as overlong:
            text = "its first line is longer than 4 KiB"
            self._fault(FaultKind.START, text, out=True, answer=overlong.start)
        if line is None:
            limit = self._limits.start_ms
            self._fault(FaultKind.START, f"not ready within {limit:,} ms", out=True, limit={"wall_ms": limit})
        self._delta = self._mode(line) == "delta"
        self._running.begun()
        self.spent.start_wall = time.monotonic_ns() - self._asked_at
        self.spent.start_cpu = self._cpu_before = self._running.cpu_ns()
        self._check_cpu(0, self.spent.start_cpu)

    def ask(self, question: Question) -> object:
        """The bot's move, checked against `legal`."""
        self.spent.decisions += 1
        self._question = question
        self._open = True
        try:
            return self._ask(question)
        finally:
            self._open = False

    def _ask(self, question: Question) -> object:
        unasked = self._look_before(question.number)
        self._asked_at = time.monotonic_ns()
        self._late.add(question.number)
        self._wire.send(told.question(question, delta=self._delta))
        if unasked is not None:
            self._fault(FaultKind.GARBAGE, "wrote a line that nobody asked for", answer=unasked)
        try:
            line, answer = self._answer(question.number)
        finally:
            self._count()
        return self._move(line, answer, question)

    def end(self, result: Mapping[str, Any]) -> None:
        """Tell the result and close the input; what the bot still does is nobody's concern."""
        self._wire.send(told.end(result))
        self._running.note_peak()
        self.spent.note_waiting(self._running.threads_ns())
        self._wire.close_input()
        self._farewell = True

    def stop(self) -> None:
        """End the sandbox. After a farewell the bot gets a moment to finish its log."""
        if self.ending is None and self._farewell:
            with contextlib.suppress(Flooded):
                self._wire.drain(time.monotonic() + FAREWELL)
        self._stop()

    def cpu_ns(self) -> int:
        """What its bot used so far."""
        return self._running.cpu_ns()

    def end_if_overspent(self) -> None:
        """While another seat is waited for; what it used is told when it is asked next.

        A bot that has made its last decision is ended without a word: its game is played, its result stands.
        """
        if self._open or self.ending is not None:
            return
        if (over := self.spent.beyond(self._limits, self.spent.decisions, self.cpu_ns())) is not None:
            self._overspent = over
            self._show_line()
            self._stop()

    def _stop(self) -> None:
        if self.ending is not None:
            return
        if not self._farewell:
            self.spent.note_waiting(self._running.threads_ns())
        self.spent.cpu = max(self.spent.cpu, self._running.cpu_ns())
        with contextlib.suppress(Flooded):
            self._wire.look()
        self.ending = self._running.stop()
        wall = time.monotonic_ns() - self._asked_at
        self.spent.close(wall, self._running.cpu_ns(), self.ending.memory_kb)

    def _look_before(self, number: int) -> bytes | None:
        """Before a question nothing may be there but late answers; gives the line that is."""
        if self._overspent is not None:
            self._asked_at = time.monotonic_ns()
            self._raise_overspent()
        try:
            self._wire.look()
        except Flooded as flooded:
            self._asked_at = time.monotonic_ns()
            self._flood(flooded)
        return self._unasked() if self._wire.waiting() else None

    def _unasked(self) -> bytes | None:
        """The first line that is there already and answers no earlier question; all that is there is dropped.

        Ends at that line: a bot that goes on writing must not keep us reading.
        """
        while self._wire.waiting():
            try:
                line = self._wire.line(0.0)
            except Overlong as overlong:
                line = overlong.start
            except Flooded as flooded:
                self._flood(flooded)
            except Closed:
                self._ended()
            if line is None:
                break
            answered = answers.numbered(answers.decoded(line))
            if answered not in self._late:
                self._wire.forget()
                return line
            self._late.remove(answered)
        return None

    def _answer(self, number: int) -> tuple[bytes, object]:
        """The first line that does not answer an earlier question, and what it says."""
        clock = WallClock(self._asked_at, self._limits.decision_ms)  # a late answer is no new beginning
        while True:
            try:
                line = self._wait(clock, asked=number)
            except Overlong as overlong:
                self._fault(FaultKind.GARBAGE, "a line longer than 4 KiB", answer=overlong.start)
            if line is None:
                limit = self._limits.decision_ms
                self._fault(FaultKind.TIMEOUT, f"no answer within {limit:,} ms", limit={"wall_ms": limit})
            answer = answers.decoded(line)
            answered = answers.numbered(answer)
            if answered not in self._late:  # no answer: that may still come, too late
                return line, answer
            self._late.remove(answered)
            if answered == number:
                return line, answer

    def _wait(self, clock: WallClock, *, asked: int = 0) -> bytes | None:
        """The next line, or None once the wall clock of this question has run out; watches CPU on the way."""
        try:
            while (line := self._wire.line(clock.look)) is None:
                if self._running.silent() and (line := self._wire.line(0.0)) is None:
                    self._ended()
                self._check_cpu(asked, self._running.cpu_ns())
                self._neighbours.watch(self)
                now = Mark.of(self._running, self._neighbours.used_by_others(self))
                self.spent.note_waiting(now.threads)
                if clock.over(now):
                    if clock.excused(now):
                        raise MachineBusy(f"seat {self._seat}: {TOO_BUSY}")
                    self._show_line()
                    return None
        except Flooded as flooded:
            self._flood(flooded)
        except Closed:
            self._ended()
        return line

    def _show_line(self) -> None:
        """Have a Python bot write to its log where it is, for its author."""
        if self._running.ask_where():
            with contextlib.suppress(Closed, Flooded):
                self._wire.settle(time.monotonic() + FIRST_LOOK)

    def _count(self) -> None:
        """The clocks after an answer, or after none."""
        wall, cpu = time.monotonic_ns() - self._asked_at, self._running.cpu_ns()
        self.spent.note(wall, cpu, cpu - self._cpu_before)
        self._cpu_before = cpu

    # judging

    def _mode(self, line: bytes) -> str:
        mode = answers.mode(line)
        if mode is None:
            self._fault(FaultKind.START, answers.NO_MODE, out=True, answer=line)
        return mode

    def _move(self, line: bytes, answer: object, question: Question) -> object:
        move, wrong = answers.move(answer, question.number)
        if wrong:
            self._fault(FaultKind.GARBAGE, wrong, answer=line)
        if self._wire.waiting() and not self._running.ended(0.0):
            self._wire.forget()
            self._fault(FaultKind.GARBAGE, "wrote more than one line for one question", answer=line)
        if not answers.listed(move, question.legal):
            text = f"{answers.told(move)} is not legal for {question.kind}"
            self._fault(FaultKind.ILLEGAL, text, answer=line)
        self._check_cpu(question.number, self.spent.cpu)
        return move

    def _check_cpu(self, decisions: int, spent_ns: int) -> None:
        if (over := self.spent.beyond(self._limits, decisions, spent_ns)) is not None:
            self._overspent = over
            self._show_line()
            self._raise_overspent()

    def _raise_overspent(self) -> None:
        if self._overspent is not None:
            text, limit = self._overspent
            kind = FaultKind.TIMEOUT if self.spent.begun else FaultKind.START
            self._fault(kind, text, out=True, limit={"cpu_ms": limit})

    def _flood(self, flooded: Flooded) -> NoReturn:
        self._fault(FaultKind.FLOOD, f"wrote more {flooded} than anybody may", out=True)

    def _ended(self) -> NoReturn:
        """The output has ended: with the process, or the bot closed it."""
        ending = self._running.ended(0.5)
        with contextlib.suppress(Flooded):
            self._wire.drain(time.monotonic() + 0.05)
        if ending is None:
            self._fault(FaultKind.CRASH, "closed its standard output", out=True)
        verdict.spare(ending, self.log, self._seat)
        kind, text = verdict.of_ending(ending, self.log)
        if self.spent.decisions == 0 and kind in (FaultKind.CRASH, FaultKind.TIMEOUT):
            kind = FaultKind.START
        self._fault(kind, text, out=True, exit_status=ending.status, signal=ending.signal)

    def _fault(
        self, kind: FaultKind, text: str, *, out: bool = False, answer: bytes | None = None, **evidence: Any
    ) -> NoReturn:
        if answer is not None:
            evidence["answer"] = answer[: answers.SHOWN].decode(errors="replace")
        if self._question is not None:
            evidence |= {"legal": self._question.legal, "view": self._question.view}
        if out:
            self._stop()
        self.spent.note_waiting(self._running.threads_ns())
        used = {
            "cpu_ms": self._running.cpu_ns() // MS,
            "wall_ms": (time.monotonic_ns() - self._asked_at) // MS,
            "memory_kb": self._running.memory_kb(),
            "waited_ms": self.spent.waited // MS,
        }
        shown = {**evidence, "used": used, "seed": self._seed, **self.log.shown()}
        raise PlayerFault(kind, text, out=out, evidence=shown)
