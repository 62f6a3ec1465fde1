"""What follows from finished matches: standings and the crosstable."""

from dataclasses import dataclass

from sqlalchemy import select

from engine.rules import RuleSet
from service import luck, order, results, summaries, tournaments
from service import standings as numbers
from service.errors import NotFound
from service.tables import tournament as tournament_rows
from service.tournaments import Entrant
from service.work import Arena


@dataclass(frozen=True, slots=True)
class StandingRow:
    """A line of the standings; entrants that are level share a place. Only whole deal groups count.

    `places`: how often it came first, second, …; `bid_accuracy`: the share of bids made exactly. Points
    a match: `average` = `dealt` (what the average holder of the same cards took) + `earned`; `swing` is how
    far the cards moved one match. These three are None where deals are not played from every seat.
    """

    place: int
    entrant: int
    bot_id: str
    version: int | None
    name: str
    points: int
    average: float
    wins: int
    exact_bids: int
    bid_accuracy: float | None
    faults: int
    outs: int
    matches: int
    places: list[int]
    status: str
    dealt: float | None
    earned: float | None
    swing: float | None


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two entrants' matches together: average difference of points (a minus b), and who came out ahead."""

    a: int
    b: int
    a_name: str
    b_name: str
    games: int
    difference: float | None
    wins_a: int
    wins_b: int
    ties: int


def standings_of(arena: Arena, tournament_id: str) -> list[StandingRow]:
    """Who stands where, while it is running too; of one that is over as the desk has kept it."""
    with arena.read() as db:
        kept = summaries.of_tournament(db, tournament_id)
        listed = tournaments.entrants(db, tournament_id) if kept else []
    if kept is None:
        return added_up(arena, tournament_id)
    return [StandingRow(**{**line, "name": listed[line["entrant"]].name}) for line in kept["standings"]]


def added_up(arena: Arena, tournament_id: str) -> list[StandingRow]:
    """The same, out of its matches."""
    return rows(_played(arena, tournament_id))


def rows(played: "Played") -> list[StandingRow]:
    """The same of what was played; pure."""
    lines = numbers.standings(len(played.entrants), played.results, played.group_size)
    shares = luck.totals(played.whole()) if played.duplicate else {}
    return [
        _line(line, played, shares.get(line.entrant))
        for line in order.ranked(lines, played.entrants, played.order)
    ]


def crosstable_of(arena: Arena, tournament_id: str) -> list[PairRow]:
    """Every pair of entrants that met."""
    played = _played(arena, tournament_id)
    listed = played.entrants
    return [
        PairRow(
            a=row.a,
            b=row.b,
            a_name=listed[row.a].name,
            b_name=listed[row.b].name,
            games=row.games,
            difference=row.average_difference,
            wins_a=row.wins_a,
            wins_b=row.wins_b,
            ties=row.ties,
        )
        for row in numbers.crosstable(len(listed), played.results, played.group_size)
    ]


@dataclass(frozen=True, slots=True)
class Played:
    """A tournament's entrants and finished matches; `bids` are those of one match.

    `order` is the format's own: entrants best first, level ones together; None: by points.
    """

    entrants: list[Entrant]
    results: list[numbers.Result]
    group_size: int
    duplicate: bool
    bids: int
    order: list[list[int]] | None

    def whole(self) -> list[numbers.Result]:
        return numbers.whole_groups(self.results, self.group_size)


def _played(arena: Arena, tournament_id: str) -> Played:
    with arena.read() as db:
        query = select(tournament_rows).where(tournament_rows.c.id == tournament_id)
        row = db.execute(query).first()
        if row is None:
            raise NotFound(f"no tournament {tournament_id}")
        listed = tournaments.entrants(db, tournament_id)
        found = [each.result for each in results.of_tournament(db, tournament_id)]
        own = order.of_format(db, row)
    bids = len(RuleSet.parse(row.rules, row.players).rounds(row.players))
    return Played(listed, found, row.players if row.duplicate else 1, row.duplicate, bids, own)


def _line(line: numbers.Standing, played: Played, share: luck.Dealt | None) -> StandingRow:
    who, bids = played.entrants[line.entrant], line.matches * played.bids
    same = ("place", "entrant", "points", "average", "wins", "exact_bids", "faults", "outs", "matches")
    return StandingRow(
        **{name: getattr(line, name) for name in same},
        bot_id=who.bot_id,
        version=who.version,
        name=who.name,
        bid_accuracy=line.exact_bids / bids if bids else None,
        places=list(line.places),
        status=order.status_of(who),
        dealt=share.dealt if share else None,
        earned=share.earned if share else None,
        swing=share.swing if share else None,
    )
