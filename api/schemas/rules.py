"""Shapes of rule sets."""

from api.schemas.fields import Answer, choice, flag, free, numbers, text, texts, whole
from engine.rules import PRESETS
from engine.switches import SWITCHES, Change, Out, Scoring, Suit, Teams, TieBreak, Turned, WildPair, WildRank

DECK = {"wild": 2, "bonus": 2, "mad": 2, "change": 4, "out": 4}


class RulesAnswer(Answer):
    """A rule set, everything about it."""

    preset = choice("its name", list(PRESETS))
    source = text("where these rules are from", "the maker's rules, in Spanish")
    key = text("names the pool its games are rated in", "fundex")
    min_players = whole("fewest players", 2)
    max_players = whole("most players", 8)
    deck = free("how many of each action card", DECK)
    hand_sizes = numbers("of the rounds; the deck may cap them", (10, 9, 8))
    turned = choice("where an action card goes that is turned for trump", list(Turned))
    change = choice("how a Change finds the new trump", list(Change))
    turn_passes_over = flag("whether turning goes on past the old colour", False)
    out = choice("how long an Out lasts", list(Out))
    wild_rank = choice("the rank of a Wild", list(WildRank))
    wild_pair = choice("what becomes of several Wilds in one trick", list(WildPair))
    scoring = choice("what a bid is worth", list(Scoring))
    bid_points = free("the same as points", {"exact": 10, "zero": 5, "missed": 0})
    tie_break = choice("what orders equal totals", list(TieBreak))
    suit = choice("whether following suit is forced", list(Suit))
    action_any_time = flag("whether action cards may be played out of suit", False)
    secret_bids = flag("whether the others' bids stay hidden", False)
    sweep_double = flag("whether a sweep counts double", False)
    teams = text(f"null, or one of {', '.join(Teams)}; not in tournaments", None, null=True)
    spec = free("the shortest way to ask for these rules", {"preset": "fundex"})
    switches = texts("what a tournament may set beside the preset", list(SWITCHES)[:3])
