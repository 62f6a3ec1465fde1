"""A match: the rounds in a row, the totals, the places."""

from operator import add
from typing import Any

from engine.cards import NOTATION, OVER, PLAY, read, written
from engine.deal import SEED_BYTES
from engine.errors import IllegalMove, RulesError
from engine.law import law
from engine.round import Round
from engine.rules import RuleSet
from engine.scoring import exact_bids, places


class Match:
    """A match in play. The last seat deals the first round, so seat 0 leads it; then the deal passes left."""

    def __init__(self, rules: RuleSet, players: int, seed: object, begun: Round | None = None) -> None:
        """`seed` is 32 bytes; an `object` here, so that compiled or not the same error says so."""
        if not isinstance(seed, bytes) or len(seed) != SEED_BYTES:
            raise RulesError("seed", f"must be {SEED_BYTES} bytes")
        self.law = law(rules, players)
        self.rules = rules
        self.players = players
        self.seed: bytes = seed
        self.rounds = self.law.rounds
        self.totals: list[int] = [0] * players
        self.finished: list[Round] = []
        self.number: int = 1
        self.over: bool = False
        """Whether the last round is played."""
        self.round: Round = begun or self._deal()

    def legal(self) -> list[int]:
        """The choices of the seat whose turn it is; empty when the match is over."""
        return self.round.legal()

    def apply(self, move: int) -> None:
        """Play a move; raises `IllegalMove`, and leaves everything as it was, if it is not legal."""
        refusal = self.round.refusal(move)
        if refusal is not None:
            raise IllegalMove(refusal)
        self.advance(move)

    def advance(self, move: int) -> None:
        """Play a move known to be legal, and deal the next round when this one is over."""
        self.round.apply(move)
        if self.round.kind == OVER:
            self.settle()

    def answer(self, value: object) -> int:
        """The legal move behind a JSON answer; raises `IllegalMove` if there is none."""
        played = self.round
        move = read(played.kind, value)
        if move is None or move not in played.legal():
            raise IllegalMove(played.refusal(move) or "no such move")
        return move

    def choices(self) -> list[int | str | bool]:
        """`legal` as JSON values."""
        kind, moves = self.round.kind, self.round.legal()
        if kind == PLAY:
            return [NOTATION[move] for move in moves]
        return [written(kind, move) for move in moves]

    def clone(self) -> "Match":
        """A copy that can be played on."""
        now = self.round if self.over else self.round.clone()
        return _restored(self.rules, self.players, self.seed, now, self.totals[:], self.finished[:])

    def __copy__(self) -> "Match":
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Match":
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = (self.rules, self.players, self.seed, self.round, self.totals, self.finished)
        return _restored, made_of

    @property
    def exact(self) -> list[int]:
        """How many bids each seat has met exactly in the finished rounds."""
        met = [exact_bids(self.rules, played.bids, played.taken) for played in self.finished]
        return [sum(column) for column in zip(*met, strict=True)] or [0] * self.players

    def scores(self) -> tuple[int, ...]:
        """Totals of the finished rounds, penalties included."""
        return tuple(self.totals)

    def places(self, out: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Places by the totals; seats that went `out` come last."""
        return places(self.rules, self.totals, self.exact, out)

    @property
    def moves(self) -> bytes:
        """Every decision so far, in order."""
        current = b"" if self.over else self.round.moves
        return b"".join(played.moves for played in self.finished) + current

    def settle(self) -> None:
        """Add up the round that is over, and deal the next if there is one; `advance` does it by itself."""
        played = self.round
        self.totals = list(map(add, self.totals, played.scores()))
        self.finished.append(played)
        if self.number < len(self.rounds):
            self.number += 1
            self.round = self._deal()
        else:
            self.over = True

    def _deal(self) -> Round:
        number, players = self.number, self.players
        size = self.rounds[number - 1]
        deal = self.law.shuffler.deal(self.seed, number, size, players)
        return Round.of(self.law, (number - 2) % players, deal)


def _restored(
    rules: RuleSet, players: int, seed: bytes, now: Round, totals: list[int], finished: list[Round]
) -> Match:
    """A match with this round in play; a function, as compiled classes take no state from pickle."""
    match = Match(rules, players, seed, now)
    match.totals, match.finished = totals, finished
    match.over = len(finished) == len(match.rounds)
    match.number = len(finished) + (not match.over)
    return match
