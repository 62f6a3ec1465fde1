"""A tournament as the command asks for it: the options of `create` and `edit`, made into a request."""

import json
import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeVar

import click

from api import complete, saved
from api.client import Client
from api.commands.addresses import id_in
from api.commands.bots import resolve

F = TypeVar("F", bound=Callable[..., Any])
MOST_LOOKED_AT = 1000  # tournaments, for one that is named
ID = re.compile(r"[tc]_[A-Za-z0-9_-]{1,78}")
FORMATS = ("round_robin", "swiss", "knockout", "gauntlet", "ladder")


def tournament_id(ctx: click.Context, _: click.Parameter, text: str) -> str:
    """The id of a tournament that was named by it, by its page's address, or by a name that only one has."""
    text = id_in(text, "tournaments", "comparisons")
    if ID.fullmatch(text) or ctx.resilient_parsing:
        return text
    looked_at = islice(saved.client().tournaments(limit=200), MOST_LOOKED_AT)
    found = [each for each in looked_at if each["name"].casefold() == text.casefold()]
    if not found:
        raise click.ClickException(f"no tournament is called {text}; see: rage tournament list")
    if len(found) > 1:
        listed = "".join(f"\n  {each['id']}  {each['status']}" for each in found[:10])
        raise click.ClickException(f"{len(found)} tournaments are called {text}; say which:{listed}")
    return str(found[0]["id"])


one_tournament = click.argument(
    "tournament_id", metavar="TOURNAMENT", callback=tournament_id, shell_complete=complete.tournaments
)


def options(**defaults: Any) -> Callable[[F], F]:
    """All there is to say about a tournament; without defaults nothing is sent that is not given."""

    def default(name: str) -> dict[str, Any]:
        return {"default": defaults[name], "show_default": True} if name in defaults else {"default": None}

    listed = [*_played(default), *_begun()]

    def decorate(command: F) -> F:
        for each in reversed(listed):
            command = each(command)
        return command

    return decorate


def _played(default: Callable[[str], dict[str, Any]]) -> list[Callable[[F], F]]:
    """Who plays whom, and what."""
    return [
        click.option("--format", type=click.Choice(FORMATS), help="How entrants meet.", **default("format")),
        click.option(
            "--rules",
            "rules_text",
            help="A preset, or JSON with switches.",
            shell_complete=complete.rules,
            **default("rules"),
        ),
        click.option("--players", type=click.IntRange(2, 11), help="Seats at a table.", **default("players")),
        click.option("--deals", type=click.IntRange(1), help="Deals each table plays.", **default("deals")),
        click.option("--duplicate/--no-duplicate", help="Each deal from every seat.", **default("duplicate")),
        click.option("--meetings", type=click.IntRange(1), help="Least tables a pair of entrants shares."),
        click.option("--stages", type=click.IntRange(1), help="Stages of a swiss."),
        click.option(
            "--challenger",
            metavar="BOT",
            help="Who meets all others in a gauntlet.",
            shell_complete=complete.bots,
        ),
        click.option("--same-owner", type=click.Choice(("any", "apart")), help="Bots of one author: apart?"),
        click.option("--seed", help="Draws the schedule; never the deals."),
    ]


def _begun() -> list[Callable[[F], F]]:
    """When it starts, who may enter until then, and what bots may use."""
    return [
        click.option("--start-at", metavar="TIME", help='2030-12-01T18:00:00Z, "manual" or "draft".'),
        click.option("--repeat", metavar="CRON", help='Such as "0 18 * * 1", UTC.'),
        click.option("--open/--closed", "opened", default=None, help="May authors enter bots themselves?"),
        click.option("--limit", type=click.IntRange(2), help="Most entrants while entry is open."),
        click.option("--deadline", metavar="TIME", help="Until when entry is open."),
        click.option("--limits", "limits_text", metavar="JSON", help="Such as '{\"decision_ms\": 2000}'."),
    ]


def request(client: Client, entrants: Sequence[str], given: dict[str, Any]) -> dict[str, Any]:
    """The request for what was given."""
    apart = ("rules_text", "limits_text", "opened", "limit", "deadline")
    told = {key: value for key, value in given.items() if value is not None and key not in apart}
    if given["rules_text"]:
        switches = json_object(given["rules_text"], "--rules")
        preset = given["rules_text"] if switches is None else "fundex"
        told["rules"] = {"preset": preset, **(switches or {})}
    if given["limits_text"]:
        told["limits"] = json_object(given["limits_text"], "--limits")
    entry = {"open": given["opened"], "limit": given["limit"], "deadline": given["deadline"]}
    if any(value is not None for value in entry.values()):
        known = {key: value for key, value in entry.items() if value is not None}
        told["entry"] = {"open": True, **known}
    if entrants:
        told["entrants"] = [resolve(client, each) for each in entrants]
    if "challenger" in told:
        told["challenger"] = resolve(client, told["challenger"])
    return told


def json_object(text: str, option: str) -> dict[str, Any] | None:
    """A JSON object; None for text that does not look like one."""
    if not text.lstrip().startswith("{"):
        if option == "--limits":
            raise click.BadParameter("must be a JSON object", param_hint=option)
        return None
    try:
        return dict(json.loads(text))
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint=option) from error
