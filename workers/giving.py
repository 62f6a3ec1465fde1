"""What a process played, given in: at once, or by way of the disk while the database is away.

Results come first: whatever else is wrong, they are in the database, or on the disk for others to find.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeVar

import structlog

from service import leases
from service.errors import Unavailable
from service.leases import Assignment
from service.sheet import Sheet
from service.turns import Share
from workers import stopping
from workers.batch import Batch
from workers.workshop import Workshop

log = structlog.get_logger(__name__)
T = TypeVar("T")
TRY_AGAIN_SECONDS = 90.0
LONGEST_PAUSE = 1.5  # seconds between two tries: well within what is left of a lease (service/watch.py)


@dataclass(frozen=True, slots=True)
class Broken:
    """A match that could not be played here, and how far it is suspected for that."""

    held: Assignment
    trouble: str
    suspicion: int
    busy: bool = False  # the machine was, too much so


def give_in(shop: Workshop, batch: Batch, share: Share | None) -> list[Assignment]:
    """Give in what is played, hand back what is not begun; the matches claimed for the `share`.

    While the database is away results wait on the disk, where others find them too.
    """
    sheets, unbegun = batch.take()
    if not (sheets or unbegun or share):
        return []
    try:
        return leases.give_in_all(shop.arena, sheets, worker=shop.name, share=share, unbegun=unbegun)[1]
    except Unavailable:
        log.warning("results_wait", matches=_ids(sheets))
    except Exception:
        log.exception("results_not_given_in", matches=_ids(sheets))
    try:
        with ExitStack() as spooled:
            safe = all([spooled.enter_context(shop.spool.kept(each)) for each in sheets])
            persist(lambda: _write(shop, sheets, unbegun), hasty=safe)
    except Unavailable:
        log.warning("results_left_to_others", matches=_ids(sheets))
    return []


def lighten(shop: Workshop, batch: Batch) -> None:
    """Have nobody wait for more of it than what is in play; raises `Unavailable`, and all is as it was."""
    played, unbegun = batch.take()
    try:
        if played or unbegun:
            _write(shop, played, unbegun)
    except BaseException:
        batch.put(played, unbegun)
        raise


def hand_back(shop: Workshop, broken: Broken) -> None:
    """Nobody loses by what we could not play. While the database is away its lease runs out by itself."""
    try:
        persist(
            lambda: leases.give_back(shop.arena, broken.held, broken.trouble, suspicion=broken.suspicion),
            hasty=True,
        )
    except Unavailable:
        log.warning("match_not_handed_back", match=broken.held.match_id)


def persist(act: Callable[[], T], *, hasty: bool = False) -> T:
    """Do it, and again while the database is away: a result should outlive that.

    `hasty`: not once we are to stop, for it is safe without us.
    """
    until, pause = time.monotonic() + TRY_AGAIN_SECONDS, 0.1
    while True:
        try:
            return act()
        except Unavailable:
            if time.monotonic() > until or (hasty and stopping.asked()):
                raise
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


def said(error: BaseException) -> str:
    """An error in few words."""
    return f"{type(error).__name__}: {error}"[:1000]


def _write(shop: Workshop, sheets: Sequence[Sheet], unbegun: Sequence[Assignment]) -> None:
    """All together; where that fails each by itself, so that one that cannot be written costs no other."""
    try:
        leases.give_in_all(shop.arena, sheets, worker=shop.name, unbegun=unbegun)
    except Unavailable:
        raise
    except Exception as error:
        log.error("results_not_written_together", matches=_ids(sheets), error=said(error))
        leases.give_in_all(shop.arena, [], worker=shop.name, unbegun=unbegun)
        for each in sheets:
            _write_one(shop, each)


def _write_one(shop: Workshop, sheet: Sheet) -> None:
    try:
        leases.give_in(shop.arena, sheet, worker=shop.name)
    except Unavailable:
        raise
    except Exception as error:
        log.error("result_not_written", match=sheet.match_id, error=said(error))
        leases.give_back(shop.arena, sheet, said(error))


def _ids(sheets: Sequence[Sheet]) -> list[str]:
    return [each.match_id for each in sheets]
