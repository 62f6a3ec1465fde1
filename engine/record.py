"""A finished match, written once: seed and moves. All else is computed from them again.

Packed it is a few hundred bytes. As JSON (see `document`) it is written out in full, for people and for
other programs; `verify` deals and plays such a document again.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from engine import VERSION, document, packing, packing_v1
from engine.errors import IllegalMove, RecordError
from engine.match import Match
from engine.rules import RuleSet

_FORMATS: Final = {packing.MAGIC: packing.unpack, packing_v1.MAGIC: packing_v1.unpack}


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
        """The stored form (see `packing`); raises `RecordError` unless the match is over."""
        return packing.pack((self.engine, self.rules, self.players, self.seed, self.moves, self.out))

    @classmethod
    def unpack(cls, packed: bytes) -> "Record":
        """The record in its stored form, of this or an older format; raises `RecordError`."""
        unpack = _FORMATS.get(packed[: len(packing.MAGIC)])
        if unpack is None:
            raise RecordError("format", "not a packed record of a known version")
        try:
            return cls(*unpack(packed))
        except (IndexError, ValueError, RecursionError, zlib.error):
            raise RecordError("format", "the packed record is damaged") from None

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
        return replace(_head(told), moves=document.read_moves(told))


def _head(told: Mapping[str, Any]) -> Record:
    """The record in a document but for its moves."""
    document.check_head(told)
    rules, players = document.read_rules(told)
    seed, out = document.read_seed(told), document.read_out(told, players)
    return Record(told["engine"], rules, players, seed, b"", out)


def verify(told: Mapping[str, Any]) -> str | None:
    """None if all in a document is as the rules have it, else the first discrepancy, named by its path.

    First in the order of play: a round is read when all before it is right. A key `about` is free and not
    looked at.
    """
    try:
        record = _head(told)
        if record.engine != VERSION:
            return f"engine: {record.engine!r:.20} recorded, this is {VERSION!r}"
        match = Match(record.rules, record.players, record.seed)
        return document.first_discrepancy(told, match, record.out)
    except RecordError as wrong:
        return str(wrong)
