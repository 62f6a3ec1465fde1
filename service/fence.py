"""The key to a match that somebody holds: what is written under it holds as long as that very lease does."""

import secrets
from typing import Any

from sqlalchemy import and_, bindparam, update

from service.tables import match

__all__ = ["FENCE", "FENCED", "KEY", "OF_THIS", "is_of_one", "new_token", "under"]

SEVERAL = "+"  # in the token of a lease of several matches

# Built once: building a statement anew takes as long as asking it.
OF_THIS = match.c.tournament_id == bindparam("this")
KEY = and_(OF_THIS, match.c.number == bindparam("key"))
FENCE = and_(KEY, match.c.status == "leased", match.c.lease_token == bindparam("held"))
FENCED = update(match).where(FENCE)


def under(tournament_id: str, number: int, token: str) -> dict[str, Any]:
    """The fence's values: this match, as long as this very lease is the present one."""
    return {"this": tournament_id, "key": number, "held": token}


def new_token(matches: int) -> str:
    """Nobody else's, in no order, and it tells whether the lease was of one match or of several."""
    return secrets.token_hex(15) + SEVERAL * (matches > 1)


def is_of_one(token: str) -> bool:
    """Whether the lease was of one match from the beginning, so that whoever had it was at this one."""
    return SEVERAL not in token
