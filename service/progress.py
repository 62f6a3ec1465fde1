"""How far each tournament is: numbers in rows of their own, added up in the transaction that changes them.

Many workers finish matches of one tournament at once, and none shall wait for another: each adds to one of
`SLOTS` rows, by the match's number, as the last thing before its commit and in one order, so that nobody
holds such a row and waits for anything else. They are for showing: the matches themselves decide what is to
be done. When a tournament is over one row is made of those anew (`recounted`), so whatever was missed
meanwhile is put right.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, case, delete, func, insert, literal_column, select, text
from sqlalchemy.dialects import postgresql, sqlite

from service.tables import fault, fault_count, match
from service.tables import progress as rows

SLOTS = 64
COLUMNS = ("done", "failed", "void", "faults", "decisions", "ended")
NOTHING = dict.fromkeys(COLUMNS, 0)
# Said literally: with a bound value neither database sees that the index of leased matches will do.
LEASED = match.c.status == literal_column("'leased'")


@dataclass(frozen=True, slots=True)
class Done:
    """Matches `done`, `failed`, `void`; `faults` and `decisions` in them; `ended`: attempts that are over."""

    done: int = 0
    failed: int = 0
    void: int = 0
    faults: int = 0
    decisions: int = 0
    ended: int = 0

    @property
    def settled(self) -> int:
        """Matches that will not be played any more."""
        return self.done + self.failed + self.void


@dataclass(slots=True)
class Steps:
    """What one transaction adds, until it is written."""

    added: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    faults: Counter[tuple[str, int]] = field(default_factory=Counter)
    closed: set[str] = field(default_factory=set)

    def note(self, tournament_id: str, number: int = 0, **more: int) -> None:
        """Add to a tournament's numbers, on account of this match."""
        for column, n in more.items():
            self.added[tournament_id, number % SLOTS, column] += n

    def note_faults(self, number: int, kinds: Iterable[str]) -> None:
        """Bots' faults in a match."""
        for kind in kinds:
            self.faults[kind, number % SLOTS] += 1

    def close(self, tournament_id: str) -> None:
        """Nothing more will be added to it."""
        self.closed.add(tournament_id)

    def write(self, db: Connection) -> None:
        """The last thing before the commit."""
        slots = sorted({key[:2] for key, n in self.added.items() if n})
        for tournament_id, slot in slots:
            more = {column: self.added[tournament_id, slot, column] for column in COLUMNS}
            _add(db, rows, {"tournament_id": tournament_id, "slot": slot}, more)
        for kind, slot in sorted(self.faults):
            _add(db, fault_count, {"kind": kind, "slot": slot}, {"n": self.faults[kind, slot]})
        if self.closed:
            _heal(db, sorted(self.closed))


def of_tournaments(db: Connection, tournament_ids: Collection[str]) -> dict[str, Done]:
    """How far these are."""
    these = rows.c.tournament_id.in_(tournament_ids)
    query = select(rows.c.tournament_id, *_sums()).where(these).group_by(rows.c.tournament_id)
    found = {row.tournament_id: _done(row) for row in db.execute(query)}
    return {each: found.get(each, Done()) for each in tournament_ids}


def in_all(db: Connection) -> Done:
    """All tournaments together."""
    return _done(db.execute(select(*_sums())).one())


def settled_of(*only: Any) -> "Select[Any]":
    """The query for the settled matches of some tournaments together."""
    return select(func.coalesce(func.sum(rows.c.done + rows.c.failed + rows.c.void), 0)).where(
        rows.c.tournament_id.in_(*only)
    )


def faults_by_kind(db: Connection) -> dict[str, int]:
    """Bots' faults in all."""
    query = select(fault_count.c.kind, func.sum(fault_count.c.n)).group_by(fault_count.c.kind)
    return {kind: int(n) for kind, n in db.execute(query)}


def recounted(db: Connection, tournament_id: str) -> Done:
    """What the matches themselves say."""
    counted = {status: func.sum(case((match.c.status == status, 1), else_=0)) for status in COLUMNS[:3]}
    leased = func.sum(case((match.c.status == "leased", 1), else_=0))
    sums = {**counted, "faults": func.sum(match.c.faults), "decisions": func.sum(match.c.decisions),
            "ended": func.sum(match.c.attempts) - leased}  # fmt: skip
    columns = [each.label(name) for name, each in sums.items()]
    return _done(db.execute(select(*columns).where(match.c.tournament_id == tournament_id)).one())


def _heal(db: Connection, over: Sequence[str]) -> None:
    """Older programs may not have added theirs, nor then have told the kinds of their faults."""
    kept, right = of_tournaments(db, over), {each: recounted(db, each) for each in over}
    for tournament_id, told in right.items():
        put(db, tournament_id, told)
    if any(kept[each].faults != told.faults for each, told in right.items()):
        put_faults(db)


def recounted_faults(db: Connection) -> dict[str, int]:
    """What the faults themselves say."""
    return {kind: n for kind, n in db.execute(select(fault.c.kind, func.count()).group_by(fault.c.kind))}


def put(db: Connection, tournament_id: str, told: Done) -> None:
    """One row instead of what was."""
    db.execute(delete(rows).where(rows.c.tournament_id == tournament_id))
    values = {column: getattr(told, column) for column in COLUMNS}
    db.execute(insert(rows).values(tournament_id=tournament_id, slot=0, **values))


def put_faults(db: Connection) -> None:
    """The same for faults of all tournaments. Whoever adds some meanwhile waits, or is waited for.

    Also with a row of its own that nobody sees yet, which only a lock of the whole table tells.
    """
    if db.dialect.name == "postgresql":  # on SQLite a writer is alone anyway
        db.execute(text("LOCK TABLE fault_count IN SHARE ROW EXCLUSIVE MODE"))
    db.execute(delete(fault_count))
    for kind, n in recounted_faults(db).items():
        db.execute(insert(fault_count).values(kind=kind, slot=0, n=n))


def _sums() -> "Sequence[Any]":
    return [func.sum(rows.c[column]).label(column) for column in COLUMNS]


def _done(row: Any) -> Done:
    return Done(**{column: int(getattr(row, column) or 0) for column in COLUMNS})


def _add(db: Connection, table: Any, key: dict[str, Any], more: dict[str, int]) -> None:
    db.execute(_adding(db.dialect.name, table, tuple(key), tuple(more)), {**key, **more})


@cache
def _adding(dialect: str, table: Any, key: tuple[str, ...], more: tuple[str, ...]) -> Any:
    """Built once for all; a row that is there is added to."""
    kind: Any = postgresql if dialect == "postgresql" else sqlite
    made = kind.insert(table)
    sums = {column: table.c[column] + made.excluded[column] for column in more}
    return made.on_conflict_do_update(index_elements=list(key), set_=sums)
