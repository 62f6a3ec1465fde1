"""The deal: reproducible from its description alone, and nothing lost in it."""

import hashlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import NOTATION
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
    together = Counter(b"".join(dealt.hands) + dealt.pile)
    assert together == Counter(rules.deck.cards())


VECTORS = [
    ("fundex", 1, "P14 Y10 B0 G13 B10 G4 P9 Y12 O13 O7 CHANGE Y0"),
    ("fundex", 2, "R8 G9 O11 B8 P10 G15 G11 MAD R4 O12 P3 G8"),
    ("challenge", 1, "P14 Y10 B2 G15 B12 G6 P9 Y14 O15 O9 OUT Y0"),
    ("amigo", 10, "R6 O7 G8 R10 G9 P4 CHANGE MAD Y5 Y12 P10 G3"),
]


@pytest.mark.parametrize(("preset", "number", "first"), VECTORS)
def test_the_vectors_in_the_readme_hold(preset, number, first):
    deck = shuffle(SEED, number, PRESETS[preset].deck)
    assert " ".join(NOTATION[card] for card in deck[:12]) == first


def test_rounds_and_seeds_deal_differently():
    deck = PRESETS["fundex"].deck
    decks = {shuffle(SEED, number, deck) for number in range(1, 11)} | {shuffle(bytes(32), 1, deck)}
    assert len(decks) == 11
