"""Records: small, complete, and every tampering named."""

import copy
import json
import zlib
from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import packing, packing_v1
from engine.bots import load
from engine.errors import RecordError
from engine.match import Match
from engine.record import Record, verify
from engine.referee import settle
from engine.rules import PRESETS, RuleSet
from engine.table import LocalPlayer, play


def played(rules: RuleSet, players: int, seed: int) -> Match:
    dice = Random(seed)
    match = Match(rules, players, dice.randbytes(32))
    while not match.over:
        match.apply(dice.choice(match.legal()))
    return match


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    rules = RuleSet.parse({"preset": "fundex", "hand_sizes": [4, 3]})
    return json.loads(json.dumps(Record.of(played(rules, 3, 1), (2,)).as_json()))


@given(data=st.data(), out=st.permutations([0, 1]))
def test_a_record_comes_back_from_bytes_from_json_and_from_a_replay(data, out, games, play_out):
    match, dice = data.draw(games)
    record = Record.of(play_out(match, dice), tuple(out))
    document = json.loads(json.dumps(record.as_json()))
    assert Record.unpack(record.pack()) == record
    assert Record.from_json(document) == record
    assert Record.of(record.replay(), record.out) == record
    assert verify(document) is None
    assert verify({**document, "about": {"anything": [1]}}) is None


@given(data=st.data())
def test_each_round_of_a_document_is_a_script_for_the_referee(data, games, play_out):
    match, dice = data.draw(games)
    document = Record.of(play_out(match, dice)).as_json()
    for told in document["rounds"]:
        script = {"rules": document["rules"], "players": document["players"]}
        script |= {key: told[key] for key in ("dealer", "hands", "pile", "moves")}
        status, result = settle(script)
        assert status == 0
        assert result == {key: told[key] for key in result}


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_record_of_four_players_takes_at_most_250_bytes(preset):
    bots = [LocalPlayer.of(load(name)) for name in ("counter", "cautious", "counter", "cautious")]
    for seed in range(3):
        record = play(PRESETS[preset], bots, seed=Random(seed).randbytes(32)).record
        assert len(record.pack()) <= 250


FIRST_FORMAT = (
    (
        "UkFHRQEAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eH2NgNGTQRBJHNikjMS8lvjizKrVYySraVMcotpaFgZGRiZGZVUvyzYXbbDfi5N/K"
        "3Pa/7aN3w/Ct9W0ns9tnb4jdsI+8oXCb7wYjEyOjrP0N6xscNyw93sTcOH8DAA==",
        "020103052a19d7d8d0d7d7d706d85e1fd7d7d81cd7d7d74fd7d7d74c2ed831d7d7d83bd7d7d74236d7d7d7cdd816d83f59d820d7d7d70ed801"
        "0201011d3fd83bd808d83948d7d85cd8cfd8",
    ),
    (
        "UkFHRQEAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eH2NgNGRQwRTXUcpIzEuJL86sSi1Wsoo2jq1lYmBkZGJ08DLRso0DAA==",
        "0201404a342a3d5e",
    ),
)


@pytest.mark.parametrize(("stored", "moves"), FIRST_FORMAT)
def test_records_stored_in_the_first_format_can_still_be_read(stored, moves):
    record = Record.unpack(b64decode(stored))
    assert (record.seed, record.moves.hex(), record.out) == (bytes(range(32)), moves, (1,))
    assert record.replay().over
    assert Record.unpack(record.pack()) == record


def test_what_is_no_whole_match_cannot_be_packed():
    record = Record.of(played(PRESETS["challenge"], 4, 5))
    for moves in (b"", record.moves[:-1], record.moves + bytes([1]), bytes([99]) + record.moves[1:]):
        with pytest.raises(RecordError, match="moves"):
            replace(record, moves=moves).pack()


