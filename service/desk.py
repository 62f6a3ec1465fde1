"""What takes long and nobody waits for: ratings fitted, finished tournaments summed up, old records moved.

The process that watches over leases does this too, in a thread beside the watch, which must not wait for it.
"""

import threading
from collections.abc import Callable
from dataclasses import asdict

import structlog

from service import folds, inquiry, refit, retention, summaries
from service.work import Arena

log = structlog.get_logger(__name__)
SUMMED_AT_ONCE = 5
MOMENT = 1.0  # seconds
Act = Callable[[Arena], object]
_busy = threading.Lock()


def work_off(arena: Arena) -> None:
    """Fit what is due, and sum up some of what is not yet."""
    refit.settle_running(arena)
    for _ in range(SUMMED_AT_ONCE):
        if sum_up(arena) is None:
            retention.move_next(arena)
            break


def sum_up(arena: Arena) -> str | None:
    """Sum up the latest tournament that is over and not summed up; its id, None if there is none."""
    with arena.read() as db:
        tournament_id = summaries.missing(db)
    if tournament_id is None:
        return None
    standings = [asdict(row) for row in folds.added_up(arena, tournament_id)]
    fairness = asdict(inquiry.worked_out(arena, tournament_id))
    with arena.work() as work:
        summaries.keep(work, tournament_id, {"standings": standings, "fairness": fairness})
    return tournament_id


def aside(arena: Arena, act: Act = work_off) -> bool:
    """Do it in a thread, unless one is at work, which is asked again soon enough; whether it was begun."""
    if not _busy.acquire(blocking=False):
        return False
    threading.Thread(target=_do, args=(arena, act), name="desk", daemon=True).start()
    return True


def stop(arena: Arena) -> None:
    """This process ends: wait a moment for the thread, or break off what it does."""
    if not _busy.acquire(timeout=MOMENT):
        refit.break_off(arena)


def _do(arena: Arena, act: Act) -> None:
    try:
        act(arena)
    except Exception:  # the next pass tries again
        log.exception("desk_failed")
    finally:
        _busy.release()
