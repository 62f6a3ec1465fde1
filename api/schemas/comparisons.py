"""Shapes of comparisons of two bots."""

from marshmallow import fields, validate

from api.schemas.fields import (
    Answer,
    Number,
    Schema,
    Text,
    Whole,
    choice,
    free,
    many,
    moment,
    nested,
    number,
    text,
    whole,
)
from api.schemas.tournaments import ENTRANT, LIMITS, RULES, EntrantAnswer
from service import usual
from service.contest import FARTHEST, LEAST_RISK, MOST_FIELD, MOST_GROUPS, MOST_RISK
from service.sprt import FEWEST

STATUSES = ("running", "paused", "finished", "cancelled")


def _bot(meaning: str, version: int) -> Text:
    return Text(
        required=True,
        validate=validate.Length(1, 100, error="must be a bot's id, or BOT:VERSION"),
        metadata={"description": meaning, "example": f"{ENTRANT}:{version}"},
    )


class NewComparison(Schema):
    """What is to be compared; what is left out has the default named here."""

    a = _bot("is this one, with its newest ready version or BOT:VERSION,", 4)
    b = _bot("better than this one?", 3)
    field = fields.List(
        Text(validate=validate.Length(1, 100, error="must be a bot's id, or BOT:VERSION")),
        validate=validate.Length(0, MOST_FIELD, error=f"must be at most {MOST_FIELD} bots"),
        error_messages={"invalid": "must be a list of bots"},
        metadata={
            "description": "who has the other seats; default: a and b sit alternately, at an even table",
            "example": [],
        },
    )
    rules = fields.Dict(
        error_messages={"invalid": 'must be an object such as {{"preset": "fundex"}}'},
        metadata={
            "description": f"a preset and its switches, see /rules; default {usual.PRESET}",
            "example": RULES,
        },
    )
    players = Whole(2, 11, metadata={"description": f"seats at a table; default {usual.SEATS}", "example": 2})
    elo0 = Number(
        -FARTHEST,
        FARTHEST,
        metadata={
            "description": f"reject if a is better by this at most; default {usual.ELO0:g}",
            "example": 0,
        },
    )
    elo1 = Number(
        -FARTHEST,
        FARTHEST,
        metadata={
            "description": f"accept if a is better by this at least; default {usual.ELO1:g}",
            "example": 20,
        },
    )
    alpha = Number(
        LEAST_RISK,
        MOST_RISK,
        metadata={"description": f"risk of accepting wrongly; default {usual.RISK}", "example": 0.05},
    )
    beta = Number(
        LEAST_RISK,
        MOST_RISK,
        metadata={"description": f"risk of rejecting wrongly; default {usual.RISK}", "example": 0.05},
    )
    cap = Whole(
        FEWEST,
        MOST_GROUPS,
        metadata={"description": f"deals at the most; default {usual.CAP}", "example": 2000},
    )
    limits = fields.Dict(
        error_messages={"invalid": 'must be an object such as {{"decision_ms": 1000}}'},
        metadata={"description": "what a bot may use, as for tournaments", "example": LIMITS},
    )
    seed = Text(
        allow_none=True,
        validate=validate.Length(1, 200, error="must be one line of 1 to 200 printable characters"),
        metadata={"description": "draws who of the field sits where; default: drawn", "example": "anything"},
    )


class EstimateAnswer(Answer):
    """A value with its 95 % interval."""

    value = number("as it looks; null without games, or if it is infinite", 17.4, null=True)
    low = number("95 % surely above this", 2.2, null=True)
    high = number("95 % surely below this", 32.6, null=True)


class ComparisonAnswer(Answer):
    """A comparison of two bots."""

    id = text("opaque; its matches are at /tournaments/{id}/matches", "c_k4m2xw9tq7bn")
    owner = text("whose it is", "ada")
    status = choice("where it stands", STATUSES)
    reason = text("why it was cancelled", None, null=True)
    rules = free("a preset and its switches", RULES)
    players = whole("seats at a table", 2)
    a = nested(EntrantAnswer, "the one that may be better")
    b = nested(EntrantAnswer, "the other")
    field = many(EntrantAnswer, "who has the other seats")
    elo0 = number("reject if a is better by this at most", 0.0)
    elo1 = number("accept if a is better by this at least", 20.0)
    alpha = number("risk of accepting wrongly", 0.05)
    beta = number("risk of rejecting wrongly", 0.05)
    cap = whole("deals at the most", 2000)
    lower = number("log-likelihood ratio at which it is rejected that a is better", -2.944)
    upper = number("log-likelihood ratio at which it is accepted", 2.944)
    verdict = text(
        "accepted (a is better), rejected, or undecided (cap); null until then", "accepted", null=True
    )
    groups = whole("deals the test has read, in their order; two matches each", 344)
    played = whole("deals that are played; the test does not look at those after its end", 351)
    llr = number("log-likelihood ratio so far", 2.97)
    score = number("a's share of the points against b; null before the first deal", 0.528, null=True)
    elo = nested(EstimateAnswer, "that as Elo; after the end of a test a little too far out")
    points = nested(EstimateAnswer, "a's points more than b's, a match")
    created_at = moment("when it was made")
    finished_at = moment("when it was over", null=True)
