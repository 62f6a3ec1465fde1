"""Shapes of bots and their versions."""

from typing import Any

from marshmallow import post_load, validate

from api.schemas.fields import (
    Answer,
    File,
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
    number,
    one_of,
    text,
    whole,
)
from service.bots import STATUSES
from service.rating_models import DEFAULT, MODELS

REPORT = {"ready": True, "stage": "match"}
CODE = {"description": "a .py file or a .zip", "example": "bot.py"}

SHORT = validate.Length(max=2000, error="must be at most 2000 characters")
WORDS = {"description": "a few words for others", "example": "counts trumps"}


class NewVersion(Schema):
    """A form with the code of a bot."""

    code = File(required=True, error_messages={"required": "is missing"}, metadata=CODE)

    @post_load
    def _read(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """The file as its name and content."""
        file = data.pop("code")
        return {**data, "filename": file.filename, "content": file.read()}


class NewBot(NewVersion):
    """A form with a new bot."""

    name = Text(
        required=True,
        validate=validate.Length(max=200, error="must be at most 200 characters"),
        metadata={
            "description": "letters of one alphabet, digits, blanks and _ . + - between them; unique",
            "example": "spy",
        },
    )
    description = Text(validate=SHORT, metadata=WORDS)
    public_source = Switch(
        in_form=True, metadata={"description": "whether everybody may read its code", "example": False}
    )


class ChangedBot(Schema):
    """What is to be said of a bot from now on."""

    description = Text(validate=SHORT, metadata=WORDS)
    public_source = Switch(
        metadata={"description": "whether everybody may read its code, of all versions", "example": True}
    )


class BotQuery(PageQuery):
    """Which bots."""

    owner = Text(
        validate=validate.Length(1, 200), metadata={"description": "an account's name", "example": "ada"}
    )
    name = Text(
        validate=validate.Length(1, 200), metadata={"description": "a part of its name", "example": "spy"}
    )
    status = one_of(STATUSES, "the state of its newest version")


class VersionAnswer(Answer):
    """One version of a bot; it never changes."""

    id = text("the bot's id, a colon, the number: names it as an entrant", "bot_k4m2xw9tq7bn:1")
    bot_id = text("whose version", "bot_k4m2xw9tq7bn")
    number = whole("from 1", 1)
    status = choice("checking until its trial match was played", STATUSES)
    kind = choice("how it was sent", ("py", "zip"))
    filename = text("as it was sent", "spy.py")
    sha256 = text("of the file", "9f86d081884c7d65…")
    size = whole("of the file, in bytes", 812)
    created_at = moment("when it was uploaded")
    checked_at = moment("when its check was done", null=True)
    report = free("what the check saw: for its owner, or for all if its source is public", REPORT, null=True)


class BotAnswer(Answer):
    """A bot."""

    id = text("opaque", "bot_k4m2xw9tq7bn")
    name = text("as it is shown", "spy")
    owner = text("the name of its author's account", "ada")
    owner_id = text("the account", "acc_k4m2xw9tq7bn")
    description = text("a few words of its author", "counts trumps")
    public_source = flag("whether everybody may read its code", False)
    house = flag("whether it came with the installation", False)
    status = choice("of the newest version; a retired bot enters no more tournaments", STATUSES)
    version = whole("number of the newest version", 1)
    created_at = moment("when it was first uploaded")
    versions = many(VersionAnswer, "newest first; empty in lists")


class FaultAnswer(Answer):
    """Something that went wrong in a match."""

    match_id = text("in which match", "t_k4m2xw9tq7bn-17")
    seat = whole("from 0", 2)
    round = whole("from 1; 0 before the first", 3)
    trick = whole("from 1; 0 while bidding", 4)
    decision = whole("which of its decisions in the match, from 1", 38)
    kind = text("start, illegal, garbage, timeout, crash, memory, flood or escape", "illegal")
    asked = text("what was asked: start, bid, play, trump or challenge", "play")
    replay = text(
        "the command that plays this match again at home; with a file after the match, that bot in its seat",
        "rage reproduce t_k4m2xw9tq7bn-17 --seat 2",
    )
    text = text("what happened", "R9 is not in legal")
    out = flag("whether the bot was out from then on", False)
    evidence = free("the answer, limits and use, exit status and log", {"answer": '{"id":38,"move":"R9"}'})


class HistoryQuery(Schema):
    """Which of a bot's ratings."""

    model = one_of(tuple(MODELS), "how ratings are computed", load_default=DEFAULT)
    rules = Text(
        validate=validate.Length(1, 40, error="must be the `rules` of a pool, such as fundex"),
        metadata={"description": "only pools of this rule set", "example": "fundex"},
    )
    players = Whole(
        2, 11, in_query=True, metadata={"description": "only pools of this many seats", "example": 4}
    )


class RatingPointAnswer(Answer):
    """A version's rating after a tournament, as published then."""

    at = moment("when it was computed")
    rules = text("which pool: the rule set", "fundex")
    players = whole("which pool: seats at a table", 4)
    model = choice("how it was computed", tuple(MODELS))
    version = whole("which version", 1)
    rating = number("Elo, or the model's own unit", 1532.5)
    low = number("95 % surely above this; null where the model has no intervals", 1490.0, null=True)
    high = number("95 % surely below this; null where the model has no intervals", 1575.0, null=True)
    matches = whole("matches it rests on", 480)
    place = whole("its place then", 3, null=True)
    provisional = flag("whether it still rests on too little", False)
