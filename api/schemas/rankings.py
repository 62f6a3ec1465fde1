"""Shapes of rankings."""

from typing import Any

from marshmallow import validate

from api.schemas.fields import (
    Answer,
    Moment,
    PageQuery,
    Schema,
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
    one_of,
    text,
    whole,
)
from api.schemas.standings import FormatQuery
from service.rating_models import DEFAULT, MODELS


def side(meaning: str, **options: Any) -> Text:
    """A bot, or one version of it."""
    return Text(
        validate=validate.Length(1, 100, error="must be a bot's id, or BOT:VERSION"),
        metadata={"description": f"{meaning}: a bot's id (its newest rated version), or BOT:VERSION",
                  "example": "bot_k4m2xw9tq7bn"},
        **options,
    )  # fmt: skip


class PoolQuery(Schema):
    """Which pool, by which model."""

    rules = Text(
        load_default="fundex",
        validate=validate.Length(1, 40, error="must be the `rules` of a pool, such as fundex"),
        metadata={"description": "a preset, or a pool of /rankings/pools", "example": "fundex"},
    )
    players = Whole(
        2, 11, in_query=True, load_default=4, metadata={"description": "seats at a table", "example": 4}
    )
    model = one_of(
        tuple(MODELS),
        "; ".join(f"{model.name}: {model.about}" for model in MODELS.values()),
        load_default=DEFAULT,
    )


class SnapshotQuery(PoolQuery):
    """Which rankings, and of when."""

    at = Moment(metadata={"description": "as it was then; default now", "example": "2030-12-01T18:00:00Z"})


class RankingQuery(SnapshotQuery, PageQuery, FormatQuery):
    """Which rankings, and which lines of them."""

    anchor = side(
        "a bot that is given 1500 (0 points), the others what they are apart from it; not with `at`"
    )
    owner = Text(
        validate=validate.Length(1, 60, error="must be an account's name"),
        metadata={"description": "only bots of this account", "example": "ada"},
    )
    name = Text(
        validate=validate.Length(1, 60, error="must be a part of a bot's name"),
        metadata={"description": "only bots with this in their name", "example": "spy"},
    )
    house = Switch(
        in_form=True, metadata={"description": "only the house's bots, or only others", "example": False}
    )
    provisional = Switch(
        in_form=True, metadata={"description": "only provisional bots, or only others", "example": False}
    )


class DifferenceQuery(PoolQuery):
    """Which two."""

    a = side("the one", required=True)
    b = side("the other", required=True)


class RankedAnswer(Answer):
    """A line of the rankings."""

    place = whole("1 is best; null for provisional, retired and replaced versions", 1, null=True)
    bot_id = text("which bot", "bot_k4m2xw9tq7bn")
    bot = text("its name", "spy")
    version = whole("which version", 3)
    owner = text("its author's account", "ada")
    house = flag("whether it came with the installation", False)
    rating = number("Elo, or the model's own unit", 1532.5)
    low = number("95 % surely above this; null where the model has no intervals", 1490.0, null=True)
    high = number("95 % surely below this; null where the model has no intervals", 1575.0, null=True)
    rank_range = numbers("the places it may really have, from and to", (1, 3), null=True)
    p_better_next = number("probability that it is better than the next in place", 0.83, null=True)
    matches = whole("matches it rests on", 480)
    groups = whole("different deals it rests on", 120)
    forfeits = whole("matches among them in which it was out, and came last", 0)
    provisional = flag("whether it still rests on too little", False)
    active = flag("whether it was its bot's newest rated version, and the bot not retired", True)
    retired = flag("whether its bot has been retired since", False)
    uploads = whole("versions its author has uploaded so far, of all bots", 7)


class RankingAnswer(Answer):
    """The rankings of one pool, as one snapshot has them; a snapshot never changes."""

    rules = text("the rule set", "fundex")
    players = whole("seats at a table", 4)
    model = choice("how ratings are computed", tuple(MODELS))
    model_version = whole("goes up when the model's numbers change", 2)
    unit = text("of ratings", "Elo")
    parameters = free("the model's", {"mean": 1500.0, "sigma": 200.0})
    snapshot = text("which computation this is", "17", null=True)
    at = moment("when it was computed", null=True)
    matches = whole("matches it rests on", 4800)
    deals = whole("different deals it rests on", 1200)
    last_deal = text("the newest that is counted: tournament and deal group", "t_m4x7k2/119", null=True)
    anchor = text("the bot that was asked to be the measure", None, null=True)
    items = many(RankedAnswer, "best first")
    next = text("give it as cursor to get what follows; null at the end", None, null=True)


class SideAnswer(Answer):
    """One of two bots."""

    bot_id = text("which bot", "bot_k4m2xw9tq7bn")
    bot = text("its name", "spy")
    version = whole("which version", 3)
    rating = number("in the model's unit", 1532.5)


class DifferenceAnswer(Answer):
    """Whether one bot is better than another. Their own intervals do not tell: these numbers do."""

    rules = text("the rule set", "fundex")
    players = whole("seats at a table", 4)
    model = choice("how ratings are computed", tuple(MODELS))
    unit = text("of ratings", "Elo")
    snapshot = text("which computation this is", "17")
    a = nested(SideAnswer, "the one")
    b = nested(SideAnswer, "the other")
    difference = number("a's rating less b's", 32.5)
    low = number("95 % surely above this; if above 0, a is better", -4.0, null=True)
    high = number("95 % surely below this; if below 0, b is better", 69.0, null=True)
    p_better = number("probability that a is better", 0.96, null=True)
    matches = whole("matches together", 96)
    score = number(
        "a's share of the points in them: 1 for the better place, 1/2 for the same", 0.57, null=True
    )


class PoolAnswer(Answer):
    """Matches that are rated together."""

    rules = text("a preset, or one with a hash of its switches", "fundex")
    players = whole("seats at a table", 4)
    matches = whole("matches rated", 4800)
