"""The stored form of a record: a head, and all decisions as one large number.

Who holds what follows from seed and rules. So a card is told by its place among the dealt cards of its round
that were not played before, a bid by itself, and what is asked after a card by which of the possible answers
were given. Each is a digit, its base the number of possibilities; together they are a number of mixed radix,
the first digit lowest. No rule of play is needed to write or to read it.
"""

import json
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from engine.cards import CARD, CHANGE, FIRST_COLOUR, NO, WILD, YES
from engine.deal import SEED_BYTES
from engine.document import misruled, read_out
from engine.errors import RecordError, RulesError
from engine.law import Law, law
from engine.rules import RuleSet
from engine.switches import Change

MAGIC: Final = b"RAGE\x02"
_FAMILIAR: Final = b'"challenge","korean","wikipedia","amigo"{"preset":"fundex"}'  # primes the compressor
_LARGEST: Final = 1 << 20
_LONGEST_VERSION: Final = 200
_CHECKED: Final = len(MAGIC) + 4  # a checksum follows the magic word

_COLOURS: Final = range(FIRST_COLOUR, NO)
_ANSWERS: Final = (NO, YES)

Parts = tuple[str, RuleSet, int, bytes, bytes, tuple[int, ...]]
"""Engine version, rules, number of players, seed, moves, seats that went out."""


def pack(parts: Parts) -> bytes:
    """The stored form; raises `RecordError`, as it does unless the moves are those of a whole match."""
    engine, rules, players, seed, moves, out = parts
    if len(seed) != SEED_BYTES:
        raise RecordError("seed", f"must be {SEED_BYTES} bytes")
    head = _head(engine, rules, players, out)
    try:
        writer = _Writer(moves)
        _follow(writer, law(rules, players), seed)
        body = seed + head + writer.number()
    except (IndexError, ValueError):
        raise RecordError("moves", "are not those of a whole match") from None
    return MAGIC + zlib.crc32(body).to_bytes(4, "big") + body


def unpack(packed: bytes) -> Parts:
    """What was packed; raises `RecordError`, `IndexError`, `ValueError`, `RecursionError` or `zlib.error`."""
    body = packed[_CHECKED:]
    if zlib.crc32(body).to_bytes(4, "big") != packed[len(MAGIC) : _CHECKED]:
        raise RecordError("format", "the packed record is damaged")
    seed, rest = body[:SEED_BYTES], body[SEED_BYTES:]
    squeezed, number = cut(rest)
    engine, rules, players, out, more = read_head(loosened(squeezed))
    ruled = law(rules, players)
    if more or number[:1] == b"\0" or len(number) > _most(ruled):
        raise ValueError("longer than it should be")
    reader = _Reader(number)
    _follow(reader, ruled, seed)
    if reader.number:
        raise ValueError("more decisions than a match has")
    return engine, rules, players, seed, bytes(reader.moves), out


@lru_cache(maxsize=256)
def _head(engine: str, rules: RuleSet, players: int, out: tuple[int, ...]) -> bytes:
    try:
        rules.check_players(players)
    except RulesError as wrong:
        raise misruled(wrong) from None
    read_out({"out": out}, players)
    version = engine.encode(errors="replace")
    if len(version) > _LONGEST_VERSION or version.decode() != engine:
        raise RecordError("engine", f"must be at most {_LONGEST_VERSION} bytes of UTF-8")
    spec = json.dumps(rules.spec(), separators=(",", ":")).encode()
    parts = (_sized(version), _sized(spec), bytes([players]), _sized(bytes(out)))
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zdict=_FAMILIAR)
    return _sized(squeeze.compress(b"".join(parts)) + squeeze.flush())


def read_head(head: bytes) -> tuple[str, RuleSet, int, tuple[int, ...], bytes]:
    """Engine version, rules, players, seats that went out, and what comes after them."""
    engine, rest = cut(head)
    spec, rest = cut(rest)
    players = rest[0]
    out, rest = cut(rest[1:])
    try:
        rules = RuleSet.parse(json.loads(spec), players)
    except RulesError as wrong:
        raise misruled(wrong) from None
    return engine.decode(), rules, players, read_out({"out": tuple(out)}, players), rest


