"""What takes long and nobody waits for: ratings fitted, finished tournaments summed up, old records moved.

The process that watches over leases does this too, in a thread beside the watch, which must not wait for it.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import datetime, timedelta

import structlog

from service import folds, inquiry, refit, retention, summaries
from service.errors import Unavailable
from service.work import Arena

log = structlog.get_logger(__name__)
SUMMED_AT_ONCE = 5
MOMENT = 1.0  # seconds
PUT_OFF = timedelta(minutes=10)  # what failed lets others go first for so long
Act = Callable[[Arena], object]
_busy = threading.Lock()
_put_off: dict[str, datetime] = {}  # tournaments with which something failed, until when


def work_off(arena: Arena) -> None:
    """Fit what is due, and sum up some of what is not yet; when all is, move old records."""
    refit.settle_running(arena)
    if len(sum_up(arena)) < SUMMED_AT_ONCE:
        move_next(arena)


def sum_up(arena: Arena) -> list[str]:
    """Sum up the latest few tournaments that are over and not summed up; the ids of those that were."""
    with arena.read() as db:
        missing = summaries.missing(db)
    return _by_themselves(arena, missing, _sum_up, SUMMED_AT_ONCE)


def move_next(arena: Arena) -> list[str]:
    """Move the records of the oldest tournament that is due, if the operator wants it; which it was."""
    due = retention.due(arena) if arena.settings.records_days else []
    return _by_themselves(arena, due, retention.move, 1)


def _by_themselves(
    arena: Arena, listed: Iterable[str], act: Callable[[Arena, str], object], most: int
) -> list[str]:
    """Act on so many, whatever becomes of the others; what fails is put off, so that none blocks the rest."""
    now, done = arena.clock(), []
    for each in [each for each in listed if _put_off.get(each, now) <= now][:most]:
        _put_off.pop(each, None)
        try:
            act(arena, each)
        except Unavailable:  # so is all else
            raise
        except Exception:
            log.exception("desk_put_off", tournament=each, act=act.__name__)
            _put_off[each] = now + PUT_OFF
        else:
            done.append(each)
    return done


def _sum_up(arena: Arena, tournament_id: str) -> None:
    standings = [asdict(row) for row in folds.added_up(arena, tournament_id)]
    fairness = asdict(inquiry.worked_out(arena, tournament_id, whole=True))
    with arena.work() as work:
        summaries.keep(work, tournament_id, {"standings": standings, "fairness": fairness})


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
