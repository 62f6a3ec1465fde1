"""The deal: reproducible from its description alone, and nothing lost in it."""

import hashlib
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine.deal as deal_module
from engine.cards import FIRST_WILD, NOTATION
from engine.deal import deal, shuffle
from engine.rules import PRESETS

SEED = bytes(range(32))


def by_the_description(seed: bytes, number: int, cards: list[int]) -> list[int]:
    """The shuffle as README.md tells it, byte by byte."""
    stream = hashlib.shake_256(seed + number.to_bytes(4, "big")).digest(1 << 15)
    size, order = len(cards), []
    for byte in stream:
        if byte < 256 // size * size and byte % size not in order:
            order.append(byte % size)
    assert len(order) == size
    return [cards[index] for index in order]


@given(
    seed=st.binary(min_size=32, max_size=32),
    number=st.integers(1, 60),
    preset=st.sampled_from(sorted(PRESETS)),
)
def test_the_shuffle_is_as_described(seed, number, preset):
    deck = PRESETS[preset].deck
    assert list(shuffle(seed, number, deck)) == by_the_description(seed, number, list(deck.cards()))


@given(data=st.data(), seed=st.binary(min_size=32, max_size=32))
def test_a_deal_is_the_whole_deck_once(data, seed, rule_sets):
    rules, players = data.draw(rule_sets)
    dealt = deal(seed, 1, rules, players)
    assert {len(hand) for hand in dealt.hands} == {rules.rounds(players)[0]}
    together = Counter(sum(dealt.hands, dealt.pile))
    assert together == Counter(rules.deck.cards())


README = Path(deal_module.__file__).with_name("README.md").read_text(encoding="utf-8")
VECTORS = re.findall(
    r"^\| ([0-9a-f]{64}) \| (\d+) \| (\w+) \| (.+) \| ([0-9a-f]{16}) \|$", README, re.MULTILINE
)


def test_the_readme_has_vectors():
    assert len(VECTORS) == 12


@pytest.mark.parametrize(("seed", "number", "preset", "begins", "digest"), VECTORS)
def test_the_vectors_in_the_readme_hold(seed, number, preset, begins, digest):
    deck = shuffle(bytes.fromhex(seed), int(number), PRESETS[preset].deck)
    cards = " ".join(NOTATION[card] for card in deck)
    assert cards.startswith(begins + " ")
    assert hashlib.sha256(cards.encode()).hexdigest().startswith(digest)


def test_rounds_and_seeds_deal_differently():
    deck = PRESETS["fundex"].deck
    decks = {shuffle(SEED, number, deck) for number in range(1, 11)} | {shuffle(bytes(32), 1, deck)}
    assert len(decks) == 11


def test_the_number_cards_of_a_pile_are_known_before_its_order():
    for number in range(1, 11):
        dealt = deal(bytes(32), number, PRESETS["fundex"], 4)
        numbers = dealt.numbers
        assert list(numbers) == sorted(card for card in dealt.pile if card < FIRST_WILD)
