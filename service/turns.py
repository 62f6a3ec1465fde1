"""Whose turn it is, and how much of a tournament a worker takes at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import exists, func, select

from service.fence import OF_THIS
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
IS_ANYTHING = select(exists().where(*PLAYABLE))
IS_ANYTHING_OF_THIS = select(exists().where(*PLAYABLE, OF_THIS))
TOKEN = match.c.lease_token
IN_PLAY = select(TOKEN, match.c.tournament_id).where(LEASED).order_by(TOKEN).limit(SAMPLE)
COLUMNS = (rows.c.id, rows.c.owner_id, rows.c.claimed_at, rows.c.format, rows.c.written, rows.c.total)
TURNS = select(*COLUMNS).where(RUNNING, exists().where(match.c.tournament_id == rows.c.id, PLANNED))


@dataclass(frozen=True, slots=True)
class Share:
    """What one worker takes at once: matches that last `ms` together, and few where few are left.

    `lasts`: milliseconds of a match by tournament, as the worker measured them; of one it does not know it
    takes a single match. `workers`: how many matches can be played at once, everywhere.
    """

    ms: float = 0.0
    lasts: Mapping[str, float] = field(default_factory=dict)
    workers: int = 1

    def of(self, tournament_id: str) -> int:
        """Matches that fit, one at least."""
        lasts = self.lasts.get(tournament_id)
        return 1 if lasts is None else min(MOST, max(1, round(self.ms / max(lasts, 1.0))))

    def fair(self, left: int) -> int:
        """At most half of what each worker would get of what is left, so that none idles at the end."""
        return -(-left // (2 * max(self.workers, 1)))


ONE = Share()


def waiting(work: Work) -> "Sequence[Any]":
    """Running tournaments with something planned."""
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
    in_play = Counter(tournament_id for _, tournament_id in {tuple(row) for row in work.db.execute(IN_PLAY)})
    burden: Counter[str] = Counter()
    served: dict[str, datetime] = {}
    for row in found:
        burden[row.owner_id] += in_play[row.id]
        served[row.owner_id] = max(served.get(row.owner_id, EPOCH), row.claimed_at or EPOCH)

    def turn(row: Any) -> tuple[int, datetime, int, datetime, str]:
        owner = row.owner_id
        return burden[owner], served[owner], in_play[row.id], row.claimed_at or EPOCH, row.id

    return sorted(found, key=turn)


def taken(share: Share, of: Any, found: "Sequence[Any]") -> "Sequence[Any]":
    """How many of the planned matches `found` of a tournament one lease gets.

    What was tried before is played by itself, so that another end without a result says what it was.
    """
    some = 0
    while some < len(found) and not found[some].attempts:
        some += 1
    known = of.total if of.format in AHEAD else of.written
    left = max(known - found[-1].number - 1, 0) + len(found)
    return found[: max(1, min(some, share.fair(left)))]


def anything(work: Work, tournament_id: str | None = None) -> bool:
    """Whether something waits to be played, at all or of one tournament."""
    if tournament_id is None:
        return bool(work.db.scalar(IS_ANYTHING))
    return bool(work.db.scalar(IS_ANYTHING_OF_THIS, {"this": tournament_id}))


def count(work: Work, most: int) -> int:
    """How many matches could be played now, counted up to `most`."""
    some = select(match.c.number).where(*PLAYABLE).limit(most).subquery()
    return work.db.scalar(select(func.count()).select_from(some)) or 0
