"""Shapes of tournaments and what follows from their matches."""

from typing import Any, NoReturn

from marshmallow import ValidationError, fields, validate

from api.context import arena
from api.schemas.fields import (
    EXAMPLE_TIME,
    Answer,
    Moment,
    PageQuery,
    Schema,
    Start,
    Switch,
    Text,
    Whole,
    choice,
    flag,
    free,
    many,
    moment,
    nested,
    number,
    numbers,
    objects,
    one_of,
    text,
    whole,
)
from service import spec
from service.contest import COMPARISON
from service.formats import FORMATS
from service.limits import Limits
from service.reading import LIMIT, MOST_ENTRANTS
from service.spec import MOST_DEALS, MOST_MEETINGS, MOST_STAGES, SAME_OWNER
from service.tournaments import STATUSES

ENTRANT = "bot_k4m2xw9tq7bn"
ENTRANTS = [ENTRANT, "bot_h7d2mpq4xz8w:3", "bot_t5rw3kcz9ynb", "bot_q2vx8jm6fhsd"]
ENTRANT_STATUSES = ("in", "withdrawn", "disqualified")
RULES = {"preset": "fundex", "secret_bids": True}
LIMITS = {"decision_ms": 1000, "match_cpu_ms": 5000}


class NewEntry(Schema):
    """Whether authors may enter their bots themselves, before the start."""

    open = Switch(required=True, metadata={"description": "whether they may", "example": True})
    limit = Whole(
        2, MOST_ENTRANTS, metadata={"description": f"entrants in all; default {LIMIT}", "example": 32}
    )
    deadline = Moment(
        allow_none=True, metadata={"description": "until when; default: the start", "example": EXAMPLE_TIME}
    )


class ChangedTournament(Schema):
    """What may be changed before the start; what is left out stays."""

    EXAMPLE = {"deals": 50, "start_at": EXAMPLE_TIME}  # noqa: RUF012

    name = Text(
        validate=validate.Length(max=500, error="must be one line of 1 to 120 printable characters"),
        metadata={"description": "one line", "example": "Autumn open"},
    )
    format = one_of(tuple(FORMATS), "how entrants meet")
    entrants = fields.List(
        Text(validate=validate.Length(1, 100, error="must be a bot's id, or BOT:VERSION")),
        validate=validate.Length(max=MOST_ENTRANTS, error=f"must be at most {MOST_ENTRANTS} bots"),
        error_messages={"invalid": "must be a list of bots"},
        metadata={
            "description": "bots (each with its newest ready version at the start), or BOT:VERSION; two or "
            "more, unless entry is open. Fewer than seats at a table: house bots fill it",
            "example": ENTRANTS,
        },
    )
    rules = fields.Dict(
        error_messages={"invalid": 'must be an object such as {{"preset": "fundex"}}'},
        metadata={"description": "a preset and its switches, see /rules; default fundex", "example": RULES},
    )
    players = Whole(2, 11, metadata={"description": "seats at a table; default 4", "example": 4})
    deals = Whole(1, MOST_DEALS, metadata={"description": "deals each table plays; default 1", "example": 20})
    duplicate = Switch(
        metadata={
            "description": "whether every deal is played once from each seat rotation; default true",
            "example": True,
        }
    )
    meetings = Whole(
        1,
        MOST_MEETINGS,
        metadata={
            "description": "least tables a pair shares (in a gauntlet with the challenger); default 1",
            "example": 1,
        },
    )
    stages = Whole(
        1,
        MOST_STAGES,
        allow_none=True,
        metadata={"description": "swiss: how many; default: log of entrants to base k, and 3", "example": 6},
    )
    challenger = Text(
        allow_none=True,
        validate=validate.Length(1, 100, error="must be a bot's id, or BOT:VERSION"),
        metadata={"description": "gauntlet: the entrant that meets all others", "example": ENTRANT},
    )
    same_owner = one_of(
        SAME_OWNER, "apart: bots of one author meet as little as can be; not in a round robin"
    )
    repeat = Text(
        allow_none=True,
        metadata={
            "description": "a cron line, UTC: when one starts, the next is made; stops when one is cancelled "
            "before its start",
            "example": "0 18 * * 1",
        },
    )
    entry = fields.Nested(
        NewEntry,
        metadata={"description": "whether authors enter bots themselves; default: they do not"},
    )
    seed = Text(
        allow_none=True,
        validate=validate.Length(1, 200, error="must be one line of 1 to 200 printable characters"),
        metadata={
            "description": "draws the schedule, never the deals; default: drawn",
            "example": "anything",
        },
    )
    start_at = Start(
        allow_none=True,
        metadata={
            "description": 'a time (RFC 3339); "manual": by /start; "draft": so too, and only its owner '
            "sees it. Default, or a time that is past: now",
            "example": "2030-12-01T18:00:00Z",
        },
    )
    limits = fields.Dict(
        error_messages={"invalid": 'must be an object such as {{"decision_ms": 1000}}'},
        metadata={
            "description": "what a bot may use; any of " + ", ".join(Limits.__slots__),
            "example": LIMITS,
        },
    )


