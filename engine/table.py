"""The table: asks the players, plays their moves, and lets no bot's failure become another bot's loss.

What a bot does wrong is a `Fault` and a default move; any exception but `PlayerFault` is ours, ends the
match and passes through, after every player has been stopped.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from engine.author import Author
from engine.cards import BID, KINDS
from engine.errors import IllegalMove
from engine.events import NEVER, Mark, events, mark
from engine.faults import Fault, FaultKind, PlayerFault
from engine.match import Match
from engine.record import Record
from engine.rules import RuleSet
from engine.scoring import counted
from engine.view import pile, view

__all__ = ["Fault", "FaultKind", "LocalPlayer", "Outcome", "Player", "PlayerFault", "Question", "play"]

STRIKES: Final = 3
ANSWER_SHOWN: Final = 200


class Question:
    """One decision asked of a seat. Its parts are built when first read, so read them while it is open."""

    __slots__ = ("_events", "_legal", "_match", "_since", "_view", "kind", "number", "seat")

    def __init__(self, match: Match, number: int, since: Mark) -> None:
        self._match = match
        self._since = since
        self._legal: list[int | str | bool] | None = None
        self._view: dict[str, Any] | None = None
        self._events: list[dict[str, Any]] | None = None
        self.number: int = number
        played = match.round
        self.seat: int = played.seat
        self.kind: str = KINDS[played.kind]

    @property
    def legal(self) -> list[int | str | bool]:
        """The choices in their fixed order: whole numbers, cards as called, colours, or booleans."""
        if self._legal is None:
            self._legal = self._match.choices()
        return self._legal

    @property
    def pile(self) -> list[str] | None:
        """The pile, top first, where this question allows a look at it."""
        return pile(self._match)

    @property
    def view(self) -> dict[str, Any]:
        """All that the seat may know."""
        if self._view is None:
            self._view = view(self._match, self.seat)
        return self._view

    @property
    def events(self) -> list[dict[str, Any]]:
        """What is new in the view since this seat's last question. Read-only, and shared by the seats."""
        if self._events is None:
            self._events = events(self._match, self.seat, self._since)
        return self._events


class Player(Protocol):
    """Whoever sits at the table. `start` and `ask` may raise `PlayerFault`."""

    def start(self, start: Mapping[str, Any]) -> None:
        """Get ready; `start` has `seat`, `players`, `rules`, `limits` and `seed`."""

    def ask(self, question: Question) -> object:
        """The move, as decoded JSON."""

    def end(self, result: Mapping[str, Any]) -> None:
        """Told `scores` and `places`, unless out. Never raises `PlayerFault`."""

    def stop(self) -> None:
        """End everything this player started. Called once for every player whose `start` was called."""


class LocalPlayer:
    """A trusted author's functions, called in this process. What they raise passes through."""

    def __init__(self, **functions: Any) -> None:
        self._author = Author(**functions)

    @classmethod
    def of(cls, code: Any) -> "LocalPlayer":
        """The bot in a module, a class or an object."""
        player = cls.__new__(cls)
        player._author = Author.of(code)
        return player

    def start(self, start: Mapping[str, Any]) -> None:
        """Tell the author's `start`."""
        self._author.start(start)

    def ask(self, question: Question) -> object:
        """What the author's function says to the view, which holds `legal` and a visible `pile` as well."""
        shown = question.view | {"legal": question.legal[:]}
        if question.pile is not None:
            shown["pile"] = question.pile
        return self._author.answer(question.kind, shown)

    def end(self, result: Mapping[str, Any]) -> None:
        """Tell the author's `end`."""
        self._author.end(result)

    def stop(self) -> None:
        """Nothing to end."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A match that was played to its end.

    `scores` are each seat's own points, `counted` what standings count, `places` from 1 (seats that are out
    come last), `out` the seats that went out, in that order.
    """

    record: Record
    scores: tuple[int, ...]
    counted: tuple[int, ...]
    places: tuple[int, ...]
    exact_bids: tuple[int, ...]
    faults: tuple[Fault, ...]
    out: tuple[int, ...]


