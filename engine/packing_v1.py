"""The first stored form of a record, only read any more: all after the seed compressed, a move a byte."""

from typing import Final

from engine.cards import NO, YES
from engine.deal import SEED_BYTES
from engine.packing import Parts, loosened, read_head

MAGIC: Final = b"RAGE\x01"
_REFUSED: Final = NO + 2  # bytes from here up are no moves: so many refusals to challenge in a row
_CHALLENGED: Final = _REFUSED + 19  # from here up: so many refusals, then a challenge


def unpack(packed: bytes) -> Parts:
    """What was packed; raises as `packing.unpack` does."""
    seed, squeezed = packed[len(MAGIC) :][:SEED_BYTES], packed[len(MAGIC) + SEED_BYTES :]
    engine, rules, players, out, folded = read_head(loosened(squeezed))
    moves, most = bytearray(), players * rules.decisions(players)
    for byte in folded:
        if byte < _REFUSED:
            moves.append(byte)
        elif byte < _CHALLENGED:
            moves += bytes([NO]) * (byte - _REFUSED + 1)
        else:
            moves += bytes([NO]) * (byte - _CHALLENGED + 1) + bytes([YES])
        if len(moves) > most:
            raise ValueError("more decisions than a match has")
    return engine, rules, players, seed, bytes(moves), out
