"""Leases that end without a result: what was held is planned again, and noted is what that says of it.

A match that kills its worker must not be played for ever, and one that happened to be there when a machine
died must not be given up for it. So each end without a result adds to a match's `suspicion`: ALONE when the
match alone can be the reason (its worker's process died at it while the worker lived on, or playing it raised
an exception on a machine whose sandbox stands its test), TOGETHER when others went down with it, or the
machine had too little for it. ENOUGH, which is three times alone, makes it `failed`. What a
stopping or a sick machine hands back adds nothing.

A lease may be of several matches. Where nobody can tell which of them was being played none is suspected, but
what was tried before is leased by itself (`turns.untried`): the next time it is known.
"""

import secrets
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, select

from service import incidents, watch
from service.fence import FENCE, FENCED, is_of_one, under
from service.jobs import PLAY, Job
from service.progress import LEASED
from service.tables import match
from service.work import Arena, Work

ALONE, TOGETHER, ENOUGH = 3, 1, 9
SUSPECTED = select(match.c.suspicion).where(FENCE).with_for_update()


def inherit(arena: Arena, place: str, heir: str, at: str | None = None) -> int:
    """`heir` is a worker's new process in the `place` of one that died: what that one held is planned again.

    `at`: the id of the match it was at, "" if it was at none, None if nobody knows. The worker itself lives,
    so the process died alone, and of all things at this match. How many it held.
    """
    with arena.work() as work:
        of_place = match.c.lease_worker.startswith(f"{place}-", autoescape=True)
        of_it = (LEASED, of_place, match.c.lease_worker != heir)
        columns = (match.c.tournament_id, match.c.number, match.c.lease_token, match.c.lease_worker)
        found = work.db.execute(select(*columns).where(*of_it)).all()
        died_of = [is_of_one(row.lease_token) if at is None else _id(row) == at for row in found]
        _take_back(work, found, "died", [ALONE if it_was else 0 for it_was in died_of])
    return len(found)


def take_back_silent(work: Work, lease_ms: int, watched: int) -> int:
    """Plan again what silent workers hold; how many. `watched`: of the watch's milliseconds.

    When a lease is over, those of the same worker that are long without a sign of life go with it.
    """
    found = watch.silent(work, match, LEASED, watched)
    over = {_host(row) for row, silent_ms in found if silent_ms >= lease_ms}
    lost = [row for row, ms in found if ms >= lease_ms or (2 * ms > lease_ms and _host(row) in over)]
    processes = Counter(_host(row) for row in {row.lease_worker: row for row in lost}.values())
    suspicions = [
        (ALONE if processes[_host(row)] == 1 else TOGETHER) if is_of_one(row.lease_token) else 0
        for row in lost
    ]
    _take_back(work, lost, "went silent", suspicions)
    return len(lost)


def release(work: Work, tournament_id: str, number: int, token: str, trouble: str, suspicion: int) -> bool:
    """End a lease without a result, if it still is the present one; whether it was."""
    fence = under(tournament_id, number, token)
    before = work.db.scalar(SUSPECTED, fence)
    if before is None:
        return False
    status = "failed" if suspicion and before + suspicion >= ENOUGH else "planned"
    lease = {"lease_token": None, "lease_until": None}
    values = {"status": status, "trouble": trouble, "suspicion": before + suspicion}
    work.db.execute(FENCED, {**fence, **lease, **values})
    work.steps.note(tournament_id, number, ended=1, failed=int(status == "failed"))
    if status == "failed":
        incidents.note(work, incidents.FAILED, f"{tournament_id}-{number}", text=trouble)
    else:
        work.send(Job(PLAY, (secrets.randbelow(1 << 30),)))
    return True


def _take_back(work: Work, rows: Sequence[Any], what: str, suspicions: Sequence[int]) -> None:
    """One incident for each lease, however many matches it was of."""
    ended: defaultdict[str, list[Any]] = defaultdict(list)
    # In the order of all who lock several; asked for it, SQLite would read all matches.
    for row, suspicion in sorted(zip(rows, suspicions, strict=True), key=lambda each: _key(each[0])):
        trouble = f"{row.lease_worker} {what}"
        if release(work, row.tournament_id, row.number, row.lease_token, trouble, suspicion):
            ended[row.lease_token].append(row)
    for first, *more in ended.values():
        text = f"{first.lease_worker} {what}; matches: {1 + len(more)}"
        incidents.note(work, incidents.SILENT, _id(first), worker=first.lease_worker, text=text)


def _key(row: Any) -> tuple[str, int]:
    return row.tournament_id, row.number


def _host(row: "Row[Any]") -> str:
    """The worker a process belongs to: its name without place and process, see `workers/workshop.py`."""
    return str(row.lease_worker).rsplit("-", 2)[0]


def _id(row: Any) -> str:
    return f"{row.tournament_id}-{row.number}"
