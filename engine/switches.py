"""What may vary between games of Rage: one enum, table or reader a switch.

A reader takes the JSON value of a switch and returns our value, or raises `RulesError` with its field.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Final

from engine.cards import BONUS, CHANGE, FIRST_WILD, MAD, OUT, WILD
from engine.errors import RulesError

MAX_ROUNDS: Final = 60
MAX_COPIES: Final = 8


class Turned(StrEnum):
    """Where an action card goes that is turned for trump at the start of a round."""

    STAYS = "stays"
    LEAVES = "leaves"
    BOTTOM = "bottom"


class Change(StrEnum):
    """How a Change finds the new trump."""

    SEARCH = "search"
    NAME = "name"
    TURN = "turn"


class Out(StrEnum):
    """How long an Out lasts."""

    ROUND = "round"
    TRICK = "trick"


class WildRank(StrEnum):
    """The rank of a Wild."""

    HIGHEST = "highest"
    NAMED = "named"


class WildPair(StrEnum):
    """What becomes of several Wilds in one trick."""

    FIRST = "first"
    LAST = "last"
    REFUSED = "refused"


class Suit(StrEnum):
    """Whether following suit is forced, or left to the players to watch over."""

    FORCED = "forced"
    RENEGE = "renege"


class TieBreak(StrEnum):
    """What orders equal totals."""

    EXACT_BIDS = "exact_bids"
    NONE = "none"


class Scoring(StrEnum):
    """What a bid is worth."""

    STANDARD = "standard"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class BidPoints:
    """Points for an exact bid, for an exact bid of zero, and for a missed one."""

    exact: int
    zero: int
    missed: int


BID_POINTS: Final[Mapping[Scoring, BidPoints]] = {
    Scoring.STANDARD: BidPoints(exact=10, zero=5, missed=0),
    Scoring.STRICT: BidPoints(exact=10, zero=10, missed=-5),
}


class Teams(StrEnum):
    """How seats form teams; members sit alternately."""

    TWO_PAIRS = "2+2"
    THREE_PAIRS = "2+2+2"
    TWO_THREES = "3+3"

    @property
    def players(self) -> int:
        """The number of seats these teams fill."""
        return sum(int(size) for size in self.value.split("+"))

    @property
    def seats(self) -> tuple[tuple[int, ...], ...]:
        """The seats of each team: every third for three teams, every second for two."""
        teams = self.value.count("+") + 1
        return tuple(tuple(range(first, self.players, teams)) for first in range(teams))


@dataclass(frozen=True, slots=True)
class Deck:
    """How many of each action card go with the 96 number cards."""

    wild: int = 2
    bonus: int = 2
    mad: int = 2
    change: int = 4
    out: int = 4

    @property
    def size(self) -> int:
        """All cards."""
        return FIRST_WILD + self.wild + self.bonus + self.mad + self.change + self.out

    def cards(self) -> tuple[int, ...]:
        """The deck in its fixed order: number cards, then the action cards kind by kind."""
        kinds = (
            (WILD, self.wild),
            (BONUS, self.bonus),
            (MAD, self.mad),
            (CHANGE, self.change),
            (OUT, self.out),
        )
        return (*range(FIRST_WILD), *(card for card, copies in kinds for _ in range(copies)))

    def as_dict(self) -> dict[str, int]:
        """Counts by kind."""
        return asdict(self)


def whole_number(value: object, low: int, high: int | None = None) -> bool:
    """Whether a JSON value is a whole number in a range; `true` and `2.0` are none."""
    return type(value) is int and value >= low and (high is None or value <= high)


def read_switch(field: str, value: object) -> bool:
    """`true` or `false`."""
    if not isinstance(value, bool):
        raise RulesError(field, "must be true or false")
    return value


def read_choice(choices: type[StrEnum]) -> Callable[[str, object], Any]:
    """A reader of one of the values of an enum."""

    def reader(field: str, value: object) -> StrEnum:
        if not isinstance(value, str) or value not in set(choices):
            raise RulesError(field, "must be one of " + ", ".join(choices))
        return choices(value)

    return reader


def read_hand_sizes(field: str, value: object) -> tuple[int, ...]:
    """A list of 1 to 60 hand sizes."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MAX_ROUNDS:
        raise RulesError(field, f"must be a list of 1 to {MAX_ROUNDS} hand sizes")
    if not all(whole_number(size, 1) for size in value):
        raise RulesError(field, "a hand size must be a whole number of 1 or more")
    return tuple(value)


def read_deck(field: str, value: object) -> dict[str, int]:
    """Counts of action cards by kind; kinds may be left out."""
    kinds = [kind.name for kind in fields(Deck)]
    if not isinstance(value, Mapping) or not all(kind in kinds for kind in value):
        raise RulesError(field, "must be an object of counts, with keys out of " + ", ".join(kinds))
    if not all(whole_number(count, 0, MAX_COPIES) for count in value.values()):
        raise RulesError(field, f"a count must be a whole number from 0 to {MAX_COPIES}")
    return dict(value)


SWITCHES: Final[Mapping[str, Callable[[str, object], Any]]] = {
    "action_any_time": read_switch,
    "secret_bids": read_switch,
    "sweep_double": read_switch,
    "hand_sizes": read_hand_sizes,
    "scoring": read_choice(Scoring),
    "change": read_choice(Change),
    "deck": read_deck,
    "teams": read_choice(Teams),
}
"""The switches that go with any rule set, and their readers."""