class NewTournament(ChangedTournament):
    """What a tournament is made of; what is left out has the default named here."""

    EXAMPLE = {  # noqa: RUF012
        "name": "Autumn open",
        "format": "round_robin",
        "entrants": ENTRANTS,
        "rules": RULES,
        "players": 4,
        "deals": 20,
        "duplicate": True,
        "seed": "anything",
        "start_at": EXAMPLE_TIME,
        "limits": LIMITS,
    }

    name = Text(
        required=True,
        validate=validate.Length(max=500, error="must be one line of 1 to 120 printable characters"),
        metadata={"description": "one line", "example": "Autumn open"},
    )

    def handle_error(self, error: ValidationError, data: Any, **_: Any) -> NoReturn:
        """Tells at once what is wrong with the other fields too."""
        known: dict[str, Any] = error.normalized_messages()  # type: ignore[no-untyped-call]
        valid = error.valid_data if isinstance(error.valid_data, dict) else {}
        raise ValidationError({**spec.faults(arena(), valid, known), **known}) from error


class NewEntrant(Schema):
    """A bot that enters."""

    entrant = Text(
        required=True,
        validate=validate.Length(1, 100, error="must be a bot's id, or BOT:VERSION"),
        metadata={"description": "a bot of yours, with :VERSION for a certain one", "example": ENTRANT},
    )


class Disqualification(Schema):
    """Why a bot is out."""

    reason = Text(
        required=True,
        validate=validate.Length(1, 200, error="must be one line of 1 to 200 printable characters"),
        metadata={"description": "one line that everybody is told", "example": "plays another author's code"},
    )


class TournamentQuery(PageQuery):
    """Which tournaments."""

    series = Text(
        validate=validate.Length(1, 80, error="must be a tournament's id"),
        metadata={"description": "only this one and those that repeat it", "example": "t_k4m2xw9tq7bn"},
    )

    status = one_of(STATUSES, "only those in this state")


class FormatQuery(Schema):
    """JSON or a table for a spreadsheet."""

    format = one_of(("json", "csv"), "csv: a table for a spreadsheet", load_default="json")


class DryRunQuery(Schema):
    """Whether to make it, or only to plan it."""

    dry_run = Switch(
        in_form=True,
        load_default=False,
        metadata={"description": "true: only plan it; nothing is made", "example": False},
    )


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
    entrants = whole("how many", 24)
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


class StandingAnswer(Answer):
    """A line of the standings."""

    place = whole(
        "1 is best; equals share one. Round robin: by points; knockout: by how far it came; else by points a "
        "match. Who has left comes after all others",
        1,
    )
    entrant = whole("its number", 0)
    bot_id = text("which bot", ENTRANT)
    version = whole("which version", 3, null=True)
    name = text("the bot's name", "spy")
    points = whole("points in all", 4210)
    average = number("points a match", 52.6)
    wins = whole("matches won, shared first places too", 31)
    exact_bids = whole("bids made exactly", 402)
    bid_accuracy = number("share of its bids made exactly; null before the first", 0.503, null=True)
    faults = whole("faults in these matches", 0)
    outs = whole("matches it was out of before the end", 0)
    matches = whole("matches that count: those of whole deal groups", 80)
    places = numbers("how often it came first, second, and so on", (31, 22, 17, 10))
    dealt = number(
        "points a match that the average holder of the same cards took; null without duplicate deals",
        50.1,
        null=True,
    )
    earned = number("points a match it took over that: average = dealt + earned", 2.5, null=True)
    swing = number("points by which the cards moved a single match; cancelled over a group", 13.9, null=True)
    status = choice("in, or left, or a house bot that fills", (*ENTRANT_STATUSES, "filler"))


class CheckAnswer(Answer):
    """One test of what should make no difference."""

    name = text("seat, dealer, worker faults, worker scores, or company: two that help each other", "seat")
    p = number(
        "how likely chance alone looks so uneven; null where there was too little to test", 0.34, null=True
    )
    adjusted = number("the same, corrected for the number of checks (Holm)", 0.8, null=True)
    found = flag("whether that is at or below the level", False)
    levelled = flag("whether the schedule evens it out, everybody being equally often in each seat", True)
    alarm = flag("found, and not evened out", False)
    effect = number("how large it is: points a match, or faults", 0.8, null=True)
    text = text("in words", "seat 2 did best; between the best and the worst seat lie 0.8 points a match")
    detail = objects("the numbers behind it")


class FairnessAnswer(Answer):
    """Whether a tournament was fair."""

    tournament_id = text("which", "t_k4m2xw9tq7bn")
    level = number("how often anything is found where nothing makes a difference", 0.01)
    matches = whole("matches looked at: those of whole deal groups", 480)
    groups = whole("deals", 120)
    alarm = flag("whether any check gives alarm", False)
    checks = many(CheckAnswer, "what was tested")


class PairAnswer(Answer):
    """What two entrants did to each other."""

    a = whole("an entrant's number", 0)
    b = whole("another's", 1)
    a_name = text("its bot", "spy")
    b_name = text("the other's bot", "counter")
    games = whole("matches together", 80)
    difference = number("average of a's points minus b's; null before they met", 4.2, null=True)
    wins_a = whole("matches a ended above b", 46)
    wins_b = whole("matches b ended above a", 31)
    ties = whole("matches they were level", 3)
