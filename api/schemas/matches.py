"""Shapes of matches."""

from api.schemas.fields import (
    Answer,
    PageQuery,
    choice,
    flag,
    free,
    many,
    moment,
    number,
    numbers,
    objects,
    one_of,
    text,
    whole,
)
from service.matches import STATUSES

STATES = tuple(STATUSES)


class MatchQuery(PageQuery):
    """Which matches."""

    status = one_of(STATES, "only those in this state")


class SeatAnswer(Answer):
    """One seat; what came out is null until the match is done."""

    seat = whole("from 0, in the order of play", 0)
    entrant = whole("who sits there", 3)
    bot_id = text("its bot", "bot_k4m2xw9tq7bn")
    version = whole("its version", 3, null=True)
    name = text("its bot's name", "spy")
    score = whole("its own points", 71, null=True)
    counted = whole("the points that count: fewer for one that was out", 71, null=True)
    exact_bids = whole("bids made exactly", 6, null=True)
    place = whole("1 is best", 1, null=True)
    out = flag("whether it was out before the end", False, null=True)
    faults = whole("its faults", 0, null=True)
    cpu_ms = whole("CPU time it used", 310, null=True)
    wall_ms = whole("time it took over its answers", 420, null=True)
    memory_kb = whole("most memory it used", 21504, null=True)
    waited_ms = whole("time it was ready to run but another had the core", 12, null=True)
    luck = number(
        "points its cards gave it over the table's mean, by what all made of them who held them; "
        "null until the deal was played from every seat, and in lists",
        -12.25,
        null=True,
    )
    earned = number("points it made over that; the same", 3.5, null=True)


class PublicFault(Answer):
    """What everybody may know of a fault."""

    seat = whole("whose", 2)
    kind = text("start, illegal, garbage, timeout, crash, memory, flood or escape", "illegal")
    round = whole("in which round, from 1; 0 before the first", 3)
    decision = whole("at which of its decisions, from 1", 38)
    out = flag("whether it was out from then on", False)


class MatchAnswer(Answer):
    """A match."""

    id = text("opaque", "t_k4m2xw9tq7bn-17")
    tournament_id = text("of which tournament", "t_k4m2xw9tq7bn")
    number = whole("in the order of the schedule, from 0", 17)
    stage = whole("which stage it belongs to", 1)
    group = whole("matches of one group play the same deal", 4)
    rotation = whole("by how many seats everybody moved on", 1)
    status = choice("done, or where it stands", STATES)
    attempts = whole("how often it was begun", 1)
    mode = text("the sandbox it was played in", "A", null=True)
    replays = whole("how often a busy machine spoilt it and it was played again", 0)
    started_at = moment("when it was begun", null=True)
    finished_at = moment("when it was done", null=True)
    seats = many(SeatAnswer, "in the order of play")
    trouble = text("why it was given up, through no bot's fault, or fell away", None, null=True)
    faults = many(PublicFault, "who failed how; empty in lists")


class RecordAnswer(Answer):
    """A whole game; see the engine's documentation of records."""

    format = text("always rage-record", "rage-record")
    version = whole("of the format", 1)
    engine = text("the version of the rules' engine", "1")
    rules = free("a preset and its switches", {"preset": "fundex"})
    players = whole("seats", 4)
    seed = text("what the deals follow from, hexadecimal", "00" * 32)
    out = numbers("seats that were out, in that order", ())
    rounds = objects("each with its deal, moves, tricks and points")
    scores = numbers("points by seat", (71, 40, 55, 38))
    places = numbers("places by seat, 1 is best", (1, 3, 2, 4))
    exact_bids = numbers("bids made exactly, by seat", (6, 3, 4, 3))
    about = free("which match this is and who sat where", {"match": "t_k4m2xw9tq7bn-17"})
