"""`rage rankings`: who is how good, and whether one bot is better than another."""

from collections.abc import Callable
from typing import Any

import click

from api import complete, results, saved, shown
from api.client import Client
from api.commands.bots import resolve


def _pool(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which rankings, and how they are shown."""
    seats = click.IntRange(2, 11)
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("--model", default="elo", show_default=True, help="elo, elo_classic or points."),
        click.option("--players", type=seats, default=4, show_default=True, help="Seats at a table."),
        click.option("--rules", default="fundex", show_default=True, help="A preset, or a pool's name."),
    ):
        command = option(command)
    return command


@click.group(invoke_without_command=True)
@_pool
@click.option("--at", help="As it was then, such as 2030-12-01T18:00:00Z.")
@click.option("--anchor", metavar="BOT", help="The bot that is given 1500; intervals are from it.")
@click.option("--owner", help="Only bots of this account.")
@click.option("--name", help="Only bots with this in their name.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def rankings(as_json: bool, as_csv: bool, anchor: str | None, **query: Any) -> None:
    """Show the rankings of one rule set and table size.

    "may be" are the places a bot may truly have, "> next" how probably it is better than the next.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    if as_csv and as_json:
        raise click.UsageError("give --csv or --json, not both")
    client = saved.client()
    _must_be_a_rule_set(client, query["rules"])
    query["anchor"] = anchor and resolve(client, anchor)
    if as_csv:
        shown.as_it_came(client.read("/rankings", **query, format="csv").content)
        return
    ranking = client.rankings(**query)
    if as_json:
        shown.as_json(ranking)
        return
    results.rankings(ranking)
    if not ranking["items"]:
        _tell_pools(client)


@rankings.command()
@click.argument("a", metavar="A", shell_complete=complete.bots)
@click.argument("b", metavar="B", shell_complete=complete.bots)
@_pool
def compare(a: str, b: str, as_json: bool, **pool: Any) -> None:
    """Tell whether bot A is better than bot B, and how sure that is.

    A and B are names or ids, or with a version: spy:3.
    """
    client = saved.client()
    _must_be_a_rule_set(client, pool["rules"])
    found = client.compare(resolve(client, a), resolve(client, b), **pool)
    if as_json:
        shown.as_json(found)
    else:
        results.comparison(found)


def _must_be_a_rule_set(client: Client, rules: str) -> None:
    """A preset, one with switches (of which any may get results yet), or whatever else the server ranks."""
    from engine.rules import PRESETS

    if rules.partition("-")[0] in PRESETS or any(
        each["rules"] == rules for each in client.pages("/rankings/pools")
    ):
        return
    raise click.ClickException(f"no rule set {rules}; there are {', '.join(PRESETS)}, and what has switches")


def _tell_pools(client: Client) -> None:
    for pool in client.pages("/rankings/pools"):
        of_it = f"--rules {pool['rules']} --players {pool['players']}"
        shown.say(f"there are rankings of: {of_it}  ({pool['matches']} matches)")
