"""A finished match as those see it who look on afterwards: every state of the table, hands open.

The states of a round come as steps. A step says what was done and, beside it, the parts of the state that
changed; the first of a round has them all. So whoever shows a match needs no rule of the game: each state is
the one before with these parts put in its place.
"""

from collections.abc import Sequence
from typing import Any

from engine.cards import CARD, CHALLENGE, KINDS, NO, NOTATION, OVER, PLAY, TRUMP, colour_text, written
from engine.errors import RecordError
from engine.match import Match
from engine.record import Record
from engine.round import Round
from engine.view import trump_card

State = dict[str, Any]
Mark = tuple[int, int]
"""A decision to be found again: a seat, and which of its decisions in the match it was, from 1."""


def story(record: Record, marks: Sequence[Mark] = ()) -> list[dict[str, Any]]:
    """The rounds of a match, each with its `steps`; raises `RecordError` for a record that is none.

    A step has `did`: deal, bid, play, trump, challenge, pass (nobody challenged: `seats`), take (a trick) or
    score (the round); `seat` and `move` as they apply, and `marks`, the indices of the `marks` that are here.

    The state: `hands` (cards by seat; of later steps `gave` has seat and index of the card that left),
    `bids`, `taken`, `trick`, `leader`, `lead`, `turn` and `asked` (who is asked what), `may` (which cards of
    that hand may be played, by index, or which colours may be named), `trump`, `trump_card`, `stake` (points
    that lie in the trick), `stakes` (those won, by seat), `penalties`, `points` (null until the round is
    over) and `scores` (of the match). At a deal `seat` is the dealer.
    """
    teller = _Teller(Match(record.rules, record.players, record.seed), marks)
    for move in record.moves:
        teller.apply(move)
    if not teller.match.over:
        raise RecordError("rounds", "the match is not over")
    return teller.rounds


class _Teller:
    """Plays a match and writes down what it sees."""

    def __init__(self, match: Match, marks: Sequence[Mark]) -> None:
        self.match = match
        self.rounds: list[dict[str, Any]] = []
        self._marks: dict[Mark, list[int]] = {}
        for index, mark in enumerate(marks):
            self._marks.setdefault(mark, []).append(index)
        self._asked = [0] * match.players
        self._open_round()

    def apply(self, move: int) -> None:
        match = self.match
        if match.over:
            raise RecordError("rounds", f"the match has {len(match.rounds)} rounds")
        played, kind, seat = match.round, match.round.kind, match.round.seat
        tricks, finished = len(played.tricks), len(match.finished)
        match.apply(move)
        self._asked[seat] += 1
        full = len(played.tricks) > tricks
        after = self._before_taking(played) if full else _look(played, self._scores)
        self._decision(kind, seat, move, after)
        if full:
            self._step({"did": "take", "seat": played.tricks[-1][3]}, _look(played, self._scores))
        if len(match.finished) > finished:
            self._close_round(played)

    def _open_round(self) -> None:
        played = self.match.round
        self._scores = self.match.totals[:]
        self._state = _look(played, self._scores)
        deal = {"did": "deal", "seat": played.dealer, **self._state}
        head = {"round": self.match.number, "hand_size": played.hand_size, "dealer": played.dealer}
        self.rounds.append({**head, "steps": [deal]})

    def _close_round(self, played: Round) -> None:
        self._scores = self.match.totals[:]
        points = {"points": played.points()}
        self._step({"did": "score"}, {**_look(played, self._scores), **points})
        if not self.match.over:
            self._open_round()

    def _decision(self, kind: int, seat: int, move: int, after: State) -> None:
        steps = self.rounds[-1]["steps"]
        marks = self._marks.get((seat, self._asked[seat]), [])
        if kind != CHALLENGE or move != NO:
            done = {"did": KINDS[kind], "seat": seat, "move": written(kind, move)}
            self._step({**done, **({"marks": marks} if marks else {})}, after)
            return
        if steps[-1]["did"] != "pass":
            self._step({"did": "pass", "seats": []}, {**self._state})
        steps[-1]["seats"].append(seat)
        if marks:
            steps[-1].setdefault("marks", []).extend(marks)
        steps[-1].update(_changes(self._state, after))
        self._state = after

    def _step(self, done: dict[str, Any], after: State) -> None:
        self.rounds[-1]["steps"].append({**done, **_changes(self._state, after)})
        self._state = after

    def _before_taking(self, played: Round) -> State:
        """The full trick on the table, as it was before its winner took it and led again."""
        _, cards, trump, _ = played.tricks[-1]
        before, after = self._state, _look(played, self._scores)
        as_it_was = {name: before[name] for name in ("taken", "stakes", "leader")}
        turned = colour_text(trump) != after["trump"]
        shown = {
            "trump": colour_text(trump),
            "trump_card": before["trump_card"] if turned else after["trump_card"],
        }
        lies = {"trick": [NOTATION[card] for card in cards], "lead": before["lead"], "stake": before["stake"]}
        return {**after, **as_it_was, **shown, **lies, "turn": None, "asked": None, "may": []}


def _look(played: Round, scores: list[int]) -> State:
    over = played.kind == OVER
    return {
        "hands": [[NOTATION[card] for card in played.held(seat)] for seat in range(played.players)],
        "bids": [None if bid < 0 else bid for bid in played.bids],
        "taken": played.taken[:],
        "trick": [NOTATION[card] for card in played.trick],
        "leader": played.leader,
        "lead": colour_text(played.lead),
        "turn": None if over else played.seat,
        "asked": None if over else KINDS[played.kind],
        "may": _may(played),
        "trump": colour_text(played.pile.colour),
        "trump_card": trump_card(played),
        "stake": played.stake,
        "stakes": played.stakes[:],
        "penalties": played.penalties[:],
        "points": None,
        "scores": scores,
    }


def _may(played: Round) -> list[int] | list[str]:
    if played.kind == TRUMP:
        return [NOTATION[move] for move in played.legal()]
    if played.kind != PLAY:
        return []
    cards = {CARD[move] for move in played.legal()}
    return [index for index, card in enumerate(played.held(played.seat)) if card in cards]


def _changes(before: State, after: State) -> State:
    changed = {name: value for name, value in after.items() if value != before[name] and name != "hands"}
    for seat, cards in enumerate(after["hands"]):
        if cards != before["hands"][seat]:
            changed["gave"] = [seat, _gap(before["hands"][seat], cards)]
    return changed


def _gap(before: list[str], after: list[str]) -> int:
    """Where the one card lay that is gone."""
    return next((at for at, card in enumerate(after) if card != before[at]), len(after))