TAMPERED: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda d: d.update(seed=bytes(32).hex()), "rounds[0].hands[0]"),
    (lambda d: d.update(seed="xyz"), "seed"),
    (lambda d: d.update(seed=d["seed"].upper()), "seed"),
    (lambda d: d.update(seed=None), "seed"),
    (lambda d: d.pop("players"), "players"),
    (lambda d: d.update(players=9), "players"),
    (lambda d: d.update(players=None), "players"),
    (lambda d: d.update(rules={"preset": "fundex", "wild": 1}), "rules.wild"),
    (lambda d: d.update(rules=7), "rules"),
    (lambda d: d.update(format="chess"), "format"),
    (lambda d: d.update(version=2), "version"),
    (lambda d: d.update(version=True), "version"),
    (lambda d: d.update(engine="0"), "engine"),
    (lambda d: d.update(engine=1), "engine"),
    (lambda d: d.update(out=[1, 1]), "out"),
    (lambda d: d.update(out=[3]), "out"),
    (lambda d: d.update(out=[]), "places"),
    (lambda d: d.update(rounds={}), "rounds"),
    (lambda d: d["rounds"].pop(), "rounds"),
    (lambda d: d["rounds"].append(copy.deepcopy(d["rounds"][0])), "rounds[2]"),
    (lambda d: d["rounds"].append(7), "rounds[2]"),
    (lambda d: d["rounds"].reverse(), "rounds[0].round"),
    (lambda d: d["rounds"][1]["hands"][2].reverse(), "rounds[1].hands[2]"),
    (lambda d: d["rounds"][0]["pile"].pop(), "rounds[0].pile"),
    (lambda d: d["rounds"][0].update(dealer=0), "rounds[0].dealer"),
    (lambda d: d["rounds"][1].update(trump_card=None), "rounds[1].trump_card"),
    (lambda d: d["rounds"][0].pop("moves"), "rounds[0].moves"),
    (lambda d: d["rounds"][0]["moves"].pop(), "rounds[0].moves"),
    (lambda d: d["rounds"][0]["moves"].append("R1"), "rounds[0].moves"),
    (lambda d: d["rounds"][0]["moves"].__setitem__(0, 9), "rounds[0].moves[0]"),
    (lambda d: d["rounds"][0]["moves"].__setitem__(0, False), "rounds[0].moves[0]"),
    (lambda d: d["rounds"][0]["moves"].__setitem__(0, 1.0), "rounds[0].moves[0]"),
    (lambda d: d["rounds"][0]["moves"].__setitem__(4, "X1"), "rounds[0].moves[4]"),
    (lambda d: d["rounds"][0]["points"].__setitem__(1, 99), "rounds[0].points[1]"),
    (lambda d: d["rounds"][1]["tricks"][1].update(winner=7), "rounds[1].tricks[1].winner"),
    (lambda d: d["rounds"][1]["tricks"].pop(), "rounds[1].tricks"),
    (lambda d: d["rounds"][1]["taken"].__setitem__(0, 0.0), "rounds[1].taken"),
    (lambda d: d["rounds"][1].update(note="x"), "rounds[1].note"),
    (lambda d: d["scores"].__setitem__(0, 1000), "scores[0]"),
    (lambda d: d["scores"].append(0), "scores"),
    (lambda d: d["scores"].__setitem__(0, float(d["scores"][0])), "scores[0]"),
    (lambda d: d["exact_bids"].__setitem__(2, 60), "exact_bids[2]"),
    (lambda d: d.pop("places"), "places"),
    (lambda d: d.update(winner=1), "winner"),
]


@pytest.mark.parametrize(("tamper", "path"), TAMPERED, ids=[f"{i}-{p}" for i, (_, p) in enumerate(TAMPERED)])
def test_whatever_is_changed_in_a_document_is_named(document, tamper, path):
    changed = copy.deepcopy(document)
    tamper(changed)
    found = verify(changed)
    assert found is not None
    assert found.startswith(path)


def at(document: Any, path: Sequence[Any], value: Any) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


IN_ORDER = [  # what is wrong, in the order of play, and how it is named
    (("rounds", 0, "hands", 1, 0), "X1", "rounds[0].hands[1][0]"),
    (("rounds", 0, "moves", 1), [], "rounds[0].moves[1]: [] is no move"),
    (("rounds", 0, "moves", 4), "X1", "rounds[0].moves[4]: 'X1' is no move"),
    (("rounds", 0, "points", 0), 99, "rounds[0].points[0]"),
    (("rounds", 1, "dealer"), 9, "rounds[1].dealer"),
    (("rounds", 1, "moves"), None, "rounds[1].moves: must be a list"),
    (("scores", 0), 999, "scores[0]"),
]


@pytest.mark.parametrize("first", range(len(IN_ORDER)))
def test_of_all_that_is_wrong_the_first_in_the_order_of_play_is_named(document, first):
    changed = copy.deepcopy(document)
    for path, value, _ in IN_ORDER[first:]:
        at(changed, path, value)
    assert str(verify(changed)).startswith(IN_ORDER[first][2])


@pytest.mark.parametrize("document", [None, [], "record", 7])
def test_what_is_no_object_is_no_record(document):
    assert verify(document) is not None


def test_an_exchanged_pair_of_legal_moves_is_found(document):
    changed = copy.deepcopy(document)
    moves = changed["rounds"][0]["moves"]
    moves[0] = (moves[0] + 1) % 5
    assert verify(changed).startswith("rounds[0].bids")


def test_damaged_bytes_are_refused():
    packed = Record.of(played(PRESETS["challenge"], 4, 5)).pack()
    for wrong in (b"", b"RAGE", b"GAME" + packed[4:], packed[:20], packed[:-3], packed + b"x", packed[:99]):
        with pytest.raises(RecordError):
            Record.unpack(wrong)


