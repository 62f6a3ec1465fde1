"""What matches cost, as measured where the same rules were played at tables of the same size."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Connection, func, select, type_coerce

from engine.rules import RuleSet
from service.limits import Limits
from service.tables import entrant, match, seat, tournament

LATEST = 20  # tournaments
AROUND = 0.1  # seconds a match takes beside its bots' computing, as long as none was measured


@dataclass(frozen=True, slots=True)
class Costs:
    """A match's seconds: CPU time of its bots, and how long it keeps a worker busy.

    `basis` of the CPU time: `bots`, all these bots were measured; `pool`, some are taken for average ones of
    their pool; `limits`, nothing was measured, and it is the most that the limits allow.
    """

    cpu_seconds: float
    match_seconds: float
    basis: str


def expected(db: Connection, bots: Sequence[str], rules: RuleSet, players: int, limits: Limits) -> Costs:
    """The costs of a match between any `players` of these bots."""
    pool = (tournament.c.rules_key == rules.key(), tournament.c.players == players)
    query = select(tournament.c.id).where(*pool, tournament.c.started_at.is_not(None))
    latest = db.scalars(query.order_by(tournament.c.started_at.desc()).limit(LATEST)).all()
    measured = _by_bot(db, latest)
    if not measured:
        most = players * limits.cpu_budget_ms(rules.decisions(players)) / 1000
        return Costs(most, most + AROUND, "limits")
    usual = sum(total for total, _ in measured.values()) / sum(count for _, count in measured.values())
    each = [measured[bot][0] / measured[bot][1] if bot in measured else usual for bot in bots]
    cpu = players * sum(each or [usual]) / max(len(each), 1) / 1000
    around = max(0.0, _match_seconds(db, latest) - players * usual / 1000)
    return Costs(cpu, cpu + around, "bots" if bots and set(bots) <= set(measured) else "pool")


def _by_bot(db: Connection, tournaments: Sequence[str]) -> dict[str, tuple[float, int]]:
    """CPU milliseconds, and seats they were used in, by bot."""
    who = (entrant.c.tournament_id == seat.c.tournament_id) & (entrant.c.number == seat.c.entrant)
    query: Any = (
        select(entrant.c.bot_id, func.sum(seat.c.cpu_ms), func.count())
        .join(seat, who)
        .where(seat.c.tournament_id.in_(tournaments))
        .group_by(entrant.c.bot_id)
    )
    return {bot: (float(total), count) for bot, total, count in db.execute(query)}


def _match_seconds(db: Connection, tournaments: Sequence[str]) -> float:
    """The mean from a match's start to its end; only last attempts count."""
    took = type_coerce(match.c.finished_at, BigInteger) - type_coerce(match.c.started_at, BigInteger)
    done = (match.c.tournament_id.in_(tournaments), match.c.status == "done")
    return float(db.scalar(select(func.avg(took)).where(*done)) or 0.0) / 1_000_000
