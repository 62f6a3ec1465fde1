"""Whose turn it is, and how much of a tournament a worker takes at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import exists, func, select

from service.formats import FORMATS
from service.progress import LEASED
from service.tables import EPOCH, match
from service.tables import tournament as rows
from service.work import Work

AHEAD = {name for name, each in FORMATS.items() if each.ahead}  # all their matches are known from the start
SAMPLE = 1_000  # matches looked at
MOST = 64  # matches under one lease
RUNNING, PLANNED = rows.c.status == "running", match.c.status == "planned"
PLAYABLE = (PLANNED, match.c.tournament_id.in_(select(rows.c.id).where(RUNNING)))
TOKEN = match.c.lease_token
HELD = select(TOKEN, match.c.tournament_id).where(LEASED).order_by(TOKEN).limit(SAMPLE)
COLUMNS = (rows.c.id, rows.c.owner_id, rows.c.claimed_at, rows.c.format, rows.c.written, rows.c.total)
UNWRITTEN = (rows.c.groups < rows.c.planned).label("unwritten")
PLANNED_OF_IT = (match.c.tournament_id == rows.c.id, PLANNED)
FIRST = select(func.min(match.c.number)).where(*PLANNED_OF_IT).scalar_subquery().label("first")
TURNS = select(*COLUMNS, UNWRITTEN, FIRST).where(RUNNING, exists().where(*PLANNED_OF_IT))


@dataclass(frozen=True, slots=True)
class Share:
    """What one worker takes at once: matches that last `ms` together, and few where few are left.

    `lasts`: milliseconds of a match by tournament, as the worker measured them; of one it does not know it
    takes a single match. `workers`: how many matches can be played at once, everywhere.
    """

    ms: float = 0.0
    lasts: Mapping[str, float] = field(default_factory=dict)
    workers: int = 1

    def fits(self, tournament_id: str) -> int:
        """Matches that last so long together, one at least."""
        lasts = self.lasts.get(tournament_id)
        return 1 if lasts is None else min(MOST, max(1, round(self.ms / max(lasts, 1.0))))


ONE = Share()


def waiting(work: Work) -> "Sequence[Any]":
    """Running tournaments with something planned, and the number of the `first` match that is."""
    return work.db.execute(TURNS).all()


def in_turn(work: Work, found: "Sequence[Any]") -> "Sequence[Any]":
    """What `waiting` found, in the order they are to be served.

    First the owner with the fewest leases, then whoever was served longest ago: neither many tournaments, nor
    a long one, nor short matches, of which a lease has many, give anybody more than a fair share.
    """
    if len(found) < 2:
        return found
    # Tokens are random, so of more than a thousand the first are a fair sample: a claim among ten thousand
    # workers costs no more than that. An index has them in this order.
    held = Counter(tournament_id for _, tournament_id in {tuple(row) for row in work.db.execute(HELD)})
    burden: Counter[str] = Counter()
    served: dict[str, datetime] = {}
    for row in found:
        burden[row.owner_id] += held[row.id]
        served[row.owner_id] = max(served.get(row.owner_id, EPOCH), row.claimed_at or EPOCH)

    def turn(row: Any) -> tuple[int, datetime, int, datetime, str]:
        owner = row.owner_id
        return burden[owner], served[owner], held[row.id], row.claimed_at or EPOCH, row.id

    return sorted(found, key=turn)


def most(share: Share, of: Any) -> int:
    """How many matches of a tournament that `waiting` found one lease is of: as many as fit, one at least.

    But at most half of what each worker would get of what is left, so that none idles at the end.
    """
    left = (of.total if of.unwritten or of.format in AHEAD else of.written) - of.first
    part: int = -(-left // (2 * max(share.workers, 1)))
    return max(1, min(part, share.fits(of.id)))


def untried(found: "Sequence[Any]") -> "Sequence[Any]":
    """The first of these planned matches that one lease may be of together.

    What was tried before is played by itself, so that another end without a result says what it was.
    """
    some = 0
    while some < len(found) and not found[some].attempts:
        some += 1
    return found[: max(1, some)]


def count(work: Work, most: int) -> int:
    """How many matches could be played now, counted up to `most`."""
    some = select(match.c.number).where(*PLAYABLE).limit(most).subquery()
    return work.db.scalar(select(func.count()).select_from(some)) or 0
