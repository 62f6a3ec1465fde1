"""Shapes of rankings."""

from marshmallow import validate

from api.schemas.fields import (
    Answer,
    Moment,
    Schema,
    Text,
    Whole,
    flag,
    many,
    moment,
    number,
    numbers,
    text,
    whole,
)


class RankingQuery(Schema):
    """Which rankings."""

    rules = Text(
        load_default="fundex",
        validate=validate.Length(1, 40, error="must be the `rules` of a pool, such as fundex"),
        metadata={"description": "a preset, or a pool of /rankings/pools", "example": "fundex"},
    )
    players = Whole(
        2, 11, in_query=True, load_default=4, metadata={"description": "seats at a table", "example": 4}
    )
    at = Moment(metadata={"description": "as it was then; default now", "example": "2030-12-01T18:00:00Z"})


class RankedAnswer(Answer):
    """A line of the rankings."""

    place = whole("1 is best; null for provisional, retired and replaced versions", 1, null=True)
    bot_id = text("which bot", "bot_k4m2xw9tq7bn")
    bot = text("its name", "spy")
    version = whole("which version", 3)
    owner = text("its author's account", "ada")
    house = flag("whether it came with the installation", False)
    rating = number("Elo", 1532.5)
    low = number("95 % surely above this", 1490.0)
    high = number("95 % surely below this", 1575.0)
    matches = whole("matches it rests on", 480)
    groups = whole("different deals it rests on", 120)
    rank_range = numbers("the places it may really have, from and to", (1, 3), null=True)
    provisional = flag("whether it still rests on too little", False)


class RankingAnswer(Answer):
    """The rankings of one pool."""

    rules = text("the rule set", "fundex")
    players = whole("seats at a table", 4)
    model = text("how ratings are computed", "elo-1")
    snapshot = text("which computation this is", "17", null=True)
    at = moment("when it was computed", null=True)
    matches = whole("matches it rests on", 4800)
    items = many(RankedAnswer, "best first")
    next = text("always null: rankings come whole", None, null=True)


class PoolAnswer(Answer):
    """Matches that are rated together."""

    rules = text("a preset, or one with a hash of its switches", "fundex")
    players = whole("seats at a table", 4)
    matches = whole("matches rated", 4800)
