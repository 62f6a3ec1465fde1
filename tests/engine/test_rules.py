"""Rule sets: what each is, how it is varied, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import RulesError
from engine.rules import PRESETS, RuleSet

TABLE = {  # in the order of the assertion below
    "fundex": (
        (2, 8),
        (2, 2, 2, 4, 4),
        110,
        "stays",
        "search",
        False,
        "round",
        "highest",
        "first",
        (10, 5, 0),
    ),
    "wikipedia": (
        (2, 6),
        (2, 2, 2, 4, 4),
        110,
        "leaves",
        "name",
        False,
        "round",
        "highest",
        "first",
        (10, 5, 0),
    ),
    "challenge": (
        (2, 11),
        (2, 2, 2, 3, 3),
        108,
        "bottom",
        "turn",
        False,
        "round",
        "named",
        "refused",
        (10, 10, -5),
    ),
    "korean": (
        (3, 8),
        (2, 2, 2, 2, 4),
        108,
        "bottom",
        "search",
        False,
        "round",
        "highest",
        "last",
        (10, 5, 0),
    ),
    "amigo": (
        (2, 8),
        (2, 3, 3, 4, 4),
        112,
        "bottom",
        "turn",
        True,
        "trick",
        "highest",
        "first",
        (10, 10, -5),
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_each_published_rule_set_is_as_its_source_has_it(name):
    rules = PRESETS[name]
    deck, points = rules.deck, rules.bid_points
    assert (
        (rules.min_players, rules.max_players),
        (deck.wild, deck.bonus, deck.mad, deck.change, deck.out),
        deck.size,
        rules.turned,
        rules.change,
        rules.turn_passes_over,
        rules.out,
        rules.wild_rank,
        rules.wild_pair,
        (points.exact, points.zero, points.missed),
    ) == TABLE[name]
    assert rules.hand_sizes == (10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
    assert rules.teams is None


def test_equal_totals_and_suits_are_judged_by_rule_set():
    assert {n for n, r in PRESETS.items() if r.tie_break == "exact_bids"} == {"fundex", "korean", "amigo"}
    assert {n for n, r in PRESETS.items() if r.suit == "renege"} == {"challenge"}


REFUSED = [
    ({}, None, "preset"),
    ({"preset": None}, None, "preset"),
    ({"preset": ["fundex"]}, None, "preset"),
    ({"preset": "Fundex"}, None, "preset"),
    ({"preset": "fundex", "colour": "red"}, None, "colour"),
    ({"preset": "fundex", "name": "fundex"}, None, "name"),
    ({"preset": "fundex", "secret_bids": 1}, None, "secret_bids"),
    ({"preset": "fundex", "action_any_time": None}, None, "action_any_time"),
    ({"preset": "fundex", "sweep_double": "true"}, None, "sweep_double"),
    ({"preset": "fundex", "scoring": "STRICT"}, None, "scoring"),
    ({"preset": "fundex", "scoring": None}, None, "scoring"),
    ({"preset": "fundex", "change": "turns"}, None, "change"),
    ({"preset": "fundex", "change": ["turn"]}, None, "change"),
    ({"preset": "fundex", "hand_sizes": []}, None, "hand_sizes"),
    ({"preset": "fundex", "hand_sizes": [1] * 61}, None, "hand_sizes"),
    ({"preset": "fundex", "hand_sizes": [3, 0]}, None, "hand_sizes"),
    ({"preset": "fundex", "hand_sizes": [3.0]}, None, "hand_sizes"),
    ({"preset": "fundex", "hand_sizes": [True]}, None, "hand_sizes"),
    ({"preset": "fundex", "hand_sizes": 10}, None, "hand_sizes"),
    ({"preset": "fundex", "hand_sizes": "123"}, None, "hand_sizes"),
    ({"preset": "fundex", "hand_sizes": None}, None, "hand_sizes"),
    ({"preset": "fundex", "deck": {"wild": 9}}, None, "deck"),
    ({"preset": "fundex", "deck": {"wild": -1}}, None, "deck"),
    ({"preset": "fundex", "deck": {"wild": True}}, None, "deck"),
    ({"preset": "fundex", "deck": {"wild": None}}, None, "deck"),
    ({"preset": "fundex", "deck": {"joker": 1}}, None, "deck"),
    ({"preset": "fundex", "deck": [2, 2, 2, 4, 4]}, None, "deck"),
    ({"preset": "fundex", "teams": None}, None, "teams"),
    ({"preset": "fundex", "teams": "4+4"}, None, "teams"),
    ({"preset": "fundex", "teams": "2+2"}, 5, "teams"),
    ({"preset": "fundex", "teams": "3+3"}, 4, "teams"),
    ({"preset": "fundex"}, 9, "players"),
    ({"preset": "fundex"}, 1, "players"),
    ({"preset": "fundex"}, 4.0, "players"),
    ({"preset": "fundex"}, True, "players"),
    ({"preset": "korean"}, 2, "players"),
    ({"preset": "wikipedia"}, 7, "players"),
    ({"preset": "challenge"}, 12, "players"),
    ("fundex", None, "rules"),
    (None, None, "rules"),
]


@pytest.mark.parametrize(("spec", "players", "field"), REFUSED)
def test_a_bad_rule_set_is_refused_by_the_name_of_its_field(spec, players, field):
    with pytest.raises(RulesError) as refused:
        RuleSet.parse(spec, players)
    assert refused.value.field == field
    assert refused.value.reason


@given(data=st.data())
def test_a_spec_is_canonical_and_parses_to_the_same_rules(data, rule_sets):
    rules, players = data.draw(rule_sets)
    spec = json.loads(json.dumps(rules.spec()))
    assert RuleSet.parse(spec, players) == rules
    assert RuleSet.parse(rules.as_dict()["spec"]) == rules
    assert RuleSet.parse(spec).spec() == spec
    json.dumps(rules.as_dict())


def test_a_switch_that_says_what_the_preset_says_changes_nothing():
    same = {
        "preset": "amigo",
        "change": "turn",
        "scoring": "strict",
        "deck": {"out": 4},
        "secret_bids": False,
    }
    rules = RuleSet.parse(same)
    assert rules == PRESETS["amigo"]
    assert rules.spec() == {"preset": "amigo"}
    assert rules.key() == "amigo"


def test_a_key_tells_switched_rules_apart_whatever_the_order_of_the_switches():
    one = RuleSet.parse({"preset": "fundex", "secret_bids": True, "deck": {"wild": 3}})
    two = RuleSet.parse({"deck": {"wild": 3, "out": 4}, "secret_bids": True, "preset": "fundex"})
    other = RuleSet.parse({"preset": "fundex", "secret_bids": True})
    assert one.key() == two.key() != other.key() != "fundex"
    assert len(other.key()) == len("fundex-") + 8


def test_kinds_left_out_of_a_deck_keep_the_rule_sets_count():
    assert RuleSet.parse({"preset": "amigo", "deck": {"wild": 0}}).deck.as_dict() == {
        "wild": 0,
        "bonus": 3,
        "mad": 3,
        "change": 4,
        "out": 4,
    }


@pytest.mark.parametrize(
    ("preset", "players", "asked", "played"),
    [
        ("challenge", 11, [10, 9, 8], (9, 9, 8)),
        ("fundex", 8, [10, 13, 14], (10, 13, 13)),
        ("fundex", 2, [60], (55,)),
    ],
)
def test_the_deck_caps_a_hand(preset, players, asked, played):
    assert RuleSet.parse({"preset": preset, "hand_sizes": asked}).rounds(players) == played


@given(data=st.data())
def test_no_seat_is_asked_more_often_than_foretold(data, games, random_move):
    match, dice = data.draw(games)
    asked = [0] * match.players
    while not match.over:
        asked[match.round.seat] += 1
        match.advance(random_move(match, dice))
    assert max(asked) <= match.rules.decisions(match.players)
