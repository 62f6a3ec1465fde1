"""The rules once more, in the words of the rule book and in no hurry: a second opinion on the engine.

Written from the rules alone. Cards are their notation, a trick is what was laid, and every question is
answered by looking again at all that was played. It shares nothing with the engine but the notation.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

COLOURS = "ROYGBP"
KINDS = ("wild", "bonus", "mad", "change", "out")
NUMBERS = [f"{colour}{rank}" for colour in COLOURS for rank in range(16)]
STANDARD, STRICT = (10, 5, 0), (10, 10, -5)  # an exact bid, an exact zero, a missed one

BOOK: dict[str, dict[str, Any]] = {
    "fundex": {"players": (2, 8), "counts": (2, 2, 2, 4, 4), "change": "search", "scoring": "standard"},
    "wikipedia": {"players": (2, 6), "counts": (2, 2, 2, 4, 4), "change": "name", "scoring": "standard"},
    "challenge": {"players": (2, 11), "counts": (2, 2, 2, 3, 3), "change": "turn", "scoring": "strict"},
    "korean": {"players": (3, 8), "counts": (2, 2, 2, 2, 4), "change": "search", "scoring": "standard"},
    "amigo": {"players": (2, 8), "counts": (2, 3, 3, 4, 4), "change": "turn", "scoring": "strict"},
}

Question = tuple[int, str, list[Any]]
"""Who is asked what kind of thing, and all that may be answered, in order."""


@dataclass
class PlainRound:
    """A round under a preset with its switches; `hands` and `pile` are lists of cards, the pile top first."""

    rules: dict[str, Any]
    players: int
    dealer: int
    hands: list[list[str]]
    pile: list[str]
    bids: list[int | None] = field(default_factory=list)
    tricks: list[dict[str, Any]] = field(default_factory=list)
    laid: list[tuple[int, str]] = field(default_factory=list)
    worth: list[int] = field(default_factory=list)
    penalties: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.preset = self.rules["preset"]
        self.change = self.rules.get("change", BOOK[self.preset]["change"])
        self.scores = (
            STRICT if self.rules.get("scoring", BOOK[self.preset]["scoring"]) == "strict" else STANDARD
        )
        self.teams = len(self.rules["teams"].split("+")) if "teams" in self.rules else self.players
        self.size = len(self.hands[0])
        self.bids, self.worth, self.penalties = [None] * self.players, [0] * self.players, [0] * self.players
        # Action cards of the pile are never chosen and never stop a turn: its number cards say it all.
        self.pile = [card for card in self.pile if card in NUMBERS]
        self.face_up = bool(self.pile)
        self.trump = self.pile[0][0] if self.pile else None
        self.first_trump = self.trump
        self.out_in_this_trick = False

    def play(self) -> Generator[Question, Any, None]:
        """Asks until the round is over."""
        for step in range(1, self.players + 1):
            seat = (self.dealer + step) % self.players
            self.bids[seat] = yield seat, "bid", list(range(self.size + 1))
        leader = (self.dealer + 1) % self.players
        for _ in range(self.size):
            self.laid, self.out_in_this_trick = [], False
            for step in range(self.players):
                yield from self.turn((leader + step) % self.players)
            leader = self.award()

    def turn(self, seat: int) -> Generator[Question, Any, None]:
        """A card, and what it brings with it."""
        led = self.lead()
        card = yield seat, "play", self.playable(seat)
        self.hands[seat].remove(card.split(":")[0])
        self.laid.append((seat, card))
        if card == "OUT":
            self.no_trump()
        elif card == "CHANGE":
            yield from self.another_trump(seat)
        if self.preset == "challenge" and led and self.suspect(card, led):
            for step in range(1, self.players):
                doubter = (seat + step) % self.players
                if (yield doubter, "challenge", [False, True]):
                    guilty = any(held[0] == led and held in NUMBERS for held in self.hands[seat])
                    self.fine(seat if guilty else doubter)
                    break

    def lead(self) -> str | None:
        """The colour that must be followed, if any."""
        return next((colour for _, card in self.laid if (colour := colour_of(card))), None)

    def playable(self, seat: int) -> list[str]:
        """What may be laid, in the order in which the rule book lists it."""
        hand, led = self.hands[seat], self.lead()
        numbers = [card for card in NUMBERS if card in hand]
        actions = [word for kind in KINDS if kind.upper() in hand for word in self.calls(kind.upper())]
        if self.preset == "challenge":
            if any(card.startswith("WILD") for _, card in self.laid):
                actions = [card for card in actions if not card.startswith("WILD")]
            return numbers + actions or ["WILD"]
        following = [card for card in numbers if card[0] == led]
        if not following:
            return numbers + actions
        return following + (actions if self.rules.get("action_any_time") else [])

    def calls(self, card: str) -> list[str]:
        """How a card may be called."""
        if card != "WILD":
            return [card]
        ranks = range(17) if self.preset == "challenge" else [""]
        return [f"WILD:{colour}{rank}" for colour in COLOURS for rank in ranks]

    def suspect(self, card: str, led: str) -> bool:
        """Whether the others are asked about it: it does not follow."""
        if card not in NUMBERS and self.rules.get("action_any_time"):
            return False
        return colour_of(card) != led

    def fine(self, seat: int) -> None:
        """Ten points less, for every member of a team."""
        for each in range(self.players):
            if each % self.teams == seat % self.teams:
                self.penalties[each] -= 10

    def no_trump(self) -> None:
        """An Out: the card that showed the trump goes to the bottom."""
        if self.face_up:
            self.pile = [*self.pile[1:], self.pile[0]]
        self.face_up, self.trump, self.out_in_this_trick = False, None, True

    def another_trump(self, seat: int) -> Generator[Question, Any, None]:
        """A Change."""
        others = [colour for colour in COLOURS if colour != self.trump]
        if self.change == "name":
            self.trump = yield seat, "trump", others
        elif self.change == "search":
            there = [colour for colour in others if any(card[0] == colour for card in self.pile)]
            if there:
                self.trump = yield seat, "trump", there
                best = max((c for c in self.pile if c[0] == self.trump), key=rank_of)
                self.pile.remove(best)
                self.pile.insert(0, best)
                self.face_up = True
        elif not self.turned(over=self.trump if self.preset == "amigo" else None):
            return
        self.out_in_this_trick = False

    def turned(self, over: str | None = None) -> bool:
        """The next number card shows, but not of the colour passed `over`; False if there is none."""
        if all(card[0] == over for card in self.pile):
            return False
        if self.face_up:
            self.pile = [*self.pile[1:], self.pile[0]]
        while self.pile[0][0] == over:
            self.pile = [*self.pile[1:], self.pile[0]]
        self.face_up, self.trump = True, self.pile[0][0]
        return True

    def award(self) -> int:
        """The trick is judged, and goes to whom it is due."""
        winner = self.taker()
        self.tricks.append(
            {
                "leader": self.laid[0][0],
                "cards": [card for _, card in self.laid],
                "trump": self.trump,
                "winner": winner,
            }
        )
        for _, card in self.laid:
            self.worth[winner] += {"BONUS": 5, "MAD": -5}.get(card, 0)
        if self.preset == "amigo" and self.out_in_this_trick:
            self.turned()
        return winner

    def taker(self) -> int:
        """The highest trump, else the highest of the lead colour, else the first card."""
        for colour in (self.trump, self.lead()):
            of_it = [(seat, card) for seat, card in self.laid if colour and colour_of(card) == colour]
            if of_it:
                highest = max(rank_of(card) for _, card in of_it)
                equal = [seat for seat, card in of_it if rank_of(card) == highest]
                return equal[-1 if self.preset == "korean" else 0]
        return self.laid[0][0]

    def taken(self) -> list[int]:
        """Tricks by seat."""
        return [sum(trick["winner"] == seat for trick in self.tricks) for seat in range(self.players)]

    def points(self) -> list[int]:
        """By seat, penalties apart; a team scores once and each member bears it."""
        taken, points = self.taken(), []
        for seat in range(self.players):
            team = [each for each in range(self.players) if each % self.teams == seat % self.teams]
            bid, tricks = sum(self.bids[each] or 0 for each in team), sum(taken[each] for each in team)
            swept = self.rules.get("sweep_double") and tricks == self.size > 1
            exact, zero, missed = self.scores
            won = missed if bid != tricks else exact if bid else zero
            points.append((2 if swept else 1) * tricks + won + sum(self.worth[each] for each in team))
        return points

    def told(self, asked: Question | None) -> dict[str, Any]:
        """What a referee says of it."""
        said = {
            "trump": self.first_trump,
            "bids": self.bids,
            "taken": self.taken(),
            "points": None if asked else self.points(),
            "penalties": self.penalties,
            "tricks": self.tricks,
        }
        return said | ({"next": dict(zip(("seat", "kind", "legal"), asked, strict=True))} if asked else {})


def colour_of(card: str) -> str | None:
    """The colour of a card as it was played; a Wild has the one it was called."""
    if card in NUMBERS:
        return card[0]
    return card[5] if card.startswith("WILD:") else None


def rank_of(card: str) -> int:
    """Its rank, the higher the better."""
    digits = card.removeprefix("WILD:")[1:]
    return int(digits) if digits else 16


def deck(rules: dict[str, Any]) -> list[str]:
    """All cards of a rule set, with its switch."""
    counts = dict(zip(KINDS, BOOK[rules["preset"]]["counts"], strict=True)) | rules.get("deck", {})
    return NUMBERS + [kind.upper() for kind in KINDS for _ in range(counts[kind])]
