"""When a lease is over: nobody's clock is asked, only how long its holder was watched and gave no sign.

A holder renews its lease every few seconds, which changes `lease_until`. The watch (`reap`, one at a time)
notes when it saw each lease change last, in *watched* time: the sum of the times between one of its passes
and the next, each counted with at most `LONGEST` of a lease, and with nothing when the clock went back. So
- clocks of different machines are never compared, and one that jumps, either way, is worth one pass at most;
- while the database was away, or the watch itself, nobody was watched: whoever comes back has the rest of its
  lease, seconds at least, to give in what it played meanwhile (see `workers/spool.py`);
- time goes on however slow the passes are, so no lease of a dead worker lasts for ever.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Row, Table, insert, select, tuple_, update

from service.settings import Settings
from service.tables import pulse, tournament, version, worker
from service.work import Work

log = structlog.get_logger(__name__)

LONGEST = 1 / 3  # of a lease: what one pass may count
ABSENT = timedelta(minutes=1)  # without a pass: somebody should look after the watch itself
NOTHING = timedelta(0)
AT_ONCE = 1_000  # leases noted with one statement
MS = timedelta(milliseconds=1)


def tick(work: Work, settings: Settings) -> int:
    """Count the time since the last pass; watched milliseconds in all. Called once a pass."""
    last = work.db.execute(select(pulse)).first()
    if last is None:
        work.db.execute(insert(pulse).values(id=1, at=work.now, watched_ms=0))
        return 0
    if work.now < last.at:
        _after_the_clock_went_back(work)
    watched = int(last.watched_ms) + counted(settings, last.at, work.now)
    work.db.execute(update(pulse).values(at=work.now, watched_ms=watched))
    return watched


def counted(settings: Settings, before: datetime, now: datetime) -> int:
    """Milliseconds between two passes as far as they count."""
    most = min(2 * settings.reap_seconds, settings.lease_seconds * LONGEST)
    return min(max(now - before, NOTHING), timedelta(seconds=most)) // MS


def silent(
    work: Work, table: Table, leased: ColumnElement[bool], watched: int
) -> "Sequence[tuple[Row[Any], int]]":
    """Every lease in `table`, and for how many watched milliseconds it has not changed."""
    found = work.db.execute(select(*_columns(table)).where(leased).with_for_update(skip_locked=True)).all()
    changed = [row for row in found if row.lease_seen != row.lease_until or row.silent_since is None]
    for first in range(0, len(changed), AT_ONCE):
        _note(work, table, leased, changed[first : first + AT_ONCE], watched)
    new = set(map(id, changed))
    return [(row, 0 if id(row) in new else watched - row.silent_since) for row in found]


def _note(
    work: Work, table: Table, leased: ColumnElement[bool], changed: "Sequence[Row[Any]]", watched: int
) -> None:
    """All at once, for holders wait for these rows; not told that they are `leased`, SQLite looks at all."""
    key = list(table.primary_key)
    these = tuple_(*key).in_([tuple(getattr(row, column.name) for column in key) for row in changed])
    seen = update(table).where(leased, these)
    work.db.execute(seen.values(lease_seen=table.c.lease_until, silent_since=watched))


def _after_the_clock_went_back(work: Work) -> None:
    """What lies in the future now must not have to wait until it is past: turns, delays, signs of life."""
    log.warning("clock_went_back")
    for column in (tournament.c.claimed_at, version.c.lease_until, worker.c.seen_at):
        late = update(column.table).where(column > work.now)
        work.db.execute(late.values({column.name: work.now}))


def _columns(table: Table) -> "list[Any]":
    names = ("attempts", "lease_token", "lease_worker", "lease_until", "lease_seen", "silent_since")
    return [*table.primary_key, *(table.c[name] for name in names)]
