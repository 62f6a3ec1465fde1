"""Rage as a PettingZoo environment (AEC), for reinforcement learning: `pip install rage-arena[rl]`.

The one file of the engine that needs more than the standard library, and nothing imports it. Agents are
`seat_0`, `seat_1` ...; an action is a move number of `cards`, a bid is `BIDS` plus the bid. After each round
an agent is rewarded with what the round was worth to it, penalties included.
"""

from random import Random
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv  # type: ignore[import-untyped]

from engine.cards import ALPHABET, BID, CARD, CARDS, NOTATION
from engine.match import Match
from engine.rules import PRESETS, RuleSet

BIDS: Final = ALPHABET
KINDS: Final = sorted(set(CARDS.values()))
INDEX: Final = {card: index for index, card in enumerate(KINDS)}
LIMIT: Final = 2**15 - 1


class RageEnv(AECEnv):  # type: ignore[misc]
    """One match an episode. Observations are `observation` (see `observe`) and `action_mask`."""

    metadata: Final = {"name": "rage_v1", "render_modes": ["ansi"], "is_parallelizable": False}

    def __init__(
        self, rules: RuleSet = PRESETS["fundex"], players: int = 4, render_mode: str | None = None
    ) -> None:
        super().__init__()
        rules.check_players(players)
        self.rules, self.players, self.render_mode = rules, players, render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(players)]
        self.seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.moves = BIDS + max(rules.rounds(players)) + 1
        parts: dict[str, spaces.Space[Any]] = {
            "observation": spaces.Box(-LIMIT, LIMIT, (8 + 2 * len(KINDS) + 5 * players,), np.int16),
            "action_mask": spaces.Box(0, 1, (self.moves,), np.int8),
        }
        self.observation_spaces = {agent: spaces.Dict(parts) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.moves) for agent in self.possible_agents}
        self._dice = Random()  # noqa: S311 - deals of a simulation

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same for every agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Every move there is; `action_mask` tells which are legal."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new match; with a seed this match and all after it are determined."""
        if seed is not None:
            self._dice.seed(seed)
        self.match = Match(self.rules, self.players, self._dice.randbytes(32))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self._decider()

    def step(self, action: int | None) -> None:
        """Play the action of the agent to decide; raises `IllegalMove` unless its mask allows it."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        before = self.match.totals
        self._cumulative_rewards[agent] = 0.0
        move = -1 if action is None else int(action)
        bidding = self.match.round.kind == BID
        self.match.apply(move - BIDS if bidding else move)
        for each, seat in self.seats.items():
            self.rewards[each] = float(self.match.totals[seat] - before[seat])
        if self.match.over:
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
        else:
            self.agent_selection = self._decider()
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, np.ndarray[Any, Any]]:
        """What the agent may know, as numbers; seats are counted from its own.

        Eight numbers (question, round, hand size, trump, lead, card face up + 1, leader, cards in the trick),
        then how many of each card it holds, how many of each were played, and by seat: the card in the trick
        + 1, bid + 1 (0: not known), tricks taken, total, penalties.
        """
        seat, played = self.seats[agent], self.match.round
        order = [(seat + turn) % self.players for turn in range(self.players)]
        head = [played.kind, self.match.number, played.hand_size, played.pile.colour, played.lead]
        head += [played.pile.face + 1, (played.leader - seat) % self.players, len(played.trick)]
        hand, gone = [0] * len(KINDS), [0] * len(KINDS)
        for card in played.held(seat):
            hand[INDEX[card]] += 1
        for cards in (played.trick, *(trick[1] for trick in played.tricks)):
            for card in cards:
                gone[INDEX[CARD[card]]] += 1
        laid = {(played.leader + turn) % self.players: card for turn, card in enumerate(played.trick)}
        secret = self.rules.secret_bids
        bids = [0 if secret and each != seat else played.bids[each] + 1 for each in order]
        columns = [laid.get(each, -1) + 1 for each in order], bids, [played.taken[each] for each in order]
        money = [self.match.totals[each] for each in order], [played.penalties[each] for each in order]
        numbers = [*head, *hand, *gone, *(number for column in (*columns, *money) for number in column)]
        mask = np.zeros(self.moves, np.int8)
        if agent == self.agent_selection and not self.match.over:
            offset = BIDS if played.kind == BID else 0
            mask[[offset + move for move in self.match.legal()]] = 1
        return {"observation": np.array(numbers, np.int16), "action_mask": mask}

    def render(self) -> str | None:
        """The table as a line of text."""
        played = self.match.round
        trick = " ".join(NOTATION[card] for card in played.trick)
        return f"round {self.match.number}, bids {played.bids}, taken {played.taken}, trick: {trick}"

    def close(self) -> None:
        """Nothing to close."""

    def _decider(self) -> str:
        return str(self.possible_agents[self.match.round.seat])
