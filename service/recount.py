"""The standings that a tournament's matches come to, and what of those told is not so; out of the API's JSON.

Pure. Faults are as the matches tell them; all else in a row follows from what was played.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from itertools import groupby
from math import isclose
from types import SimpleNamespace
from typing import Any

from engine.rules import RuleSet
from service import folds
from service.design import Order
from service.formats import FORMATS, Done, Field
from service.formats.knockout import Knockout
from service.lineup import table_of
from service.results import result_of
from service.standings import Result, whole_groups
from service.tournaments import Entrant

Json = Mapping[str, Any]


class Recount:
    """Takes in matches, then says what is wrong with a tournament's standings."""

    def __init__(self, tournament: Json) -> None:
        self._told = tournament
        self._group_size: int = tournament["players"] if tournament["duplicate"] else 1
        names = [each.name for each in fields(Entrant)]
        self._entrants = [Entrant(**{name: each[name] for name in names}) for each in tournament["entrants"]]
        self._tables: defaultdict[int, dict[int, Order]] = defaultdict(dict)  # by stage and deal group
        self.results: list[Result] = []

    def seat(self, match: Json) -> None:
        """A match of the schedule, played or not."""
        seats = dict.fromkeys(seat["entrant"] for seat in match["seats"])  # who has a team's seats, once
        order = tuple(each for each in seats if not self._entrants[each].filler)
        self._tables[match["stage"]].setdefault(match["group"], order)

    def add(self, match: Json) -> None:
        """A match that was played, its seats as its record has them."""
        self.results.append(result_of(match["group"], (SimpleNamespace(**seat) for seat in match["seats"])))

    def discrepancy(self, rows: Sequence[Json]) -> str | None:
        """The first thing in the standings that does not follow from the matches, by its field."""
        had = Counter(row.get("entrant") for row in rows)
        for who in self._entrants:
            if had[who.number] != 1:
                return f"standings: {who.name} (entrant {who.number}) has {had[who.number]} rows"
        if len(rows) != len(self._entrants):
            return f"standings: {len(rows)} rows, there are {len(self._entrants)} entrants"
        try:
            wrong = [self._wrong(rows, started) for started in self._started()]
        except ValueError as reason:
            return f"matches: {reason}"
        return None if None in wrong else wrong[0]

    def _started(self) -> list[list[int]]:
        """Who began. A version that was named beforehand and never sat down may have done so, or not."""
        seated = {who for stage in self._tables.values() for table in stage.values() for who in table}
        able = [each.number for each in self._entrants if not each.filler and each.version is not None]
        sure = [each for each in able if each in seated]
        return [able] if able == sure else [able, sure]

    def _wrong(self, rows: Sequence[Json], started: Sequence[int]) -> str | None:
        expected = folds.rows(self._played(rows, started))
        by_number = {row["entrant"]: row for row in rows}
        for line in expected:
            for field, value in asdict(line).items():
                told = by_number[line.entrant].get(field)
                if not _same(told, value):
                    return f"standings: {line.name} has {field} {told!r:.60}, by the records {value!r:.60}"
        if [row["entrant"] for row in rows] != [line.entrant for line in expected]:
            return "standings: the rows are not in the order of their places"
        return None

    def _played(self, rows: Sequence[Json], started: Sequence[int]) -> folds.Played:
        return folds.Played(
            entrants=self._entrants,
            results=self.results,
            group_size=self._group_size,
            duplicate=self._told["duplicate"],
            bids=len(self._rules().rounds(self._told["players"])),
            order=self._order(rows, started),
        )

    def _order(self, rows: Sequence[Json], started: Sequence[int]) -> list[list[int]] | None:
        """The format's own order.

        Seeds of a knock-out follow from ratings at its start, which nobody is shown; they only part those who
        are level in all else, and do so here as the standings have it. One that somebody left, or that was
        cancelled, has tables that were never written: of it only the places' numbers can be told.
        """
        form, gone = FORMATS.get(self._told["format"]), self._gone(started)
        if form is None or self._told["stage"] == 0 or (form.by_points and not gone):
            return None
        told = [row["entrant"] for row in rows]
        if isinstance(form, Knockout) and (gone or self._told["status"] != "finished"):
            return [[row["entrant"] for row in level] for _, level in groupby(rows, lambda row: row["place"])]
        teams = self._rules().teams
        size = len(teams.seats) if teams else self._told["players"]
        field = Field(size, size, tuple(started), b"", gone=gone, prepared={"seeds": told})
        return form.places(field, list(self._done()))

    def _rules(self) -> RuleSet:
        return RuleSet.parse(self._told["rules"], self._told["players"])

    def _gone(self, started: Sequence[int]) -> frozenset[int]:
        return frozenset(each for each in started if self._entrants[each].status != "in")

    def _done(self) -> Iterator[Done]:
        """What came of each stage. Who sits at no table of one but in a later one had a bye."""
        whole: defaultdict[int, list[Result]] = defaultdict(list)
        for result in whole_groups(self.results, self._group_size):
            whole[result.group].append(result)
        stages = [self._tables[number] for number in sorted(self._tables)]
        seated = [{who for order in stage.values() for who in order} for stage in stages]
        before: list[Order] = []
        for number, stage in enumerate(stages):
            tables = tuple(table_of(stage[group], whole[group]) for group in sorted(stage))
            byes = set[int]().union(*seated[number + 1 :]) - seated[number]
            if _again(stage.values(), before):
                before = []
                yield Done("playoff", tables, ())
            else:
                before = list(stage.values())
                yield Done("main", tables, tuple(byes))


def _again(orders: Iterable[Order], before: Sequence[Order]) -> bool:
    """Whether a stage is a knock-out's playoff: each of its tables is a part of one of the stage before.

    Of no table more than half go on, and the largest of a main stage is more than half full.
    """
    return all(any(set(order) <= set(table) for table in before) for order in orders)


def _same(told: object, value: object) -> bool:
    """Whether two values of JSON are the same; floats but for what was lost in writing them."""
    if isinstance(value, float):
        return isinstance(told, int | float) and isclose(told, value, rel_tol=1e-9, abs_tol=1e-9)
    return told == value and type(told) is type(value)
