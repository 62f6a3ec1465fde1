"""A bot's record against each other bot: over all finished matches of tournaments that both sat at.

Comparisons are left out: they are tests under conditions of their own, and have pages of their own.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Integer, and_, case, cast, func, select

from service.contest import COMPARISON
from service.errors import NotFound
from service.tables import account, bot, entrant, seat, tournament
from service.work import Arena


@dataclass(frozen=True, slots=True)
class Opponent:
    """Matches together, how many ended above and below the other, and the mean of points ahead."""

    bot_id: str
    name: str
    owner: str
    house: bool
    games: int
    wins: int
    losses: int
    difference: float

    @property
    def ties(self) -> int:
        """Matches both ended level."""
        return self.games - self.wins - self.losses


def opponents(arena: Arena, bot_id: str, *, limit: int = 100) -> list[Opponent]:
    """Those it met most, all versions of both together; raises `NotFound`."""
    with arena.read() as db:
        if db.scalar(select(bot.c.id).where(bot.c.id == bot_id)) is None:
            raise NotFound(f"no bot {bot_id}")
        found = db.execute(_met(bot_id).limit(limit)).all()
    return [
        Opponent(
            row.id, row.name, row.owner, row.house, row.games, row.wins, row.losses, row.ahead / row.games
        )
        for row in found
    ]


def _met(bot_id: str) -> Any:
    mine, theirs = seat.alias("mine"), seat.alias("theirs")
    my_entry, their_entry = entrant.alias("my_entry"), entrant.alias("their_entry")
    games = func.count().label("games")
    return (
        select(bot.c.id, bot.c.name, bot.c.house, account.c.name.label("owner"), games)
        .add_columns(
            _how_many(mine.c.place < theirs.c.place).label("wins"),
            _how_many(mine.c.place > theirs.c.place).label("losses"),
            func.sum(mine.c.counted - theirs.c.counted).label("ahead"),
        )
        .select_from(my_entry)
        .join(mine, _same_entrant(mine, my_entry))
        .join(
            theirs,
            and_(
                theirs.c.tournament_id == mine.c.tournament_id,
                theirs.c.number == mine.c.number,
                theirs.c.seat != mine.c.seat,
            ),
        )
        .join(their_entry, _same_entrant(theirs, their_entry))
        .join(bot, bot.c.id == their_entry.c.bot_id)
        .join(account, account.c.id == bot.c.owner_id)
        .join(tournament, tournament.c.id == my_entry.c.tournament_id)
        .where(my_entry.c.bot_id == bot_id, their_entry.c.bot_id != bot_id)
        .where(tournament.c.format != COMPARISON)
        .group_by(bot.c.id, bot.c.name, bot.c.house, account.c.name)
        .order_by(games.desc(), bot.c.name)
    )


def _same_entrant(chair: Any, entry: Any) -> Any:
    return and_(chair.c.tournament_id == entry.c.tournament_id, chair.c.entrant == entry.c.number)


def _how_many(condition: Any) -> Any:
    return cast(func.sum(case((condition, 1), else_=0)), Integer)
