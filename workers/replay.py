"""A recorded match played again with one seat's bot in the sandbox and the others from the record.

For an author with a fault to understand: the very cards and opponents' moves, on their own machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
class Replayed:
    """The match played again. `parted` is the bot's first decision (from 1) that differs from the record."""

    outcome: Outcome
    usage: Usage
    parted: int | None


def replay(
    record: Record, bot: BotCode, *, seat: int, bot_seed: int, limits: Limits, sandbox: Sandbox
) -> Replayed:
    """Play it again; raises `RecordError` for a record that does not hold together, `SandboxError`."""
    recorded = moves_by_seat(record)
    running = sandbox.launch(bot, limits, slot=0)
    try:
        own = SandboxPlayer(running, limits, forgive=False)
        players: list[Player] = [RecordedPlayer(moves) for moves in recorded]
        players[seat] = own
        seeds = [bot_seed] * record.players
        outcome = play(record.rules, players, seed=record.seed, limits=limits.as_dict(), bot_seeds=seeds)
    finally:
        running.stop()
    return Replayed(outcome, Usage.of(own), _parted(recorded[seat], moves_by_seat(outcome.record)[seat]))


def moves_by_seat(record: Record) -> list[list[object]]:
    """Every seat's decisions in the notation of the wire."""
    record.replay()  # refuses a record that does not hold together, naming the place
    match = Match(record.rules, record.players, record.seed)
    moves: list[list[object]] = [[] for _ in range(record.players)]
    for move in record.moves:
        moves[match.round.seat].append(match.choices()[match.legal().index(move)])
        match.advance(move)
    return moves


def _parted(recorded: Sequence[object], now: Sequence[object]) -> int | None:
    pairs = zip(recorded, now, strict=False)
    return next((number for number, (old, new) in enumerate(pairs, start=1) if old != new), None)