def play(
    rules: RuleSet,
    players: Sequence[Player],
    *,
    seed: bytes,
    limits: Mapping[str, Any] | None = None,
    bot_seeds: Sequence[int] = (),
    on_round: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Play a whole match. `on_round` is told the number of rounds finished, and of all rounds.

    `bot_seeds` are told to the players, for their own dice; they say nothing about the deals.
    """
    table = _Table(Match(rules, len(players), seed), players)
    try:
        table.start(dict(limits or {}), bot_seeds or [0] * len(players))
        table.play(on_round or (lambda finished, rounds: None))
        return table.end()
    finally:
        table.stop()


class _Table:
    def __init__(self, match: Match, players: Sequence[Player]) -> None:
        self.match = match
        self.players = players
        self.running: list[int] = []
        self.asked = [0] * len(players)
        self.told: list[Mark] = [NEVER] * len(players)
        self.strikes = [0] * len(players)
        self.faults: list[Fault] = []
        self.out: list[int] = []

    def start(self, limits: Mapping[str, Any], seeds: Sequence[int]) -> None:
        rules = self.match.rules.as_dict()
        common = {"players": len(self.players), "rules": rules, "limits": limits}
        for seat, player in enumerate(self.players):
            self.running.append(seat)
            try:
                player.start({"seat": seat, **common, "seed": seeds[seat]})
            except PlayerFault as fault:
                self._blame(seat, fault, asked="start")

    def play(self, on_round: Callable[[int, int], None]) -> None:
        match, finished = self.match, 0
        while not match.over:
            seat = match.round.seat
            match.advance(self._default() if seat in self.out else self._ask(seat))
            if len(match.finished) > finished:
                finished = len(match.finished)
                on_round(finished, len(match.rounds))

    def end(self) -> Outcome:
        match, out = self.match, tuple(self.out)
        scores, places = match.scores(), match.places(out)
        for seat, player in enumerate(self.players):
            if seat not in out:
                player.end({"scores": list(scores), "places": list(places)})
        return Outcome(
            record=Record.of(match, out),
            scores=scores,
            counted=counted(scores, out),
            places=places,
            exact_bids=tuple(match.exact),
            faults=tuple(self.faults),
            out=out,
        )

    def stop(self) -> None:
        """Stop who still runs, whatever stopping one of them raises."""
        if self.running:
            try:
                self.players[self.running.pop()].stop()
            finally:
                self.stop()

    def _ask(self, seat: int) -> int:
        self.asked[seat] += 1
        question = Question(self.match, self.asked[seat], self.told[seat])
        asked = question.kind
        self.told[seat] = mark(self.match)
        try:
            answer = self.players[seat].ask(question)
            return self._legal(answer)
        except PlayerFault as fault:
            self._blame(seat, fault, asked=asked)
            return self._default()

    def _legal(self, answer: object) -> int:
        try:
            return self.match.answer(answer)
        except IllegalMove as refusal:
            shown = {"answer": json.dumps(answer, default=repr)[:ANSWER_SHOWN], "legal": self.match.choices()}
            raise PlayerFault(FaultKind.ILLEGAL, str(refusal), out=False, evidence=shown) from None

    def _default(self) -> int:
        """Bid 0, else the first choice (no challenge)."""
        return 0 if self.match.round.kind == BID else self.match.legal()[0]

    def _blame(self, seat: int, fault: PlayerFault, *, asked: str) -> None:
        self.strikes[seat] += 1
        out = fault.out or self.strikes[seat] >= STRIKES
        begun = asked != "start"
        self.faults.append(
            Fault(
                seat=seat,
                kind=fault.kind,
                round=self.match.number if begun else 0,
                trick=self._trick() if begun else 0,
                decision=self.asked[seat],
                asked=asked,
                text=fault.text,
                out=out,
                evidence=fault.evidence,
            )
        )
        if out:
            self.out.append(seat)
            self.running.remove(seat)
            self.players[seat].stop()

    def _trick(self) -> int:
        """The number of the trick from 1; 0 while bids are made."""
        played = self.match.round
        return 0 if played.kind == BID else len(played.tricks) + 1
