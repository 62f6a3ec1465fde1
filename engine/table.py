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

__all__ = [
    "AskAll",
    "Fault",
    "FaultKind",
    "LocalPlayer",
    "Outcome",
    "Player",
    "PlayerFault",
    "Question",
    "play",
]

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


AskAll = Callable[[Sequence[Question]], Sequence[object]]
"""Asks several seats at once; gives their answers in the same order, a `PlayerFault` where one failed."""


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
    ask_all: AskAll | None = None,
) -> Outcome:
    """Play a whole match. `on_round` is told the number of rounds finished, and of all rounds.

    `bot_seeds` are told to the players, for their own dice; they say nothing about the deals. `ask_all` asks
    where several may answer at once, at secret bids; without it they are asked one by one.
    """
    table = _Table(Match(rules, len(players), seed), players, ask_all if rules.secret_bids else None)
    try:
        table.start(dict(limits or {}), bot_seeds or [0] * len(players))
        table.play(on_round or (lambda finished, rounds: None))
        return table.end()
    finally:
        table.stop()


class _Table:
    def __init__(self, match: Match, players: Sequence[Player], ask_all: AskAll | None) -> None:
        self.match = match
        self.ask_all = ask_all
        self.early: dict[int, object] = {}  # answers to the secret bids of this round, by seat
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
            if self.ask_all is not None and match.round.kind == BID and not match.round.moves:
                self._ask_bidders(self.ask_all)
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

    def _ask_bidders(self, ask_all: AskAll) -> None:
        """All bids of the round at once: a bidder is told nothing of the bids before, whatever they are."""
        twin, questions = self.match.clone(), []
        while twin.round.kind == BID and twin.number == self.match.number:
            if twin.round.seat not in self.out:
                questions.append(self._question(twin.clone()))
            twin.advance(0)
        answers = ask_all(questions)
        self.early = {asked.seat: answer for asked, answer in zip(questions, answers, strict=True)}

    def _question(self, match: Match) -> Question:
        seat = match.round.seat
        self.asked[seat] += 1
        question = Question(match, self.asked[seat], self.told[seat])
        self.told[seat] = mark(match)
        return question

    def _ask(self, seat: int) -> int:
        asked = KINDS[self.match.round.kind]
        try:
            return self._legal(self._answer(seat))
        except PlayerFault as fault:
            self._blame(seat, fault, asked=asked)
            return self._default()

    def _answer(self, seat: int) -> object:
        if seat not in self.early:
            return self.players[seat].ask(self._question(self.match))
        answer = self.early.pop(seat)
        if isinstance(answer, PlayerFault):
            raise answer
        return answer

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
