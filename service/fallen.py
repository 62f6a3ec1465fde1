"""Why matches fell away: what is stored of their tournament, and of who sat in them, tells it."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from service import tournaments
from service.contest import COMPARISON
from service.tables import tournament as rows

STOPPED = {"ladder": "its ladder was stopped", COMPARISON: "its comparison was decided by then"}


def causes(db: Connection, tournament_id: str, matches: "Sequence[Row[Any]]") -> dict[int, str]:
    """Of matches of one tournament that are void, by number.

    Who leaves takes along all that is open with it, and nobody leaves what is over: so it is never the end
    of a tournament that a match with somebody who left fell away with.
    """
    listed = [each for each in matches if each.status == "void"]
    if not listed:
        return {}
    of = db.execute(
        select(rows.c.status, rows.c.format, rows.c.reason).where(rows.c.id == tournament_id)
    ).one()
    gone = {each.number: each for each in tournaments.entrants(db, tournament_id) if each.status != "in"}
    return {
        each.number: _left(gone, each.entrants) or _ended(of.status, of.format, of.reason) for each in listed
    }


def _left(gone: "dict[int, tournaments.Entrant]", numbers: Sequence[int]) -> str | None:
    """Who of these left, each once."""
    who = [gone[number] for number in dict.fromkeys(numbers) if number in gone]
    said = [
        f"{each.name} {'was disqualified' if each.status == 'disqualified' else 'withdrew'}" for each in who
    ]
    return " and ".join(said) or None


def _ended(status: str, format_name: str, reason: str | None) -> str:
    what = "comparison" if format_name == COMPARISON else "tournament"
    if status == "cancelled":
        said = reason or "cancelled"
        return f"its {what} was {said if said.startswith('cancelled') else f'cancelled: {said}'}"
    return STOPPED.get(format_name, f"its {what} ended without it")
