"""Results written, one or many in one transaction.

Each is judged by its own lease, and one that comes too late, or twice, keeps none of the others out.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import insert, select

from service import incidents
from service.fence import FENCED, under
from service.progress import LEASED
from service.sheet import Sheet
from service.tables import fault, match, seat
from service.work import Work

AT_ONCE = 100  # results in one transaction: its locks are held for some tens of milliseconds
SEATS, FAULTS = insert(seat), insert(fault)
DONE = {"status": "done", "lease_token": None, "lease_until": None}
MS = timedelta(milliseconds=1)


def write(work: Work, sheets: Sequence[Sheet], worker: str) -> list[bool]:
    """Write results once; for each whether it was taken, which it is not when its lease was lost."""
    taken = _finished(work, sheets)
    good = [each for each, fits in zip(sheets, taken, strict=True) if fits]
    if good:
        _add(work, good)
    _note_late(work, [each for each, fits in zip(sheets, taken, strict=True) if not fits], worker)
    return taken


def by_tournament(sheets: Sequence[Sheet]) -> Mapping[str, list[int]]:
    """Their numbers, in the order of all who lock several."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for each in sorted(sheets, key=lambda each: (each.tournament_id, each.number)):
        found[each.tournament_id].append(each.number)
    return found


def _finished(work: Work, sheets: Sequence[Sheet]) -> list[bool]:
    """The matches' own rows: which of these were held, and are done now."""
    if len(sheets) == 1:
        return [bool(work.db.execute(FENCED, _result(work, sheets[0])).rowcount)]
    held = _present(work, by_tournament(sheets))
    taken = [_fits(held, each) for each in sheets]
    for timed in (True, False):  # sheets of older programs do not say how long their match took
        some = [_result(work, each) for each, fits in zip(sheets, taken, strict=True)
                if fits and bool(each.took_ms) is timed]  # fmt: skip
        if some:
            work.db.execute(FENCED, some)
    return taken


def _result(work: Work, sheet: Sheet) -> dict[str, Any]:
    """Its times are as far apart as it took, however long it waited to be given in."""
    begun = {"started_at": work.now - sheet.took_ms * MS} if sheet.took_ms else {}
    lease = under(sheet.tournament_id, sheet.number, sheet.token)
    return {**lease, **sheet.match, **DONE, **begun, "finished_at": work.now}


def _add(work: Work, sheets: Sequence[Sheet]) -> None:
    """The rows of results beside their matches', and what is added to progress."""
    work.db.execute(SEATS, [dict(seat) for sheet in sheets for seat in sheet.seats])
    if faults := [dict(each) for sheet in sheets for each in sheet.faults]:
        work.db.execute(FAULTS, faults)
    slot: dict[str, int] = {}  # all results of a tournament add to one row
    for sheet in sheets:
        number = slot.setdefault(sheet.tournament_id, sheet.number)
        work.steps.note_faults(number, [each["kind"] for each in sheet.faults])
        told = {name: sheet.match[name] for name in ("faults", "decisions")}
        work.steps.note(sheet.tournament_id, number, done=1, ended=1, **told)


def _note_late(work: Work, sheets: Sequence[Sheet], worker: str) -> None:
    """One incident for each lease that was lost; what is void by now is nobody's fault."""
    late: defaultdict[str, list[Sheet]] = defaultdict(list)
    for tournament_id, numbers in by_tournament(sheets).items():
        these = (match.c.tournament_id == tournament_id, match.c.number.in_(numbers))
        void = set(work.db.scalars(select(match.c.number).where(*these, match.c.status == "void")))
        for each in sheets:
            if each.tournament_id == tournament_id and each.number not in void:
                late[each.token].append(each)
    for first, *more in late.values():
        text = f"attempt {first.attempt}; matches: {1 + len(more)}"
        incidents.note(work, incidents.LATE, first.match_id, worker=worker, text=text)


def _fits(held: dict[tuple[str, int], str], sheet: Sheet) -> bool:
    """Whether it was played under the present lease, which ends with it."""
    key = sheet.tournament_id, sheet.number
    fits = held.get(key) == sheet.token
    if fits:
        del held[key]
    return fits


def _present(work: Work, numbers: Mapping[str, Sequence[int]]) -> dict[tuple[str, int], str]:
    """The present leases of these matches, locked in one order."""
    held: dict[tuple[str, int], str] = {}
    for tournament_id, some in numbers.items():
        these = (match.c.tournament_id == tournament_id, match.c.number.in_(some), LEASED)
        query = select(match.c.number, match.c.lease_token).where(*these).order_by(match.c.number)
        for row in work.db.execute(query.with_for_update()):
            held[tournament_id, row.number] = row.lease_token
    return held
