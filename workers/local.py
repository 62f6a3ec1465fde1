"""Games outside any tournament: bots from paths, a series of games, what it comes to."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine import bots
from engine.rules import RuleSet
from engine.table import Fault
from service import packing
from service.limits import Limits
from workers.check import house_bot
from workers.match import Played, play_match
from workers.sandbox import BotCode, Sandbox


def load(name: str, interpreters: Collection[str] = ()) -> BotCode:
    """The bot in a file or folder, or the house bot of that name; raises `OSError`, `Invalid`."""
    path = Path(name)
    if name in bots.NAMES and not path.exists():
        return house_bot(name)
    return BotCode(*packing.read(path, interpreters))


def deal_seed(text: str, game: int) -> bytes:
    """The deals of a game in a series: 64 hex digits are taken as they are for the first game."""
    if game == 0 and len(text) == 64 and all(digit in "0123456789abcdef" for digit in text):
        return bytes.fromhex(text)
    return hashlib.sha256(f"rage play\n{game}\n{text}".encode()).digest()


@dataclass(slots=True)
class Tally:
    """One entrant's sums over a series."""

    name: str
    games: int = 0
    points: int = 0
    wins: int = 0
    exact_bids: int = 0
    bids: int = 0
    cpu_ms: int = 0
    decisions: int = 0
    faults: list[tuple[int, Fault]] = field(default_factory=list)
    log: str = ""  # what it wrote in the last game

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "bot": self.name,
            "games": self.games,
            "mean_points": self.points / self.games if self.games else None,
            "wins": self.wins,
            "exact_bids": self.exact_bids,
            "bids": self.bids,
            "cpu_ms_per_decision": self.cpu_ms / self.decisions if self.decisions else None,
            "faults": [{"game": game} | fault.as_dict() for game, fault in self.faults],
        }


class Series:
    """Games of the same entrants; everybody moves on by one seat from game to game."""

    def __init__(self, rules: RuleSet, entrants: Sequence[BotCode], *, limits: Limits, seed: str) -> None:
        self.rules = rules
        self.seed = seed
        self.mode = ""
        self.tallies = [Tally(name) for name in _names(entrants)]
        self._entrants = entrants
        self._limits = limits

    def play(
        self, games: int, sandbox: Sandbox, *, on_round: Callable[[int, int], None] | None = None
    ) -> Iterator[Played]:
        """Play, count and hand out one game after the other."""
        self.mode = sandbox.mode
        for game in range(games):
            seats = [(seat + game) % len(self._entrants) for seat in range(len(self._entrants))]
            seed = deal_seed(self.seed, game)
            played = play_match(
                self.rules,
                [self._entrants[entrant] for entrant in seats],
                seed=seed,
                bot_seeds=[_bot_seed(seed, entrant) for entrant in seats],
                limits=self._limits,
                sandbox=sandbox,
                on_round=on_round,
            )
            self._count(game, seats, played)
            yield played

    def as_dict(self, *, log: bool = False) -> dict[str, Any]:
        """Plain JSON; with `log`, also what each bot wrote in the last game."""
        bots = [tally.as_dict() | ({"log": tally.log} if log else {}) for tally in self.tallies]
        return {"rules": self.rules.spec(), "seed": self.seed, "mode": self.mode, "bots": bots}

    def _count(self, game: int, seats: Sequence[int], played: Played) -> None:
        outcome = played.outcome
        rounds = len(self.rules.rounds(len(seats)))
        for seat, entrant in enumerate(seats):
            tally, usage = self.tallies[entrant], played.usage[seat]
            tally.games += 1
            tally.points += outcome.counted[seat]
            tally.wins += outcome.places[seat] == 1
            tally.exact_bids += outcome.exact_bids[seat]
            tally.bids += rounds
            tally.cpu_ms += usage.cpu_ms - usage.start_cpu_ms
            tally.decisions += usage.decisions
            tally.log = usage.log
        for fault in outcome.faults:
            self.tallies[seats[fault.seat]].faults.append((game + 1, fault))


def _bot_seed(seed: bytes, entrant: int) -> int:
    return int.from_bytes(hashlib.sha256(seed + bytes([entrant])).digest()[:4], "big")


def _names(entrants: Sequence[BotCode]) -> list[str]:
    """Names to tell entrants apart: those that come more than once are numbered."""
    names = [bot.name.removesuffix(".py") for bot in entrants]
    return [
        f"{name} ({names[: place + 1].count(name)})" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]
