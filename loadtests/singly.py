"""Matches one by one, as tests and measurements take them; workers have several (`workers/playing.py`)."""

from collections.abc import Sequence

from engine.table import Outcome
from service import leases
from service.leases import Assignment
from service.sheet import Sheet, Spent
from service.turns import ONE
from service.work import Arena


def claim(arena: Arena, worker: str) -> Assignment | None:
    """The next match of the tournament whose turn it is; None when there is nothing to do."""
    return next(iter(leases.claim_some(arena, worker, ONE)), None)


def renew(arena: Arena, held: Assignment) -> bool:
    """Hold on to it; False if it was lost."""
    return leases.renew_all(arena, [held])[0]


def finish_and_claim(
    arena: Arena,
    done: Assignment,
    outcome: Outcome,
    spent: Sequence[Spent],
    *,
    mode: str,
    replays: int = 0,
    worker: str,
    more: bool,
) -> tuple[bool, Assignment | None]:
    """Give in what was played and claim the next match if `more`; see `Sheet.of` and `leases.give_in`."""
    sheet = Sheet.of(done, outcome, spent, mode=mode, replays=replays)
    return leases.give_in(arena, sheet, worker=worker, more=more)
