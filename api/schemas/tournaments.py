"""Shapes of tournaments, and of what one would be."""

from api.schemas.fields import (
    Answer,
    choice,
    flag,
    free,
    many,
    moment,
    nested,
    number,
    numbers,
    text,
    whole,
)
from service.contest import COMPARISON
from service.formats import FORMATS
from service.spec import SAME_OWNER
from service.tournaments import STATUSES

ENTRANT = "bot_k4m2xw9tq7bn"
ENTRANTS = [ENTRANT, "bot_h7d2mpq4xz8w:3", "bot_t5rw3kcz9ynb", "bot_q2vx8jm6fhsd"]
ENTRANT_STATUSES = ("in", "withdrawn", "disqualified")
RULES = {"preset": "fundex", "secret_bids": True}
LIMITS = {"decision_ms": 1000, "match_cpu_ms": 5000}


class SpanAnswer(Answer):
    """The least and the most of something."""

    least = whole("the least", 20)
    most = whole("the most", 21)


class BalanceAnswer(Answer):
    """How even a schedule is."""

    games = nested(SpanAnswer, "matches an entrant plays")
    seats = nested(SpanAnswer, "matches an entrant plays in one seat")
    pairs = nested(SpanAnswer, "matches two entrants play at one table")


class PrecisionAnswer(Answer):
    """How sure ratings will be, in Elo."""

    rating = number("half-width of the 95 % interval of a rating, among bots of much the same strength", 24.5)
    difference = number("half-width of that of the difference of two ratings", 34.6)


class PlanAnswer(Answer):
    """What a tournament would be."""

    format = choice("how entrants meet", tuple(FORMATS))
    entrants = whole("how many; with open entry as many as may enter", 24)
    full_field = flag("whether entry is open, so that all is told of a full field", False)
    players = whole("seats at a table", 4)
    deals = whole("deals each table plays", 20)
    duplicate = flag("whether every deal is played once from each seat rotation", True)
    seed = text("what the schedule is drawn with: send it to get this very one", "anything")
    matches = whole("matches in all", 3840)
    groups = whole("different deals", 960)
    schedule = text("SHA-256 of the list of matches; null where results decide who meets", "52fc…", null=True)
    balance = nested(BalanceAnswer, "how even it is; null where results decide who meets", null=True)
    precision = nested(PrecisionAnswer, "how sure ratings will be; null where that is unknown", null=True)
    cpu_hours = number("CPU time of all bots", 0.4)
    cpu_basis = choice(
        "bots: measured in these; pool: partly in others under the same rules; limits: the most they may use",
        ("bots", "pool", "limits"),
    )
    match_seconds = number("how long a match keeps a worker busy", 0.31)
    workers = whole("workers there are now", 2)
    waiting = whole("matches of others that wait as well", 0)
    seconds = number("how long it would take; null without workers", 595.2, null=True)
    finish_at = moment("when it would be over; null if that is unknown", null=True)


class EntrantAnswer(Answer):
    """Who plays."""

    number = whole("from 0; names it in standings and matches", 0)
    bot_id = text("which bot", ENTRANT)
    version = whole("which version; null until the start fixes it", 3, null=True)
    name = text("the bot's name", "spy")
    owner = text("its author's account", "ada")
    status = choice("in; of who left, deals that were not whole are void", ENTRANT_STATUSES)
    reason = text("why it was disqualified", None, null=True)
    filler = flag("whether it is a house bot on a seat nobody else had; unrated", False)


class EntryAnswer(Answer):
    """Whether authors may enter their bots themselves."""

    open = flag("whether they may, before the start", True)
    limit = whole("entrants in all; null: no limit of its own", 32, null=True)
    deadline = moment("until when; null: the start", null=True)


class ProgressAnswer(Answer):
    """How far it is."""

    played = whole("matches done", 120)
    total = whole(
        "matches in all. Before the start for as many as may enter; a forecast where results decide what "
        "follows, and of a ladder those planned and one batch more",
        480,
    )
    failed = whole("matches given up, no bot's fault", 0)
    void = whole("matches that fell away: with who left, or with a stop or cancellation", 0)
    faults = whole("faults of bots", 2)
    eta = moment("when it may be over, by the pace so far", null=True)


class FailedAnswer(Answer):
    """A match that was given up, through no bot's fault."""

    match = text("which", "t_k4m2xw9tq7bn-17")
    trouble = text("why", "its worker died while it was played")


class TournamentAnswer(Answer):
    """A tournament."""

    id = text("opaque", "t_k4m2xw9tq7bn")
    name = text("as it is shown", "Autumn open")
    owner = text("the organiser's account", "ada")
    owner_id = text("the account", "acc_k4m2xw9tq7bn")
    format = choice("how entrants meet", (*FORMATS, COMPARISON))
    status = choice("where it stands", STATUSES)
    reason = text("why it was cancelled", None, null=True)
    rules = free("a preset and its switches", RULES)
    players = whole("seats at a table", 4)
    deals = whole("deals each table plays", 20)
    duplicate = flag("whether every deal is played once from each seat rotation", True)
    meetings = whole("least tables a pair shares, in a gauntlet with the challenger", 1)
    stages = whole("swiss: stages asked for; null: by the number of entrants", 6, null=True)
    stage = whole("stages planned so far; tables planned together make one", 1)
    challenger = text("gauntlet: who meets all others", None, null=True)
    same_owner = choice("apart: bots of one author meet as little as can be", SAME_OWNER)
    entry = nested(EntryAnswer, "whether authors may enter their bots themselves")
    repeat = text("the cron line (UTC) it repeats by", None, null=True)
    series = text("the first of those it repeats", None, null=True)
    pair_spread = whole("round robin: how many more tables one pair may share than another", 1, null=True)
    seeds = numbers(
        "knockout: the numbers of who began, best seed first; null in lists", (2, 0, 1), null=True
    )
    limits = free("what a bot may use", LIMITS)
    seed = text("what the schedule was drawn with", "anything")
    secret_hash = text("SHA-256 of the secret that all deals follow from", "9f86d081884c7d65…")
    secret = text("the secret itself, once it is over", None, null=True)
    start_at = moment("when it starts; null: when its owner says so", null=True)
    created_at = moment("when it was made")
    started_at = moment("when it started", null=True)
    finished_at = moment("when it was over", null=True)
    progress = nested(ProgressAnswer, "how far it is")
    entrants = many(EntrantAnswer, "who plays; empty in lists")
    failed = many(FailedAnswer, "matches given up, at most 100; they and their deal groups do not count")
