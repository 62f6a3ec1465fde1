"""Rule sets as values: the five published ones, and any of them with switches.

A rule set is data. What it does is looked up elsewhere by its fields; nothing asks for its name.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from engine.errors import RulesError
from engine.switches import (
    BID_POINTS,
    SWITCHES,
    BidPoints,
    Change,
    Deck,
    Out,
    Scoring,
    Suit,
    Teams,
    TieBreak,
    Turned,
    WildPair,
    WildRank,
    whole_number,
)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Everything that tells one way to play Rage from another. Frozen: vary it with `parse`."""

    name: str
    source: str
    min_players: int
    max_players: int
    deck: Deck
    hand_sizes: tuple[int, ...]
    turned: Turned
    change: Change
    turn_passes_over: bool
    out: Out
    wild_rank: WildRank
    wild_pair: WildPair
    scoring: Scoring
    tie_break: TieBreak
    suit: Suit
    action_any_time: bool = False
    secret_bids: bool = False
    sweep_double: bool = False
    teams: Teams | None = None

    @classmethod
    def parse(cls, spec: Mapping[str, Any], players: int | None = None) -> "RuleSet":
        """The rule set of `{"preset": ..., switches}`; with `players`, also checked against their number.

        Raises `RulesError` naming the field that is unknown, missing or wrong.
        """
        if not isinstance(spec, Mapping):
            raise RulesError("rules", "must be an object with a preset and any switches")
        preset = _preset(spec)
        rules = replace(
            preset, **{field: _switch(preset, field, spec[field]) for field in spec if field != "preset"}
        )
        if players is not None:
            rules.check_players(players)
        return rules

    def check_players(self, players: int) -> None:
        """Raises `RulesError` unless this many can play."""
        if not whole_number(players, self.min_players, self.max_players):
            raise RulesError(
                "players", f"{self.name} is for {self.min_players} to {self.max_players} players"
            )
        if self.teams is not None and players != self.teams.players:
            raise RulesError("teams", f"{self.teams} needs {self.teams.players} players, not {players}")

    def spec(self) -> dict[str, Any]:
        """The shortest spec that parses to this rule set: the preset and the switches that differ from it."""
        preset = PRESETS[self.name]
        changed = [field for field in SWITCHES if getattr(self, field) != getattr(preset, field)]
        return {"preset": self.name} | {field: _plain(getattr(self, field)) for field in sorted(changed)}

    def as_dict(self) -> dict[str, Any]:
        """Every field as plain JSON, and `spec`, which parses to the same rule set again."""
        described = {field: _plain(getattr(self, field)) for field in self.__slots__ if field != "name"}
        points = self.bid_points
        worth = {"exact": points.exact, "zero": points.zero, "missed": points.missed}
        return {"preset": self.name, **described, "bid_points": worth, "spec": self.spec()}

    def key(self) -> str:
        """A short name for games that may be compared: the preset, and a hash of any switches."""
        spec = self.spec()
        if len(spec) == 1:
            return self.name
        canonical = json.dumps(spec, sort_keys=True, separators=(",", ":"))
        return f"{self.name}-{hashlib.sha256(canonical.encode()).hexdigest()[:8]}"

    def rounds(self, players: int) -> tuple[int, ...]:
        """The hand size of each round."""
        return tuple(self.hand_size(number, players) for number in range(1, len(self.hand_sizes) + 1))

    def hand_size(self, number: int, players: int) -> int:
        """The hand size of round `number` (from 1): what is asked for, capped by the deck."""
        return min(self.hand_sizes[number - 1], self.deck.size // players)

    def decisions(self, players: int) -> int:
        """The most decisions one seat can be asked for in a match."""
        others = (players - 1) if self.suit is Suit.RENEGE else 0
        changes = 0 if self.change is Change.TURN else self.deck.change
        return sum(1 + size + min(size, changes) + size * others for size in self.rounds(players))

    def groups(self, players: int) -> tuple[tuple[int, ...], ...]:
        """The seats that score together: the teams, or every seat alone."""
        return self.teams.seats if self.teams else tuple((seat,) for seat in range(players))

    @property
    def bid_points(self) -> BidPoints:
        """What a bid is worth."""
        return BID_POINTS[self.scoring]


def _preset(spec: Mapping[str, Any]) -> RuleSet:
    name = spec.get("preset")
    if not isinstance(name, str) or name not in PRESETS:
        raise RulesError("preset", "must be one of " + ", ".join(PRESETS))
    return PRESETS[name]


def _switch(preset: RuleSet, field: str, value: object) -> Any:
    if field not in SWITCHES:
        raise RulesError(str(field), "unknown switch; known are " + ", ".join(SWITCHES))
    read = SWITCHES[field](field, value)
    return replace(preset.deck, **read) if field == "deck" else read


def _plain(value: Any) -> Any:
    if isinstance(value, Deck):
        return value.as_dict()
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, str) else value


FUNDEX: Final = RuleSet(
    name="fundex",
    source="the maker's rules, in Spanish",
    min_players=2,
    max_players=8,
    deck=Deck(wild=2, bonus=2, mad=2, change=4, out=4),
    hand_sizes=(10, 9, 8, 7, 6, 5, 4, 3, 2, 1),
    turned=Turned.STAYS,
    change=Change.SEARCH,
    turn_passes_over=False,
    out=Out.ROUND,
    wild_rank=WildRank.HIGHEST,
    wild_pair=WildPair.FIRST,
    scoring=Scoring.STANDARD,
    tie_break=TieBreak.EXACT_BIDS,
    suit=Suit.FORCED,
)
WIKIPEDIA: Final = replace(
    FUNDEX,
    name="wikipedia",
    source="the encyclopedia's article, in Polish",
    max_players=6,
    turned=Turned.LEAVES,
    change=Change.NAME,
    tie_break=TieBreak.NONE,
)
KOREAN: Final = replace(
    FUNDEX,
    name="korean",
    source="a board-game café's sheet, in Korean",
    min_players=3,
    deck=Deck(wild=2, bonus=2, mad=2, change=2, out=4),
    turned=Turned.BOTTOM,
    wild_pair=WildPair.LAST,
)
CHALLENGE: Final = replace(
    WIKIPEDIA,
    name="challenge",
    source="a how-to article, in Portuguese",
    max_players=11,
    deck=Deck(wild=2, bonus=2, mad=2, change=3, out=3),
    turned=Turned.BOTTOM,
    change=Change.TURN,
    wild_rank=WildRank.NAMED,
    wild_pair=WildPair.REFUSED,
    scoring=Scoring.STRICT,
    suit=Suit.RENEGE,
)
AMIGO: Final = replace(
    FUNDEX,
    name="amigo",
    source="the newer retail edition",
    deck=Deck(wild=2, bonus=3, mad=3, change=4, out=4),
    turned=Turned.BOTTOM,
    change=Change.TURN,
    turn_passes_over=True,
    out=Out.TRICK,
    scoring=Scoring.STRICT,
)

PRESETS: Final[Mapping[str, RuleSet]] = MappingProxyType(
    {rules.name: rules for rules in (FUNDEX, WIKIPEDIA, CHALLENGE, KOREAN, AMIGO)}
)
"""The published rule sets by name, each described by what it changes in its nearest neighbour."""
