"""A recorded match played again with one seat's bot in the sandbox and the others from the record.

For an author with a fault to understand: the very cards and opponents' moves, on their own machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.cards import KINDS
from engine.match import Match
from engine.record import Record
from engine.table import Outcome, Player, Question, play
from service.limits import Limits
from workers.match import Usage
from workers.player import SandboxPlayer
from workers.sandbox import BotCode, Sandbox


class RecordedPlayer:
    """A seat that answers as recorded for as long as that is legal, then with the first choice."""

    def __init__(self, moves: Sequence[object]) -> None:
        self._moves: Iterator[object] = iter(moves)

    def start(self, start: Mapping[str, Any]) -> None:
        """Nothing to do."""

    def ask(self, question: Question) -> object:
        """The next recorded move."""
        move = next(self._moves, None)
        return move if move in question.legal else question.legal[0]

    def end(self, result: Mapping[str, Any]) -> None:
        """Nothing to do."""

    def stop(self) -> None:
        """Nothing to end."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision of a seat: `move` in the notation of the wire."""

    round: int
    asked: str
    move: object


@dataclass(frozen=True, slots=True)
class Parting:
    """The bot's first decision (its `number` from 1) that differs from the record."""

    number: int
    recorded: Decision
    now: Decision

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        both = {"recorded": self.recorded.move, "now": self.now.move}
        return {"decision": self.number, "round": self.now.round, "asked": self.now.asked, **both}


@dataclass(frozen=True, slots=True)
class Replayed:
    """The match played again, and where it left the record, if it did."""

    outcome: Outcome
    usage: Usage
    parted: Parting | None


def replay(
    record: Record, bot: BotCode, *, seat: int, bot_seed: int, limits: Limits, sandbox: Sandbox
) -> Replayed:
    """Play it again; raises `RecordError` for a record that does not hold together, `SandboxError`."""
    recorded = decisions_by_seat(record)
    running = sandbox.launch(bot, limits, slot=0)
    try:
        own = SandboxPlayer(running, limits)
        players: list[Player] = [RecordedPlayer([each.move for each in made]) for made in recorded]
        players[seat] = own
        seeds = [bot_seed] * record.players
        outcome = play(record.rules, players, seed=record.seed, limits=limits.as_dict(), bot_seeds=seeds)
    finally:
        running.stop()
    now = decisions_by_seat(outcome.record)
    return Replayed(outcome, Usage.of(own), _parted(recorded[seat], now[seat]))


def decisions_by_seat(record: Record) -> list[list[Decision]]:
    """Every seat's decisions, in order; raises `RecordError` for a record that does not hold together."""
    record.replay()
    match = Match(record.rules, record.players, record.seed)
    made: list[list[Decision]] = [[] for _ in range(record.players)]
    for move in record.moves:
        played = match.round
        choice = match.choices()[match.legal().index(move)]
        made[played.seat].append(Decision(match.number, KINDS[played.kind], choice))
        match.advance(move)
    return made


def _parted(recorded: Sequence[Decision], now: Sequence[Decision]) -> Parting | None:
    pairs = enumerate(zip(recorded, now, strict=False), start=1)
    return next((Parting(number, old, new) for number, (old, new) in pairs if old != new), None)
