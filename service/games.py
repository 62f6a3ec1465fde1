"""A comparison's games as its test reads them, group by group, each once however often a program asks.

A group that is over never changes, so what was read is remembered and only further groups are read: the
reaper asks for every running one at every pass, and a list of comparisons for all on it.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row, func, select

from service import sprt, stages
from service.contest import GAMES, A, B
from service.tables import match, seat

MOST_GROUPS = 500_000  # remembered in all
Game = tuple[float, float]  # A's score and lead in points a match


@dataclass(frozen=True, slots=True)
class _Read:
    """The groups before `until`, those left out that we could not play."""

    until: int = 0
    games: tuple[Game, ...] = ()


class Memory:
    """What was read lately, the latest asked for last."""

    def __init__(self, most: int = MOST_GROUPS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._read: OrderedDict[str, _Read] = OrderedDict()
        self._groups = 0

    def recall(self, comparison_id: str) -> _Read:
        """What is known of it."""
        with self._lock:
            return self._read.get(comparison_id) or _Read()

    def keep(self, comparison_id: str, read: _Read) -> None:
        """Remember it, and forget others if there are too many."""
        with self._lock:
            before = self._read.pop(comparison_id, _Read())
            self._read[comparison_id] = max(before, read, key=lambda each: each.until)
            self._groups += len(self._read[comparison_id].games) - len(before.games)
            while self._groups > self._most and len(self._read) > 1:
                _, dropped = self._read.popitem(last=False)
                self._groups -= len(dropped.games)


_memory = Memory()


def of_comparison(db: Connection, comparison_id: str, memory: Memory = _memory) -> Sequence[Game]:
    """Its groups in their order up to the first that is not played; those we could not play are left out."""
    known = memory.recall(comparison_id)
    of_it = match.c.tournament_id == comparison_id
    unsettled = match.c.status.in_((*stages.OPEN, "void"))
    last = db.scalar(select(func.max(match.c.deal_group)).where(of_it)) or 0  # before: more may be written
    first = db.scalar(select(func.min(match.c.deal_group)).where(of_it, unsettled))
    until = last + 1 if first is None else first
    if until > known.until:
        further = _between(db, comparison_id, known.until, until)
        known = _Read(until, known.games + tuple(further))
    memory.keep(comparison_id, known)
    return known.games


def _between(db: Connection, comparison_id: str, first: int, until: int) -> list[Game]:
    of_it = (match.c.tournament_id == comparison_id, match.c.status == "done")
    these = (match.c.deal_group >= first, match.c.deal_group < until)
    same = (seat.c.tournament_id == match.c.tournament_id) & (seat.c.number == match.c.number)
    columns = (match.c.deal_group, match.c.number, seat.c.entrant, seat.c.place, seat.c.counted)
    query = select(*columns).join(seat, same).where(*of_it, *these)
    ordered = db.execute(query.order_by(match.c.number, seat.c.seat))
    groups: Iterator[list[Any]] = (
        list(group) for _, group in groupby(ordered, key=lambda each: int(each.deal_group))
    )
    return [_group(group) for group in groups if len({each.number for each in group}) == GAMES]


def _group(seats: "Sequence[Row[Any]]") -> Game:
    matches = [list(each) for _, each in groupby(seats, key=lambda each: int(each.number))]
    scores, leads = zip(*map(_match, matches), strict=True)
    return sum(scores) / GAMES, sum(leads) / GAMES


def _match(seats: "Sequence[Row[Any]]") -> Game:
    a, b = ([each for each in seats if each.entrant == who] for who in (A, B))
    lead = sum(each.counted for each in a) / len(a) - sum(each.counted for each in b) / len(b)
    return sprt.pair_score([each.place for each in a], [each.place for each in b]), lead
