"""Results that come many at once, such as those that waited on a disk: written in one transaction.

Each is still judged by its own lease, and one that comes too late, or twice, keeps none of the others out.
"""

import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import select

from service import counts, incidents, leases
from service.jobs import PLAY, Job
from service.progress import LEASED
from service.sheet import Sheet
from service.tables import match
from service.work import Arena, Work

AT_ONCE = 100  # results in one transaction: its locks are held for some tens of milliseconds


def give_in_all(arena: Arena, sheets: Sequence[Sheet], *, worker: str) -> list[bool]:
    """Write results once, as `leases.give_in` does one by one; for each whether it was taken."""
    told: list[bool] = []
    for first in range(0, len(sheets), AT_ONCE):
        told += _some(arena, sheets[first : first + AT_ONCE], worker)
    return told


def _some(arena: Arena, sheets: Sequence[Sheet], worker: str) -> list[bool]:
    with arena.work() as work:
        held = _held(work, _by_tournament(sheets))
        taken = [_fits(held, each) for each in sheets]
        good = [each for each, fits in zip(sheets, taken, strict=True) if fits]
        leases.finish_all(work, good)
        for each, fits in zip(sheets, taken, strict=True):
            if not fits:
                text = f"attempt {each.attempt}"
                incidents.note(work, incidents.LATE, each.match_id, worker=worker, text=text)
        finished = _by_tournament(good)
        last = [each for each in finished if not leases.anything(work, each)]
        if leases.anything(work):
            work.send(Job(PLAY, (secrets.randbelow(1 << 30),)))
        counts.finished_all(work, finished)
    for tournament_id in last:
        leases.gone_on(arena, tournament_id)
    return taken


def _fits(held: dict[tuple[str, int], str], sheet: Sheet) -> bool:
    """Whether it was played under the present lease, which ends with it."""
    key = sheet.tournament_id, sheet.number
    fits = held.get(key) == sheet.token
    if fits:
        del held[key]
    return fits


def _by_tournament(sheets: Sequence[Sheet]) -> Mapping[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for each in sorted(sheets, key=lambda each: (each.tournament_id, each.number)):
        found[each.tournament_id].append(each.number)
    return found


def _held(work: Work, numbers: Mapping[str, Sequence[int]]) -> dict[tuple[str, int], str]:
    """The present leases of these matches, locked in one order."""
    held: dict[tuple[str, int], str] = {}
    for tournament_id, some in numbers.items():
        these = (match.c.tournament_id == tournament_id, match.c.number.in_(some), LEASED)
        query = select(match.c.number, match.c.lease_token).where(*these).order_by(match.c.number)
        for row in work.db.execute(query.with_for_update()):
            held[tournament_id, row.number] = row.lease_token
    return held
