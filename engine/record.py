"""A finished match, written once: seed and moves. All else is computed from them again.

Packed it is a few hundred bytes. As JSON (see `document`) it is written out in full, for people and for
other programs; `verify` deals and plays such a document again.
"""

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine import VERSION, document
from engine.cards import NO, YES
from engine.deal import SEED_BYTES
from engine.errors import IllegalMove, RecordError, RulesError
from engine.match import Match
from engine.rules import RuleSet

_MAGIC: Final = b"RAGE\x01"
_FAMILIAR: Final = b'"challenge","korean","wikipedia","amigo"{"preset":"fundex"}'  # primes the compressor
_LARGEST: Final = 1 << 20
_REFUSED: Final = NO + 2  # bytes from here up are no moves: so many refusals to challenge in a row
_CHALLENGED: Final = (
    _REFUSED + 19
)  # from here up: so many refusals, then a challenge; at most ten are ever asked
_ANSWERS: Final = re.compile(bytes([NO]) + b"{1,19}" + bytes([YES]) + b"?")


@dataclass(frozen=True, slots=True)
class Record:
    """A match that is over. `moves` is every decision as asked, one byte each; `out` is as in `Outcome`."""

    engine: str
    rules: RuleSet
    players: int
    seed: bytes
    moves: bytes
    out: tuple[int, ...] = ()

    @classmethod
    def of(cls, match: Match, out: tuple[int, ...] = ()) -> "Record":
        """The record of a match that is over."""
        return cls(VERSION, match.rules, match.players, match.seed, match.moves, out)

    def replay(self) -> Match:
        """The match, played again; raises `RecordError` at a move that is not legal, or if it is not over."""
        match = Match(self.rules, self.players, self.seed)
        for move in self.moves:
            try:
                match.apply(move)
            except IllegalMove as refusal:
                path = f"rounds[{match.number - 1}].moves[{len(match.round.moves)}]"
                raise RecordError(path, str(refusal)) from None
        if not match.over:
            raise RecordError("rounds", "the match is not over")
        return match

    def pack(self) -> bytes:
        """The stored form: seed, then all else compressed, answers to one card in one byte."""
        rules = json.dumps(self.rules.spec(), separators=(",", ":")).encode()
        parts = (_sized(self.engine.encode()), _sized(rules), bytes([self.players]), _sized(bytes(self.out)))
        squeeze = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_FILTERED, zdict=_FAMILIAR)
        body = squeeze.compress(b"".join((*parts, _fold_answers(self.moves)))) + squeeze.flush()
        return _MAGIC + self.seed + body

    @classmethod
    def unpack(cls, packed: bytes) -> "Record":
        """The record in its stored form; raises `RecordError`."""
        if not packed.startswith(_MAGIC):
            raise RecordError("format", "not a packed record of a known version")
        try:
            return cls._unpacked(packed[len(_MAGIC) :])
        except RulesError as wrong:
            raise RecordError(f"rules.{wrong.field}", wrong.reason) from None
        except (IndexError, ValueError, zlib.error):
            raise RecordError("format", "the packed record is damaged") from None

    @classmethod
    def _unpacked(cls, packed: bytes) -> "Record":
        seed, body = packed[:SEED_BYTES], packed[SEED_BYTES:]
        loosen = zlib.decompressobj(-15, zdict=_FAMILIAR)
        engine, rest = _cut(loosen.decompress(body, _LARGEST))
        if not loosen.eof or loosen.unused_data:
            raise ValueError("cut short, or longer than it should be")
        spec, rest = _cut(rest)
        players = rest[0]
        out, moves = _cut(rest[1:])
        rules = RuleSet.parse(json.loads(spec), players)
        return cls(engine.decode(), rules, players, seed, _unfold_answers(moves), tuple(out))

    def as_json(self) -> dict[str, Any]:
        """Everything about the match: deals, decisions, tricks, points, places."""
        match = self.replay()
        head = {
            "format": document.FORMAT,
            "version": document.FORMAT_VERSION,
            "engine": self.engine,
            "rules": self.rules.spec(),
            "players": self.players,
            "seed": self.seed.hex(),
        }
        result = document.result_as_dict(match, self.out)
        return {**head, **result, "out": list(self.out), **document.match_as_dict(match)}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> "Record":
        """The record in a document; what can be computed is not read. Raises `RecordError`."""
        document.check_head(told)
        rules, players = document.read_rules(told)
        seed, out = document.read_seed(told), document.read_out(told, players)
        return cls(told["engine"], rules, players, seed, document.read_moves(told), out)


def verify(told: Mapping[str, Any]) -> str | None:
    """None if all in a document is as the rules have it, else the first discrepancy, named by its path.

    A key `about` is free and not looked at.
    """
    try:
        record = Record.from_json(told)
    except RecordError as wrong:
        return str(wrong)
    if record.engine != VERSION:
        return f"engine: {record.engine!r:.20} recorded, this is {VERSION!r}"
    match = Match(record.rules, record.players, record.seed)
    return document.first_discrepancy(told, match, record.out)


def _sized(part: bytes) -> bytes:
    return len(part).to_bytes(2, "big") + part


def _cut(packed: bytes) -> tuple[bytes, bytes]:
    end = 2 + int.from_bytes(packed[:2], "big")
    if len(packed) < end:
        raise ValueError("too short")
    return packed[2:end], packed[end:]


def _fold_answers(moves: bytes) -> bytes:
    def folded(run: re.Match[bytes]) -> bytes:
        refusals, challenged = run[0].count(NO), run[0][-1] == YES
        return bytes([(_CHALLENGED if challenged else _REFUSED) + refusals - 1])

    return _ANSWERS.sub(folded, moves)


def _unfold_answers(packed: bytes) -> bytes:
    moves = bytearray()
    for byte in packed:
        if byte < _REFUSED:
            moves.append(byte)
        elif byte < _CHALLENGED:
            moves += bytes([NO]) * (byte - _REFUSED + 1)
        else:
            moves += bytes([NO]) * (byte - _CHALLENGED + 1) + bytes([YES])
    return bytes(moves)
