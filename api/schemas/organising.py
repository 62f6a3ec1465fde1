"""What organisers and authors ask of tournaments."""

from typing import Any, NoReturn

from marshmallow import ValidationError, fields, validate

from api.context import arena
from api.schemas.fields import (
    EXAMPLE_TIME,
    Moment,
    PageQuery,
    Schema,
    Start,
    Switch,
    Text,
    Whole,
    one_of,
)
from api.schemas.tournaments import ENTRANT, ENTRANTS, LIMITS, RULES
from service import spec, usual
from service.formats import FORMATS
from service.limits import Limits
from service.reading import LIMIT, MOST_ENTRANTS
from service.spec import MOST_DEALS, MOST_MEETINGS, MOST_STAGES, SAME_OWNER
from service.tournaments import STATUSES


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
        metadata={
            "description": f"a preset and its switches, see /rules; default {usual.PRESET}",
            "example": RULES,
        },
    )
    players = Whole(
        2, 11, metadata={"description": f"seats at a table; default {usual.PLAYERS}", "example": 4}
    )
    deals = Whole(
        1,
        MOST_DEALS,
        metadata={"description": f"deals each table plays; default {usual.DEALS}", "example": 20},
    )
    duplicate = Switch(
        metadata={
            "description": "whether every deal is played once from each seat rotation; default "
            f"{str(usual.DUPLICATE).lower()}",
            "example": True,
        }
    )
    meetings = Whole(
        1,
        MOST_MEETINGS,
        metadata={
            "description": "least tables a pair shares (in a gauntlet with the challenger); default "
            f"{usual.MEETINGS}",
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
            "sees it. Default: now",
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


class DryRunQuery(Schema):
    """Whether to make it, or only to plan it."""

    dry_run = Switch(
        in_form=True,
        load_default=False,
        metadata={"description": "true: only plan it; nothing is made", "example": False},
    )
