"""A seat's view kept up to date by events (see `events`), on the bot's side of the table.

A fresh process does this in every match, so this file imports next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any


class Mirror:
    """A seat's view kept up to date by events; what a bot's side holds so that its author sees full views."""

    def __init__(self, start: Mapping[str, Any]) -> None:
        """`start` is the start message: `seat`, `players` and `rules` are read."""
        self.seat: int = start["seat"]
        self.players: int = start["players"]
        rules = start["rules"]
        self._teams = _teams(rules["teams"])
        self._rounds = len(rules["hand_sizes"])
        self._state: dict[str, Any] = {}

    def tell(self, news: Iterable[Mapping[str, Any]]) -> None:
        """Take in the events of one question."""
        for event in news:
            for name, value in event.items():
                _FOLDS[name](self, value)

    def view(self) -> dict[str, Any]:
        """The view as `engine.view` gives it; fresh lists, the caller's to keep or change."""
        view = self._state.copy()
        for name in _LISTS:
            view[name] = view[name][:]
        view["lead"] = _lead(view["trick"])
        view["tricks"] = tricks = []
        for trick in self._state["tricks"]:
            twin = trick.copy()
            twin["cards"] = trick["cards"][:]
            tricks.append(twin)
        view["teams"] = [team[:] for team in self._teams] if self._teams else None
        return view

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
            self._state["hand"].remove("WILD" if card.startswith("WILD:") else card)

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


_LISTS = ("hand", "scores", "bids", "taken", "penalties", "trick")
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
        if card not in _COLOURLESS:
            return colour
    return None


_COLOURLESS = frozenset({"WILD", "BONUS", "MAD", "CHANGE", "OUT"})


def _teams(named: str | None) -> list[list[int]] | None:
    if named is None:
        return None
    from engine.switches import Teams  # most matches have no teams, and most bots no time to import them

    return [list(team) for team in Teams(named).seats]
