"""The standings that a tournament's matches come to, and what of those told is not so; out of the API's JSON.

Pure. Faults are as the matches tell them; all else in a row follows from what was played.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from itertools import groupby
from math import isclose
from types import SimpleNamespace
from typing import Any

from engine.rules import RuleSet
from service import folds, lineup
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
        if self._is_seeded and (unseeded := self._unseeded()):
            return f"seeds: {unseeded}"
        try:
            wrong = [self._wrong(rows, started) for started in self._started()]
        except ValueError as reason:
            return f"matches: {reason}"
        return None if None in wrong else wrong[0]

    @property
    def _is_seeded(self) -> bool:
        """Whether it is a knock-out that began."""
        return isinstance(FORMATS.get(self._told["format"]), Knockout) and self._told["stage"] > 0

    def _unseeded(self) -> str | None:
        """Why the seeds cannot be those of who began."""
        seeds = self._told.get("seeds")
        if seeds is None:
            return "they are not told; a newer version of the service tells them"
        able, seated = self._able()
        known = isinstance(seeds, list) and all(each in able for each in seeds)
        if not known or len(set(seeds)) != len(seeds) or not seated <= set(seeds):
            return f"{seeds!r:.70} are not those who began, each once"
        return None

    def _able(self) -> tuple[list[int], set[int]]:
        """Who may have begun, and who sat down."""
        seated = {who for stage in self._tables.values() for table in stage.values() for who in table}
        able = [each.number for each in self._entrants if not each.filler and each.version is not None]
        return able, seated

    def _started(self) -> list[list[int]]:
        """Who began. A version that was named beforehand and never sat down may have done so, or not."""
        if self._is_seeded:
            return [sorted(self._told["seeds"])]
        able, seated = self._able()
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

        Of a knock-out that somebody left, nobody is told which tables were planned before that and which
        after: of it only the first stage follows, and of the places only their numbers.
        """
        form, gone = FORMATS.get(self._told["format"]), self._gone(started)
        if form is None or self._told["stage"] == 0 or (form.by_points and not gone):
            return None
        field = self._field(started, gone)
        if not isinstance(form, Knockout):
            return form.places(field, self._done())
        if gone:
            self._foretold(form, replace(field, gone=frozenset()), 1)
            return [[row["entrant"] for row in level] for _, level in groupby(rows, lambda row: row["place"])]
        done = self._foretold(form, field, max([self._told["stage"], *self._tables]))
        if self._told["status"] == "finished" and form.stage(field, len(done) + 1, done):
            raise ValueError(f"stage {len(done) + 1} is missing")
        return form.places(field, done)

    def _field(self, started: Sequence[int], gone: frozenset[int]) -> Field:
        told = SimpleNamespace(**{**self._told, "apart": self._told["same_owner"] == "apart"})
        owners = {number: self._entrants[number].owner for number in started}
        seeds = {"seeds": self._told["seeds"]} if self._is_seeded else {}
        return replace(lineup.frame(told), entrants=tuple(started), gone=gone, owners=owners, prepared=seeds)

    def _foretold(self, form: Knockout, field: Field, stages: int) -> list[Done]:
        """What came of the first `stages`, all of whose tables follow from the seeds and the results before.

        Raises `ValueError` where they do not.
        """
        done, first, whole = list[Done](), 0, self._whole()
        for number in range(1, stages + 1):
            planned = form.stage(field, number, done)
            if planned is None:
                raise ValueError(f"stage {number} is one too many")
            tables = dict(enumerate(planned.tables, first))
            for group, order in self._tables[number].items():
                if tables.get(group) != order:
                    raise ValueError(f"group {group} does not follow from the seeds and the results before")
            came = tuple(table_of(order, whole[group]) for group, order in tables.items())
            done.append(Done(planned.kind, came, planned.byes))
            first += len(tables)
        return done

    def _rules(self) -> RuleSet:
        return RuleSet.parse(self._told["rules"], self._told["players"])

    def _gone(self, started: Sequence[int]) -> frozenset[int]:
        return frozenset(each for each in started if self._entrants[each].status != "in")

    def _done(self) -> list[Done]:
        """What came of all tables: who was given none is not asked for where averages decide."""
        whole, tables = self._whole(), [each for stage in self._tables.values() for each in stage.items()]
        return [Done("main", tuple(table_of(order, whole[group]) for group, order in tables), ())]

    def _whole(self) -> dict[int, list[Result]]:
        """The matches of each deal group that was played whole."""
        whole: defaultdict[int, list[Result]] = defaultdict(list)
        for result in whole_groups(self.results, self._group_size):
            whole[result.group].append(result)
        return whole


def _same(told: object, value: object) -> bool:
    """Whether two values of JSON are the same; floats but for what was lost in writing them."""
    if isinstance(value, float):
        return isinstance(told, int | float) and isclose(told, value, rel_tol=1e-9, abs_tol=1e-9)
    return told == value and type(told) is type(value)