def _most(law: Law) -> int:
    """No number is longer, in bytes: eight bits for a place, seven for a call, five to ask for a colour, one
    for each who may challenge; bids are as many as players, and small. It bounds what a number costs to read.
    """
    bits = sum(law.players * (8 + size * (20 + law.players)) for size in law.rounds)
    return bits // 8 + 1


def loosened(squeezed: bytes) -> bytes:
    """What was compressed; raises `ValueError` or `zlib.error`."""
    loosen = zlib.decompressobj(-15, zdict=_FAMILIAR)
    loose = loosen.decompress(squeezed, _LARGEST)
    if not loosen.eof or loosen.unused_data:
        raise ValueError("cut short, or longer than it should be")
    return loose


def _sized(part: bytes) -> bytes:
    return len(part).to_bytes(2, "big") + part


def cut(packed: bytes) -> tuple[bytes, bytes]:
    """A part that follows its size, and the rest; raises `ValueError`."""
    end = 2 + int.from_bytes(packed[:2], "big")
    if len(packed) < end:
        raise ValueError("too short")
    return packed[2:end], packed[end:]


class _Coder:
    """Goes through the decisions of a match: tells them to who writes, or finds them for who reads.

    No protocol, for of a class's methods compiled callers know the address.
    """

    def one_of(self, options: Sequence[int]) -> int:
        """A decision."""
        raise NotImplementedError

    def perhaps(self, options: Sequence[int]) -> int:
        """A decision that need not have been asked for; -1 if it was not."""
        raise NotImplementedError

    def card(self, left: list[int]) -> int:
        """Which of these cards is played, and left no more. How a Wild is called is a decision of its own."""
        raise NotImplementedError


class _Writer(_Coder):
    """Makes digits of moves."""

    def __init__(self, moves: bytes) -> None:
        self.moves, self.at = moves, 0
        self.digits: list[tuple[int, int]] = []

    def one_of(self, options: Sequence[int]) -> int:
        move = self.moves[self.at]
        self.at += 1
        self.digits.append((options.index(move), len(options)))
        return move

    def perhaps(self, options: Sequence[int]) -> int:
        asked = self.at < len(self.moves) and self.moves[self.at] in options
        self.digits.append((asked, 2))
        return self.one_of(options) if asked else -1

    def card(self, left: list[int]) -> int:
        card = CARD[self.moves[self.at]]
        if card != WILD:
            self.at += 1
        place = left.index(card)
        self.digits.append((place, len(left)))
        return left.pop(place)

    def number(self) -> bytes:
        """All digits, the first lowest; raises `ValueError` if moves are left."""
        if self.at < len(self.moves):
            raise ValueError("more moves than a match has")
        number = 0
        for digit, base in reversed(self.digits):
            number = number * base + digit
        return number.to_bytes((number.bit_length() + 7) // 8, "big")


class _Reader(_Coder):
    """Makes moves of digits."""

    def __init__(self, number: bytes) -> None:
        self.number = int.from_bytes(number, "big")
        self.moves = bytearray()

    def one_of(self, options: Sequence[int]) -> int:
        move = options[self._digit(len(options))]
        self.moves.append(move)
        return move

    def perhaps(self, options: Sequence[int]) -> int:
        return self.one_of(options) if self._digit(2) else -1

    def card(self, left: list[int]) -> int:
        card = left.pop(self._digit(len(left)))
        if card != WILD:
            self.moves.append(card)
        return card

    def _digit(self, base: int) -> int:
        self.number, digit = divmod(self.number, base)
        return digit


def _follow(coder: _Coder, law: Law, seed: bytes) -> None:
    """All decisions of a match, in order."""
    calls, chosen, asked = [*law.actions.calls, WILD], law.rules.change is not Change.TURN, not law.forced
    for number, size in enumerate(law.rounds, start=1):
        left = law.shuffler.deal(seed, number, size, law.players).held
        for _ in range(law.players):
            coder.one_of(law.bids[size])
        while left:
            card = coder.card(left)
            if card == WILD:
                coder.one_of(calls)
            elif card == CHANGE and chosen:
                coder.perhaps(_COLOURS)
            if asked:
                _follow_answers(coder, law.players - 1)


def _follow_answers(coder: _Coder, others: int) -> None:
    """What the others said to a challenge, up to the first who made it."""
    answer = coder.perhaps(_ANSWERS)
    while answer == NO and others > 1:
        answer = coder.one_of(_ANSWERS)
        others -= 1
