"""Other people's games, played at random from Python as quickly as their interfaces allow.

Each maker returns a function of a number of games that plays them and returns how many decisions were made.
It raises `ImportError` where the peer is not installed; nothing here is a dependency of the project.
"""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from random import Random
from types import ModuleType
from typing import Any

Play = Callable[[int], int]
SIZES = range(10, 0, -1)


def oh_hell_games() -> dict[int, Any]:
    """OpenSpiel's Oh Hell for four, one game object a hand size; 4 x 13 is the largest deck it takes."""
    import pyspiel

    return {size: pyspiel.load_game(f"oh_hell(players=4,num_tricks_fixed={size})") for size in SIZES}


def deal_oh_hell(games: dict[int, Any], dice: Random) -> list[tuple[int, list[int]]]:
    """The chance moves of ten deals, drawn beforehand."""
    deals = []
    for size in SIZES:
        state, moves = games[size].new_initial_state(), []
        while state.is_chance_node():
            moves.append(dice.choice(state.chance_outcomes())[0])
            state.apply_action(moves[-1])
        deals.append((size, moves))
    return deals


def oh_hell_best() -> Play:
    """Deals drawn beforehand, the number of decisions known: only `legal_actions` and `apply_action`."""
    games, dice = oh_hell_games(), Random(1)
    matches = [deal_oh_hell(games, dice) for _ in range(30)]
    draw = dice.random

    def play(count: int) -> int:
        decisions = 0
        for number in range(count):
            for size, deals in matches[number % 30]:
                state = games[size].new_initial_state()
                apply, legal_actions = state.apply_action, state.legal_actions
                for chance in deals:
                    apply(chance)
                for _ in range(4 * size + 4):
                    legal = legal_actions()
                    apply(legal[int(draw() * len(legal))])
                state.returns()
                decisions += 4 * size + 4
        return decisions

    return play


def oh_hell_generic() -> Play:
    """`is_terminal` and a uniform draw from `legal_actions` at every node, chance nodes too."""
    games, draw = oh_hell_games(), Random(1).random

    def play(count: int) -> int:
        for _ in range(count):
            for size in SIZES:
                state = games[size].new_initial_state()
                while not state.is_terminal():
                    legal = state.legal_actions()
                    state.apply_action(legal[int(draw() * len(legal))])
        return count * sum(4 * size + 4 for size in SIZES)

    return play


def oh_hell_documented() -> Play:
    """The loop of the documentation: `chance_outcomes` with their probabilities at chance nodes."""
    games, dice = oh_hell_games(), Random(1)

    def play(count: int) -> int:
        for _ in range(count):
            for size in SIZES:
                state = games[size].new_initial_state()
                while not state.is_terminal():
                    if state.is_chance_node():
                        actions, chances = zip(*state.chance_outcomes(), strict=True)
                        state.apply_action(dice.choices(actions, chances)[0])
                    else:
                        state.apply_action(dice.choice(state.legal_actions(state.current_player())))
        return count * sum(4 * size + 4 for size in SIZES)

    return play


def oh_hell_resample() -> Play:
    """From half-played deals of ten: a resampled state, played to its end; one each counts as a decision."""
    import pyspiel

    games, dice = oh_hell_games(), Random(1)
    draw, sampler = dice.random, pyspiel.UniformProbabilitySampler(1, 0.0, 1.0)
    states = []
    for _ in range(20):
        state = games[10].new_initial_state()
        for chance in deal_oh_hell(games, dice)[0][1]:
            state.apply_action(chance)
        for _ in range(4 + 4 * 5):
            state.apply_action(dice.choice(state.legal_actions()))
        states.append(state)

    def play(count: int) -> int:
        for number in range(count):
            state = states[number % 20]
            world = state.resample_from_infostate(state.current_player(), sampler)
            while not world.is_terminal():
                legal = world.legal_actions()
                world.apply_action(legal[int(draw() * len(legal))])
        return count

    return play


def pyohhell() -> Play:
    """A pure-Python Oh Hell, for four. As published it looks for itself in a package `src`."""
    found = find_spec("pyohhell")
    if found is None or not found.submodule_search_locations:
        raise ImportError("pyohhell")
    source = ModuleType("src")
    source.__path__ = [found.submodule_search_locations[0].rpartition("/")[0]]
    sys.modules.setdefault("src", source)
    from src.pyohhell import game_engine, game_state, player  # type: ignore[import-not-found]

    asked = [0]

    class Card(player.RandomCardSelectionStrategy):  # type: ignore[misc]
        def select_card(self, *args: Any) -> Any:
            asked[0] += 1
            return super().select_card(*args)

    class Bid(player.RandomBidSelectionStrategy):  # type: ignore[misc]
        def select_bid(self, *args: Any) -> Any:
            asked[0] += 1
            return super().select_bid(*args)

    def play(count: int) -> int:
        asked[0] = 0
        for _ in range(count):
            game = game_engine.GameEngine(game_state.DefaultPointAttributionStrategy())
            for seat in range(4):
                game.subscribe_player(player.Player(seat, Card(), Bid()))
            game.play_game()
        return asked[0]

    return play


def rlcard_uno() -> Play:
    """rlcard's Uno through its environment, as its documentation steps it."""
    import rlcard

    environment, dice = rlcard.make("uno"), Random(1)

    def play(count: int) -> int:
        decisions = 0
        for _ in range(count):
            state, _ = environment.reset()
            while not environment.is_over():
                state, _ = environment.step(dice.choice(list(state["legal_actions"])))
                decisions += 1
        return decisions

    return play


def kaggle_rps() -> Play:
    """kaggle-environments' runner on rock, paper, scissors between two agents that answer at once."""
    from kaggle_environments import make

    def play(count: int) -> int:
        decisions = 0
        for _ in range(count):
            environment = make("rps", configuration={"episodeSteps": 100})
            environment.run([lambda seen: 0, lambda seen: 1])
            decisions += 2 * (len(environment.steps) - 1)
        return decisions

    return play
