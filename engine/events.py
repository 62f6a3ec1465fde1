"""The same as a view, told as news: events for a seat, and the mirror that makes views of them.

An event is an object with one key:

    {"round": {"round", "hand_size", "dealer", "hand", "trump", "trump_card", "scores"}}   a new round
    {"bid": [seat, bid]}              a bid this seat may know
    {"play": [seat, card]}            a card played, as called
    {"took": [winner, trump]}         the trick is over, judged by this trump (null: none)
    {"trump": [colour, card]}         trump now, and the card that lies face up (null: none)
    {"penalties": [...]}              this round's penalties as they stand now

Events tell exactly what the views of the same questions would: of several changes of trump between two
questions only the last, and of a round only what came before the seat's last question in it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from engine.cards import BID, CARDS, COLOURS, NOTATION, PLAY, colour_text
from engine.match import Match
from engine.round import FINED, TOOK, TURNED
from engine.switches import Teams
from engine.view import round_start, trump_card

Mark = tuple[int, int]
"""How far a seat has been told: the round's number, and how much of its tape."""

NEVER: Final[Mark] = (0, 0)
"""Before the first round."""


def mark(match: Match) -> Mark:
    """Everything up to now."""
    return match.number, len(match.round.tape)


def events(match: Match, seat: int, since: Mark) -> list[dict[str, Any]]:
    """What `seat` may know now and did not at the mark."""
    number, told = since
    if number != match.number:
        return [{"round": round_start(match, seat)}, *_decisions(match, seat, 0)]
    return _decisions(match, seat, told) + _standing(match, told)


def _decisions(match: Match, seat: int, told: int) -> list[dict[str, Any]]:
    """Bids, plays and tricks of the tape from `told` on, as far as `seat` may know them."""
    secret = match.rules.secret_bids
    news: list[dict[str, Any]] = []
    for kind, who, what in match.round.tape[told:]:
        if kind == PLAY:
            news.append({"play": [who, NOTATION[what]]})
        elif kind == TOOK:
            news.append({"took": [who, colour_text(what)]})
        elif kind == BID and (who == seat or not secret):
            news.append({"bid": [who, what]})
    return news


def _standing(match: Match, told: int) -> list[dict[str, Any]]:
    """Trump and penalties, if they are not what they were."""
    played = match.round
    news: list[dict[str, Any]] = []
    turns = [(at, entry) for at, entry in enumerate(played.tape) if entry[0] == TURNED]
    known = [entry for at, entry in turns if at < told]
    if known[-1] != turns[-1][1]:
        news.append({"trump": [colour_text(played.pile.colour), trump_card(played)]})
    if any(kind == FINED for kind, _, _ in played.tape[told:]):
        news.append({"penalties": played.penalties[:]})
    return news


class Mirror:
    """A seat's view kept up to date by events; what a bot's side holds so that its author sees full views."""

    def __init__(self, start: Mapping[str, Any]) -> None:
        """`start` is the start message: `seat`, `players` and `rules` are read."""
        self.seat: int = start["seat"]
        self.players: int = start["players"]
        rules = start["rules"]
        named = rules["teams"]
        self._teams = [list(team) for team in Teams(named).seats] if named else None
        self._rounds = len(rules["hand_sizes"])
        self._state: dict[str, Any] = {}

    def tell(self, news: Iterable[Mapping[str, Any]]) -> None:
        """Take in the events of one question."""
        for event in news:
            for name, value in event.items():
                _FOLDS[name](self, value)

    def view(self) -> dict[str, Any]:
        """The view as `engine.view` gives it; fresh lists, the caller's to keep or change."""
        state = self._state
        tricks = [{**trick, "cards": trick["cards"][:]} for trick in state["tricks"]]
        return {key: value[:] if isinstance(value, list) else value for key, value in state.items()} | {
            "lead": _lead(state["trick"]),
            "tricks": tricks,
            "teams": [team[:] for team in self._teams] if self._teams else None,
        }

    def _round(self, value: Mapping[str, Any]) -> None:
        nought = [0] * self.players
        self._state = {
            **value,
            "rounds": self._rounds,
            "players": self.players,
            "seat": self.seat,
            "bids": [None] * self.players,
            "taken": nought[:],
            "penalties": nought[:],
            "leader": (value["dealer"] + 1) % self.players,
            "trick": [],
            "tricks": [],
            "hand": list(value["hand"]),
        }

    def _bid(self, value: Sequence[int]) -> None:
        self._state["bids"][value[0]] = value[1]

    def _play(self, value: Sequence[Any]) -> None:
        seat, card = value
        self._state["trick"].append(card)
        if seat == self.seat:
            self._state["hand"].remove(card if card in CARDS else "WILD")

    def _took(self, value: Sequence[Any]) -> None:
        state, (winner, trump) = self._state, value
        state["tricks"].append(
            {"leader": state["leader"], "cards": state["trick"], "trump": trump, "winner": winner}
        )
        state["taken"][winner] += 1
        state["leader"], state["trick"] = winner, []

    def _trump(self, value: Sequence[Any]) -> None:
        self._state["trump"], self._state["trump_card"] = value

    def _penalties(self, value: Sequence[int]) -> None:
        self._state["penalties"] = list(value)


_FOLDS: Mapping[str, Callable[[Mirror, Any], None]] = {
    "round": Mirror._round,
    "bid": Mirror._bid,
    "play": Mirror._play,
    "took": Mirror._took,
    "trump": Mirror._trump,
    "penalties": Mirror._penalties,
}


def _lead(trick: Sequence[str]) -> str | None:
    """The colour of the first card that has one; a called Wild is written `WILD:` and its colour."""
    for card in trick:
        colour = card.removeprefix("WILD:")[0]
        if colour in COLOURS and card not in _COLOURLESS:
            return colour
    return None


_COLOURLESS = frozenset({"WILD", "BONUS", "MAD", "CHANGE", "OUT"})