def sized(part: bytes) -> bytes:
    return len(part).to_bytes(2, "big") + part


def squeezed(*parts: bytes) -> bytes:
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zdict=packing._FAMILIAR)
    return squeeze.compress(b"".join(parts)) + squeeze.flush()


def head(rules: bytes = b'{"preset":"fundex"}', out: bytes = b"", more: bytes = b"") -> bytes:
    return squeezed(sized(b"0.1.0"), sized(rules), bytes([3]), sized(out), more)


def signed(head: bytes, number: bytes) -> bytes:
    """A packed record whose checksum is right."""
    body = bytes(32) + sized(head) + number
    return packing.MAGIC + zlib.crc32(body).to_bytes(4, "big") + body


def number_of(record: Record) -> bytes:
    body = record.pack()[len(packing.MAGIC) + 4 + 32 :]
    return packing.cut(body)[1]


@pytest.fixture(scope="module")
def number() -> bytes:
    """The decisions of a match under `head()`."""
    match, dice = Match(PRESETS["fundex"], 3, bytes(32)), Random(1)
    while not match.over:
        match.apply(dice.choice(match.legal()))
    return number_of(Record.of(match))


NESTED = b"[" * 60_000

HOSTILE: list[tuple[bytes, Callable[[bytes], bytes], str]] = [
    (head(), lambda number: b"\0" + number, "damaged"),
    (head(), lambda number: b"\x01" + number, "damaged"),
    (head(), lambda number: b"\x01" * 5_000, "damaged"),
    (head(more=b"x"), lambda number: number, "damaged"),
    (head(rules=NESTED), lambda number: number, "damaged"),
    (head(out=b"\x03"), lambda number: number, "out"),
    (head(out=b"\x01\x01"), lambda number: number, "out"),
    (head(rules=b'{"preset":"amigo","teams":"2+2"}'), lambda number: number, "rules.teams"),
]


@pytest.mark.parametrize(("head", "change", "told"), HOSTILE, ids=range(len(HOSTILE)))
def test_bytes_with_a_right_checksum_are_refused_for_what_they_say(head, change, told, number):
    with pytest.raises(RecordError, match=told):
        Record.unpack(signed(head, change(number)))


def test_the_number_of_a_record_is_bounded_before_it_is_read(number, monkeypatch):
    assert Record.unpack(signed(head(), number)).replay().over
    monkeypatch.setattr(packing, "_Reader", None)
    with pytest.raises(RecordError, match="damaged"):
        Record.unpack(signed(head(), b"\x01" * 1_000_000))


@given(data=st.data())
def test_no_match_needs_more_bytes_than_are_read(data, games, play_out):
    match, dice = data.draw(games)
    assert len(number_of(Record.of(play_out(match, dice)))) <= packing._most(match.law)


@pytest.mark.parametrize(
    ("rules", "moves", "told"),
    [
        (NESTED, b"", "damaged"),
        (b'{"preset":"fundex"}', b"\x01" * 500, "damaged"),
        (b'{"preset":"challenge"}', bytes([packing_v1._CHALLENGED + 9]) * 100_000, "damaged"),
    ],
    ids=["nested", "many", "runs"],
)
def test_hostile_bytes_of_the_first_format_are_refused(rules, moves, told):
    with pytest.raises(RecordError, match=told):
        Record.unpack(packing_v1.MAGIC + bytes(32) + head(rules=rules, more=moves))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"engine": "\ud800"}, "engine"),
        ({"engine": "1" * 70_000}, "engine"),
        ({"players": 300}, "players"),
        ({"seed": b"short"}, "seed"),
        ({"out": (300,)}, "out"),
        ({"out": (3,)}, "out"),
        ({"moves": b""}, "moves"),
    ],
)
def test_what_cannot_be_packed_is_told_by_its_field(change, field):
    record = Record.of(played(RuleSet.parse({"preset": "fundex", "hand_sizes": [2]}), 3, 1))
    with pytest.raises(RecordError) as refused:
        replace(record, **change).pack()
    assert refused.value.field == field


def test_a_record_cut_short_or_with_an_illegal_move_is_not_replayed():
    record = Record.of(played(PRESETS["korean"], 4, 5))
    short = Record(record.engine, record.rules, 4, record.seed, record.moves[:-3])
    with pytest.raises(RecordError, match="not over"):
        short.replay()
    wrong = Record(record.engine, record.rules, 4, record.seed, bytes([99]) + record.moves[1:])
    with pytest.raises(RecordError, match=r"rounds\[0\]\.moves\[0\]"):
        wrong.replay()
    long = Record(record.engine, record.rules, 4, record.seed, record.moves + bytes([1]))
    with pytest.raises(RecordError):
        long.replay()
