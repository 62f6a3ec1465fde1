"""`rage tournament …`: organise and follow tournaments."""

import json
import sys
from collections.abc import Callable
from typing import Any

import click

from api import complete, results, saved, shown
from api.client import named
from api.commands import asked, audit, entries
from api.commands.bots import resolve
from api.commands.follow import to_its_end
from api.patience import Patience
from api.shown import Column
from service import usual

STATUSES = ("draft", "scheduled", "running", "paused", "finished", "cancelled")

_as_csv = click.option("--csv", "as_csv", is_flag=True, help="Print them as CSV.")
_as_json = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
_one = asked.one_tournament


@click.group()
def tournament() -> None:
    """Organise tournaments and follow them.

    TOURNAMENT is an id, the address of its page, or a name that only one has.
    """


@tournament.command(short_help="Make a tournament.")
@click.argument("name")
@click.argument("entrants", nargs=-1, metavar="BOT BOT ...", shell_complete=complete.bots)
@asked.options(
    format=usual.FORMAT,
    rules=usual.PRESET,
    players=usual.PLAYERS,
    deals=usual.DEALS,
    duplicate=usual.DUPLICATE,
)
@click.option("--watch", "watching", is_flag=True, help="Follow it to its end.")
@_as_json
def create(name: str, entrants: tuple[str, ...], as_json: bool, watching: bool, **given: Any) -> None:
    """Make a tournament called NAME between BOTs: ids or names, with :VERSION for a certain one.

    \b
    rage tournament create "Autumn open" spy random cautious counter --deals 50 --watch
    """
    client = saved.client()
    made = client.create_tournament(name=name, **asked.request(client, entrants, given))
    entries.show(made, as_json)
    if not watching and not as_json and made["status"] == "running":
        shown.say(f"follow it: rage tournament watch {made['id']}")
        shown.say(f"its page:  {client.url}/tournaments/{made['id']}")
    if watching:
        to_its_end(client, made["id"])
        results.standings(Patience(client.say).ask(lambda: client.standings(made["id"])))


@tournament.command(short_help="Say what a tournament would be; nothing is made.")
@click.argument("file", type=click.File("rb"))
@_as_json
def plan(file: Any, as_json: bool) -> None:
    """Say what the tournament in FILE would be: matches, CPU hours, end, precision. Nothing is made.

    FILE (- reads standard input) is JSON as for POST /tournaments; its entrants may be names, too.

    \b
    {"name": "Autumn open", "entrants": ["spy", "counter", "cautious", "random"], "deals": 50}
    """
    try:
        told = dict(json.load(file))
    except (ValueError, TypeError) as error:
        raise click.BadParameter(f"not a JSON object: {error}", param_hint="FILE") from error
    client = saved.client()
    if isinstance(told.get("entrants"), list):
        told["entrants"] = [resolve(client, str(each)) for each in told["entrants"]]
    found = client.plan_tournament(**told)
    if as_json:
        shown.as_json(found)
    else:
        results.plan(found)


@tournament.command("list")
@click.option("--status", type=click.Choice(STATUSES), help="Only those in this state.")
@_as_json
def list_(status: str | None, as_json: bool) -> None:
    """List tournaments, newest first."""
    found = list(saved.client().tournaments(status=status))
    if as_json:
        shown.as_json(found)
        return
    columns = (Column("id"), Column("name"), Column("organiser"), Column("status"), Column("played", True))
    shown.table(columns, [_line(each) for each in found], empty="there are no such tournaments")


def _line(each: dict[str, Any]) -> list[object]:
    return [each["id"], each["name"], each["owner"], each["status"], results.how_far(each, "")]


@tournament.command()
@_one
@_as_json
def show(tournament_id: str, as_json: bool) -> None:
    """Show a tournament and how far it is."""
    entries.show(saved.client().tournament(tournament_id), as_json)


@tournament.command()
@_one
@_as_json
def start(tournament_id: str, as_json: bool) -> None:
    """Start a tournament of yours now."""
    entries.show(saved.client().start(tournament_id), as_json)


@tournament.command(short_help="Begin no more matches for now.")
@_one
@_as_json
def pause(tournament_id: str, as_json: bool) -> None:
    """Begin no more matches for now; those being played are finished."""
    entries.show(saved.client().pause(tournament_id), as_json)


@tournament.command()
@_one
@_as_json
def resume(tournament_id: str, as_json: bool) -> None:
    """Go on after a pause."""
    entries.show(saved.client().resume(tournament_id), as_json)


@tournament.command()
@_one
@click.option("--yes", is_flag=True, help="Do not ask.")
@_as_json
def cancel(tournament_id: str, yes: bool, as_json: bool) -> None:
    """Stop a tournament for good; what was played stays. Asks first, on a terminal."""
    client = saved.client()
    if on_terminal() and not yes:
        found = client.tournament(tournament_id)
        played = f"{found['progress']['played']} of {found['progress']['total']} matches are played"
        shown.confirm(f"{found['name']} ends for good; {played}. Cancel it?")
    entries.show(client.cancel(tournament_id), as_json)


@tournament.command()
@_one
def watch(tournament_id: str) -> None:
    """Follow a tournament to its end, then show the standings."""
    client = saved.client()
    status = to_its_end(client, tournament_id)
    patience = Patience(client.say)
    results.standings(patience.ask(lambda: client.standings(tournament_id)))
    if status == "cancelled":
        found = patience.ask(lambda: client.tournament(tournament_id))
        raise click.ClickException(f"it was {found['reason'] or 'cancelled'}")


@tournament.command()
@_one
@_as_csv
@_as_json
def standings(tournament_id: str, as_csv: bool, as_json: bool) -> None:
    """Show the standings, while it is running too.

    `dealt` are the points a match that the average holder of the same cards took, `earned` those beyond.
    """
    _rows("standings", tournament_id, results.standings, as_csv=as_csv, as_json=as_json)


@tournament.command(short_help="Show how every pair did that met.")
@_one
@_as_csv
@_as_json
def crosstable(tournament_id: str, as_csv: bool, as_json: bool) -> None:
    """Show how every pair did that met, while it is running too."""
    _rows("crosstable", tournament_id, results.crosstable, as_csv=as_csv, as_json=as_json)


@tournament.command(short_help="Test whether seats, dealers or workers mattered.")
@_one
@_as_json
def fairness(tournament_id: str, as_json: bool) -> None:
    """Test a tournament that is over: do seats, dealers, workers or company make a difference?

    Exit status: 0 no alarm, 1 an alarm.
    """
    found = saved.client().fairness(tournament_id)
    if as_json:
        shown.as_json(found)
    else:
        results.fairness(found)
    if found["alarm"]:
        raise click.exceptions.Exit(1)


def _rows(
    what: str,
    tournament_id: str,
    show: Callable[[list[dict[str, Any]]], None],
    *,
    as_csv: bool,
    as_json: bool,
) -> None:
    if as_csv and as_json:
        raise click.UsageError("give --csv or --json, not both")
    client = saved.client()
    if as_csv:
        path = f"/tournaments/{named('tournament', tournament_id)}/{what}"
        shown.as_it_came(client.read(path, format="csv").content)
        return
    found: list[dict[str, Any]] = getattr(client, what)(tournament_id)
    if as_json:
        shown.as_json(found)
    else:
        show(found)


def on_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


for _each in (entries.edit, entries.enter, entries.withdraw, entries.disqualify, entries.stop, audit.verify):
    tournament.add_command(_each)
