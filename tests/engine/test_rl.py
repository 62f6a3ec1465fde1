"""The PettingZoo environment: passes the library's own test and plays what the engine plays."""

import pytest

pettingzoo_test = pytest.importorskip("pettingzoo.test", reason="needs the extra `rl`")

from engine.errors import IllegalMove  # noqa: E402
from engine.rl import BIDS, RageEnv  # noqa: E402
from engine.rules import PRESETS, RuleSet  # noqa: E402


@pytest.mark.parametrize(("preset", "players"), [("fundex", 4), ("challenge", 11), ("amigo", 2)])
@pytest.mark.filterwarnings("ignore")
def test_it_passes_the_librarys_own_test(preset, players):
    pettingzoo_test.api_test(RageEnv(PRESETS[preset], players), num_cycles=400)


@pytest.mark.filterwarnings("ignore")
def test_the_same_seed_gives_the_same_episode():
    pettingzoo_test.seed_test(RageEnv, num_cycles=50)


def test_rewards_add_up_to_the_scores_and_masks_are_the_legal_moves():
    environment = RageEnv(RuleSet.parse({"preset": "challenge", "hand_sizes": [3, 2]}), 4)
    environment.reset(seed=5)
    earned = dict.fromkeys(environment.possible_agents, 0.0)
    for agent in environment.agent_iter():
        seen, reward, over, _, _ = environment.last()
        earned[agent] += reward
        if over:
            environment.step(None)
            continue
        legal = [int(action) for action in seen["action_mask"].nonzero()[0]]
        bidding = environment.match.round.kind == 0
        assert legal == [move + BIDS * bidding for move in environment.match.legal()]
        environment.step(legal[-1])
    assert tuple(earned.values()) == environment.match.scores()


def test_an_action_that_is_not_legal_is_refused():
    environment = RageEnv()
    environment.reset(seed=1)
    with pytest.raises(IllegalMove):
        environment.step(0)
