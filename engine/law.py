"""A rule set made ready for play: the flags and tables a round looks up at every move."""

from functools import lru_cache
from typing import Any, Final

from engine.actions import CHOSEN, effects
from engine.cards import NO_COLOUR
from engine.deal import shuffler
from engine.hand import Hand
from engine.rules import RuleSet
from engine.switches import Change, Out, Suit, WildPair
from engine.tape import bids, plays, takes
from engine.trick import ActionMoves, wild_calls


class Law:
    """One rule set for one number of players. Shared by all rounds played under it; only its caches grow."""

    def __init__(self, rules: RuleSet, players: int) -> None:
        rules.check_players(players)
        self.rules: Final = rules
        self.players: Final = players
        self.rounds: Final = rules.rounds(players)
        self.shuffler: Final = shuffler(rules.deck)
        self.groups: Final = rules.groups(players)
        self.mates: Final = tuple(next(g for g in self.groups if seat in g) for seat in range(players))
        self.forced: Final[bool] = rules.suit is Suit.FORCED
        self.secret_bids: Final[bool] = rules.secret_bids
        self.any_time: Final[bool] = rules.action_any_time
        self.due: Final = list(range(7)) if self.forced else [NO_COLOUR] * 7
        self.left: Final = [*range(1, players), 0]
        seats = range(players)
        self.orders: Final = [[*seats[leader:], *seats[:leader]] for leader in seats]
        self.bid: Final = [bids(seat, 1 + rules.deck.size // players) for seat in seats]
        self.play: Final = [plays(seat) for seat in seats]
        self.took: Final = [takes(seat) for seat in seats]
        self.out_ends: Final[bool] = rules.out is Out.TRICK
        self.last_wild: Final[bool] = rules.wild_pair is WildPair.LAST
        self.worth: Final = rules.bid_points
        self.nothing: Final[list[Hand]] = [[[]] * 9] * players
        self.effects: Final = effects(rules.change)
        self.chosen: Final = CHOSEN.get(rules.change, CHOSEN[Change.NAME])
        self.bids: Final = [list(range(size + 1)) for size in range(1 + rules.deck.size // players)]
        self.actions: Final = ActionMoves(wild_calls(rules.wild_rank))
        self.actions_after_wild: Final = ActionMoves(())
        self.wilds_together: Final[bool] = rules.wild_pair is not WildPair.REFUSED

    def __copy__(self) -> "Law":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Law":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return law, (self.rules, self.players)


@lru_cache(maxsize=256)
def law(rules: RuleSet, players: int) -> Law:
    """The law of these rules at a table of this size; raises `RulesError` if they do not fit."""
    return Law(rules, players)
