"""A seat's player over a sandbox's pipes: asks, keeps the clocks, and turns whatever a bot does into a fault.

Only a bot's own failure becomes a `PlayerFault`. A late machine raises `MachineBusy`, a broken sandbox
`SandboxError`.
"""

import contextlib
import time
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import orjson

from engine.table import FaultKind, PlayerFault, Question
from service.limits import Limits
from workers import answers, verdict
from workers.log import Log
from workers.neighbours import Neighbours
from workers.pressure import Mark, host_was_late, starved
from workers.sandbox import Ending, MachineBusy, MatchVoid, Running, SandboxError
from workers.spent import MS, Spent
from workers.wire import Closed, Flooded, Overlong, Wire

PROTOCOL: Final = 1
MODES: Final = ("full", "delta")
FIRST_LOOK: Final = 0.02  # seconds until a slow answer's clocks are first read
LOOK: Final = 0.1
FAREWELL: Final = 0.25
ANSWER_SHOWN: Final = 200
NOT_RUN: Final = "bwrap: execvp "


class SandboxPlayer:
    """An `engine.table.Player`. `neighbours`: the other seats that share its core.

    Its clock stands still while the machine keeps the bot waiting, so lateness is the bot's own; only where
    that wait cannot be told a late answer may void the match.
    """

    def __init__(
        self,
        running: Running,
        limits: Limits,
        *,
        neighbours: Neighbours | None = None,
    ) -> None:
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
        self._wire.send(orjson.dumps({"type": "start", "protocol": PROTOCOL, **start}) + b"\n")
        try:
            line = self._wait(self._limits.start_ms)
        except Overlong as overlong:
            self._fault(
                FaultKind.START, "its first line is longer than 4 KiB", out=True, answer=overlong.start
            )
        if line is None:
            limit = f"{self._limits.start_ms:,} ms"
            self._fault(
                FaultKind.START,
                f"not ready within {limit}",
                out=True,
                limit={"wall_ms": self._limits.start_ms},
            )
        self._delta = self._mode(line) == "delta"
        self._running.begun()
        self.spent.start_wall = time.monotonic_ns() - self._asked_at
        self.spent.start_cpu = self._cpu_before = self._running.cpu_ns()
        self._check_start_cpu()

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
        self._wire.send(self._told(question))
        if unasked is not None:
            self._fault(FaultKind.GARBAGE, "wrote a line that nobody asked for", answer=unasked)
        try:
            line, answer = self._answer(question.number)
        finally:
            self._count()
        return self._move(line, answer, question)

    def end(self, result: Mapping[str, Any]) -> None:
        """Tell the result and close the input; what the bot still does is nobody's concern."""
        self._wire.send(orjson.dumps({"type": "end", **result}) + b"\n")
        self._running.note_peak()
        self.spent.note_waiting(self._running.threads_ns())
        self._wire.close_input()
        self._farewell = True

    def stop(self) -> None:
        """End the sandbox. After a farewell the bot gets a moment to finish its log."""
        if self.ending is None:
            if self._farewell:
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
        if not self.spent.decisions:
            self.spent.start_wall = max(self.spent.start_wall, time.monotonic_ns() - self._asked_at)
            self.spent.start_cpu = self._running.cpu_ns()
        self.spent.cpu = max(self.spent.cpu, self._running.cpu_ns())
        self.spent.memory_kb = max(self.spent.memory_kb, self.ending.memory_kb)

    # asking

    def _told(self, question: Question) -> bytes:
        shown: dict[str, Any] = {"id": question.number, "type": question.kind}
        if self._delta:
            shown["events"] = question.events
        else:
            shown["view"] = question.view
        shown["legal"] = question.legal
        if (pile := question.pile) is not None:
            shown["pile"] = pile
        return orjson.dumps(shown, option=orjson.OPT_APPEND_NEWLINE)

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
        while True:
            try:
                line = self._wait(self._limits.decision_ms, asked=number)
            except Overlong as overlong:
                self._fault(FaultKind.GARBAGE, "a line longer than 4 KiB", answer=overlong.start)
            if line is None:
                self._overdue()
            answer = answers.decoded(line)
            answered = answers.numbered(answer)
            if answered not in self._late:  # no answer: that may still come, too late
                return line, answer
            self._late.remove(answered)
            if answered == number:
                return line, answer

    def _wait(self, wall_ms: int, *, asked: int = 0) -> bytes | None:
        """The next line, or None once the wall clock of this question has run out; watches CPU on the way."""
        begin = self._asked_at / 1e9
        end = begin + wall_ms / 1000
        look = begin + FIRST_LOOK
        first, held_up = None, 0
        try:
            while (line := self._wire.line(min(look, end))) is None:
                if self._running.silent() and (line := self._wire.line(0.0)) is None:
                    self._ended()
                self._check_start_cpu() if not asked else self._check_cpu(asked, self._running.cpu_ns())
                self._neighbours.watch(self)
                now = self._mark()
                if first is None or (now.threads and not first.threads):
                    first = (
                        now  # what was before, nobody counted: while bubblewrap starts there is no bot yet
                    )
                    begin = max(begin, now.wall / 1e9 - FIRST_LOOK)
                held_up = max(held_up, self._held_up(first, now))
                end = begin + (wall_ms * MS + held_up) / 1e9
                if time.monotonic() >= end:
                    self._excuse(first, now)
                    self._show_line()
                    return None
                look = time.monotonic() + LOOK
        except Flooded as flooded:
            self._flood(flooded)
        except Closed:
            self._ended()
        return line

    def _mark(self) -> Mark:
        mark = Mark.of(self._running, self._neighbours.used_by_others(self))
        self.spent.note_waiting(mark.threads)
        return mark

    def _held_up(self, since: Mark, now: Mark) -> int:
        """Nanoseconds in which its neighbours or strangers kept it from computing.

        Up to the first look nobody counted: as much as afterwards, for all we know.
        """
        waited = starved(since, now)
        waited += min(waited, int(FIRST_LOOK * 1e9))
        return now.others - since.others + waited

    def _excuse(self, since: Mark, now: Mark) -> None:
        """For what the kernel counted the clock stood still."""
        if not since.threads and host_was_late(since, now):
            raise MachineBusy(f"seat {self._seat}: the machine was too busy to let its bot answer in time")

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
        hello = answers.decoded(line)
        mode = hello.get("mode", "full") if isinstance(hello, dict) else None
        if not isinstance(hello, dict) or hello.get("ready") is not True or mode not in MODES:
            text = 'its first line must be {"ready":true} with mode "full" or "delta"'
            self._fault(FaultKind.START, text, out=True, answer=line)
        return str(mode)

    def _move(self, line: bytes, answer: object, question: Question) -> object:
        if not isinstance(answer, dict) or "move" not in answer:
            self._fault(FaultKind.GARBAGE, 'not a JSON object with "id" and "move"', answer=line)
        if type(answer.get("id")) is not int or answer["id"] != question.number:
            text = f"answered with the wrong id; {question.number} was asked"
            self._fault(FaultKind.GARBAGE, text, answer=line)
        if self._wire.waiting() and not self._running.ended(0.0):
            self._wire.forget()
            self._fault(FaultKind.GARBAGE, "wrote more than one line for one question", answer=line)
        move = answer["move"]
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

    def _check_start_cpu(self) -> None:
        self._check_cpu(0, self._running.cpu_ns())

    def _raise_overspent(self) -> None:
        if self._overspent is not None:
            text, limit = self._overspent
            kind = FaultKind.TIMEOUT if self.spent.begun else FaultKind.START
            self._fault(kind, text, out=True, limit={"cpu_ms": limit})

    def _overdue(self) -> NoReturn:
        limit = self._limits.decision_ms
        self._fault(FaultKind.TIMEOUT, f"no answer within {limit:,} ms", limit={"wall_ms": limit})

    def _flood(self, flooded: Flooded) -> NoReturn:
        self._fault(FaultKind.FLOOD, f"wrote more {flooded} than anybody may", out=True)

    def _ended(self) -> NoReturn:
        """The output has ended: with the process, or the bot closed it."""
        ending = self._running.ended(0.5)
        with contextlib.suppress(Flooded):
            self._wire.drain(time.monotonic() + 0.05)
        if ending is None:
            self._fault(FaultKind.CRASH, "closed its standard output", out=True)
        if ending.trouble:
            raise MatchVoid(f"seat {self._seat}: {ending.trouble}")
        if ending.host_out_of_memory:
            text = "the machine ran out of memory and ended a bot that kept to its limit"
            raise MachineBusy(f"seat {self._seat}: {text}")
        if ending.status is None and not ending.out_of_memory:
            self._never_began()
        kind, text = verdict.of_ending(ending, self.log)
        starting = self.spent.decisions == 0 and kind in (FaultKind.CRASH, FaultKind.TIMEOUT)
        if starting:
            kind = FaultKind.START
        self._fault(kind, text, out=True, exit_status=ending.status, signal=ending.signal)

    def _never_began(self) -> NoReturn:
        """No line of the bot's code was run, so every word of the log is bubblewrap's and can be trusted."""
        said = self.log.last_line()
        if said.startswith(NOT_RUN):
            self._fault(FaultKind.START, f"cannot be run: {said.removeprefix(NOT_RUN)}", out=True)
        raise SandboxError(f"a sandbox ended before its bot began: {said[-500:]}")

    def _fault(self, kind: FaultKind, text: str, *, out: bool = False, **evidence: Any) -> NoReturn:
        answer = evidence.pop("answer", None)
        if answer is not None:
            evidence["answer"] = bytes(answer[:ANSWER_SHOWN]).decode(errors="replace")
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
        log = {"log_head": self.log.head(), "log_tail": self.log.tail(), "log_bytes": self.log.written}
        shown = {**evidence, "used": used, "seed": self._seed, **log}
        raise PlayerFault(kind, text, out=out, evidence=shown)
