"""`rage tournament …` before and beside the play: change it, enter, withdraw, disqualify."""

from typing import Any

import click

from api import complete, results, saved, shown
from api.commands import asked
from api.commands.addresses import id_in
from api.commands.bots import resolve

_one = asked.one_tournament
_bot = click.argument("bot", metavar="BOT", shell_complete=complete.bots)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


def show(found: dict[str, Any], as_json: bool) -> None:
    """A tournament, as JSON or for a person."""
    if as_json:
        shown.as_json(found)
    else:
        results.tournament(found)


@click.command(short_help="Change a tournament before its start.")
@_one
@click.argument("entrants", nargs=-1, metavar="[BOT BOT ...]", shell_complete=complete.bots)
@click.option("--name", help="What it is called.")
@asked.options()
@_as_json
def edit(tournament_id: str, entrants: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Change a tournament of yours before its start; what is not given stays.

    BOTs replace all entrants.
    """
    client = saved.client()
    changes = asked.request(client, entrants, given)
    if not changes:
        raise click.UsageError("say what is to change; see --help")
    show(client.edit(tournament_id, **changes), as_json)


@click.command(short_help="Enter a bot before the start.")
@_one
@_bot
@_as_json
def enter(tournament_id: str, bot: str, as_json: bool) -> None:
    """Enter BOT (a name or id, with :VERSION for a certain one) before the start."""
    client = saved.client()
    show(client.enter(tournament_id, resolve(client, bot)), as_json)


@click.command()
@_one
@_bot
def withdraw(tournament_id: str, bot: str) -> None:
    """Take BOT out. Deals that were played from every seat stay, all else with it is void."""
    client = saved.client()
    client.withdraw(tournament_id, resolve(client, bot).partition(":")[0])
    left = client.tournament(tournament_id)
    shown.say(f"{id_in(bot, 'bots')} is out; {left['name']} is {left['status']}, {results.how_far(left)}")


@click.command(short_help="Take another's bot out, for a reason that all are told.")
@_one
@_bot
@click.argument("reason")
@_as_json
def disqualify(tournament_id: str, bot: str, reason: str, as_json: bool) -> None:
    """Take another author's BOT out of a tournament of yours; everybody is told REASON."""
    client = saved.client()
    show(client.disqualify(tournament_id, resolve(client, bot).partition(":")[0], reason), as_json)


@click.command(short_help="Let a ladder end.")
@_one
@_as_json
def stop(tournament_id: str, as_json: bool) -> None:
    """Let a ladder end: deals that were begun are played to their end."""
    show(saved.client().stop(tournament_id), as_json)
