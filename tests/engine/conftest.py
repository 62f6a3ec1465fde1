"""What the engine's tests share: any rules with any switches, and random legal play from a number."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from engine.match import Match
from engine.rules import PRESETS, RuleSet
from engine.switches import Change, Scoring, Teams

settings.register_profile("engine", deadline=None, max_examples=60)
settings.load_profile("engine")


@st.composite
def any_rules(draw: st.DrawFn, longest: int = 7) -> tuple[RuleSet, int]:
    """A preset with some switches, and a number of players it can be played by."""
    preset = draw(st.sampled_from(sorted(PRESETS)))
    switches: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {"hand_sizes": st.lists(st.integers(1, longest), min_size=1, max_size=3)},
            optional={
                "action_any_time": st.booleans(),
                "secret_bids": st.booleans(),
                "sweep_double": st.booleans(),
                "scoring": st.sampled_from([str(scoring) for scoring in Scoring]),
                "change": st.sampled_from([str(change) for change in Change]),
                "deck": st.fixed_dictionaries(
                    {},
                    optional={kind: st.integers(0, 8) for kind in ("wild", "bonus", "mad", "change", "out")},
                ),
                "teams": st.sampled_from([str(teams) for teams in Teams]),
            },
        )
    )
    rules = RuleSet.parse({"preset": preset, **switches})
    players = draw(st.integers(rules.min_players, rules.max_players))
    return rules, rules.teams.players if rules.teams else players


@pytest.fixture(scope="session")
def games() -> st.SearchStrategy[tuple[Match, Random]]:
    """Matches about to begin, each with dice of its own."""
    return st.builds(
        lambda rules, seed: (Match(*rules, Random(seed).randbytes(32)), Random(seed)),
        any_rules(),
        st.integers(0, 2**32),
    )


@pytest.fixture(scope="session")
def rule_sets() -> st.SearchStrategy[tuple[RuleSet, int]]:
    """Any rules, and a number of players that fits."""
    return any_rules()


def _keen(match: Match, dice: Random) -> int:
    """A random legal move that favours action cards, where most of the rules are."""
    legal = match.legal()
    keen = [move for move in legal if move >= 96 and match.round.kind == 1]
    return dice.choice(keen if keen and dice.random() < 0.4 else legal)


@pytest.fixture(scope="session")
def random_move() -> Callable[[Match, Random], int]:
    """A random legal move."""
    return _keen


@pytest.fixture(scope="session")
def play_out() -> Callable[[Match, Random], Match]:
    """Plays a match to its end with random legal moves."""

    def run(match: Match, dice: Random) -> Match:
        while not match.over:
            match.advance(_keen(match, dice))
        return match

    return run
