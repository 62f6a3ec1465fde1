"""How the database goes about statements: recorded while something is done, then asked for one by one.

What grows must be looked up, not read through: `offences` names the statements that read a large table whole.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, event, text

from service.work import Arena

LARGE = ("match", "seat", "fault", "rating")  # tables with rows for each match, or each tournament's bots
READS = re.compile(r"\s*(SELECT|UPDATE|DELETE|WITH)\b", re.IGNORECASE)
FEW = "ix_match_(leases|tokens)"  # indexes of those that are being played alone
WHOLE = {
    "sqlite": re.compile(rf"\bSCAN ({'|'.join(LARGE)})\b(?! USING (COVERING )?INDEX {FEW})"),
    "postgresql": re.compile(rf"Seq Scan on ({'|'.join(LARGE)})\b"),
}


@dataclass(slots=True)
class Statements:
    """What was asked of a database, each text once, with one set of its values."""

    seen: dict[str, Any] = field(default_factory=dict)
    count: int = 0

    def note(self, statement: str, values: Any, many: bool) -> None:
        """Called for each statement."""
        self.count += 1
        if READS.match(statement):
            self.seen.setdefault(statement, values[0] if many else values)


@contextmanager
def recorded(arena: Arena) -> Iterator[Statements]:
    """All statements of what is done inside."""
    told = Statements()

    def note(_c: Any, _cursor: Any, statement: str, values: Any, _context: Any, many: bool) -> None:
        told.note(statement, values, many)

    event.listen(arena.database, "before_cursor_execute", note)
    try:
        yield told
    finally:
        event.remove(arena.database, "before_cursor_execute", note)


def plan(db: Connection, statement: str, values: Any) -> list[str]:
    """How the database would go about it, line by line."""
    postgres = db.dialect.name == "postgresql"
    asked = f"EXPLAIN {'' if postgres else 'QUERY PLAN '}{statement}"
    rows = db.exec_driver_sql(asked, values).all()
    return [str(row[0] if postgres else row[3]) for row in rows]


def offences(arena: Arena, told: Statements, *, small: bool = False) -> Iterator[tuple[str, Sequence[str]]]:
    """Statements that read a large table from end to end, each with its plan.

    `small`: there are a few rows only, so PostgreSQL is told to look things up wherever it can.
    """
    with arena.read() as db:
        if small and db.dialect.name == "postgresql":
            db.execute(text("SET LOCAL enable_seqscan = off"))
        for statement, values in told.seen.items():
            lines = plan(db, statement, values)
            if any(WHOLE[db.dialect.name].search(line) for line in lines):
                yield statement, lines
