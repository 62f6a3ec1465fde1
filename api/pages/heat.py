"""A crosstable as cells with a shade: how far ahead the row was of the column, a match."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.folds import PairRow

SHADES = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """What the row's entrant did against the column's; None for both without games."""

    difference: float | None
    games: int
    wins: int
    losses: int
    ties: int
    shade: str  # up1 to up4, dn1 to dn4, or nothing


def table(entrants: Sequence[int], pairs: Sequence[PairRow]) -> list[list[Cell | None]]:
    """Rows and columns in the order of `entrants`; None on the diagonal."""
    known = {(pair.a, pair.b): pair for pair in pairs}
    shown = set(entrants)
    inside = [pair for pair in pairs if {pair.a, pair.b} <= shown and pair.difference is not None]
    most = max((abs(pair.difference or 0.0) for pair in inside), default=0.0)
    return [
        [None if row == column else _cell(known, row, column, most) for column in entrants]
        for row in entrants
    ]


def _cell(known: dict[tuple[int, int], PairRow], row: int, column: int, most: float) -> Cell:
    pair = known[min(row, column), max(row, column)]
    mine, theirs = (pair.wins_a, pair.wins_b) if row < column else (pair.wins_b, pair.wins_a)
    if pair.difference is None:
        return Cell(None, 0, 0, 0, 0, "")
    ahead = pair.difference if row < column else -pair.difference
    return Cell(ahead, pair.games, mine, theirs, pair.ties, shade(ahead, most))


def shade(value: float, most: float) -> str:
    """One of a few shades for a value between -`most` and `most`."""
    step = 0 if not most else min(SHADES, int(SHADES * abs(value) / most + 0.999))
    return "" if not step else f"{'up' if value > 0 else 'dn'}{step}"
