"""`rage compare A B`: is A better than B?"""

import time
from typing import Any

import click

from api import complete, results, saved, shown
from api.client import OVER, Client
from api.commands.asked import json_object
from api.commands.bots import resolve
from api.patience import Patience
from service import usual

LOOK_EVERY = 1.0  # seconds
WORDS = {
    "accepted": "{a} is better than {b}",
    "rejected": "{a} is not better than {b}",
    "undecided": "it could not be told whether {a} is better than {b}",
    None: "no verdict",
}


@click.command(short_help="Find out whether bot A is better than bot B.")
@click.argument("a", metavar="A", shell_complete=complete.bots)
@click.argument("b", metavar="B", shell_complete=complete.bots)
@click.option(
    "--players", type=click.IntRange(2, 11), default=usual.SEATS, show_default=True, help="Seats at a table."
)
@click.option("--field", multiple=True, metavar="BOT", help="Sits in other seats; can be given repeatedly.")
@click.option(
    "--rules",
    "rules_text",
    default=usual.PRESET,
    show_default=True,
    help="A preset, or JSON.",
    shell_complete=complete.rules,
)
@click.option(
    "--elo0", type=float, default=usual.ELO0, show_default=True, help="Reject if A is ahead by this at most."
)
@click.option(
    "--elo1", type=float, default=usual.ELO1, show_default=True, help="Accept if A is better by this."
)
@click.option("--alpha", type=float, default=usual.RISK, show_default=True, help="Risk of accepting wrongly.")
@click.option("--beta", type=float, default=usual.RISK, show_default=True, help="Risk of rejecting wrongly.")
@click.option(
    "--cap", type=click.IntRange(30), default=usual.CAP, show_default=True, help="Deals at the most."
)
@click.option("--wait/--no-wait", default=True, show_default=True, help="Follow it to its verdict.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def compare(a: str, b: str, rules_text: str, wait: bool, as_json: bool, **told: Any) -> None:
    """Find out whether A is better than B: bots by id or name, with :VERSION for a certain one.

    Both play deal after deal with the same cards; a sequential test ends it as soon as it can tell, after 30
    deals at the earliest, however the matches finish. Nothing of it is rated.

    \b
    rage compare spy:4 spy:3
    rage compare spy counter --players 4 --elo1 40
    rage compare spy:4 spy:3 --players 4 --field counter --field cautious

    Exit status: 0 A is better, 1 it is not or could not be told, 2 wrong usage.
    """
    client = saved.client()
    told["field"] = [resolve(client, each) for each in told["field"]]
    told["rules"] = json_object(rules_text, "--rules") or {"preset": rules_text}
    made = client.create_comparison(a=resolve(client, a), b=resolve(client, b), **told)
    found = follow(client, made["id"]) if wait else made
    if as_json:
        shown.as_json(found)
    else:
        show(found)
    if wait and found["verdict"] != "accepted":
        raise click.exceptions.Exit(1)


def follow(client: Client, comparison_id: str) -> dict[str, Any]:
    """The comparison once it is over; shows how far it is meanwhile."""
    with shown.bar("deals, at the most") as bar:
        patience = Patience(bar.say)
        while True:
            found: dict[str, Any] = patience.ask(lambda: client.comparison(comparison_id))
            bar.at(found["played"], found["cap"])
            if found["status"] in OVER:
                return found
            time.sleep(LOOK_EVERY)


def show(found: dict[str, Any]) -> None:
    """Verdict and estimate."""
    names = {"a": results.named(found["a"]), "b": results.named(found["b"])}
    shown.say(f"{found['id']}, {found['status']}: {WORDS[found['verdict']].format(**names)}")
    shown.say(
        f"  the test stands at {found['llr']:+.2f} after {found['groups']} deals; "
        f"{found['lower']:.2f} speaks for a lead of {found['elo0']:g} Elo, "
        f"{found['upper']:.2f} for {found['elo1']:g}"
    )
    for name, unit in (("elo", "Elo"), ("points", "points a match")):
        value, low, high = (found[name][part] for part in ("value", "low", "high"))
        if value is None:
            shown.say(f"  lead of {names['a']}: comes with the first deals")
            return
        between = "" if low is None or high is None else f" ({_signed(low)} to {_signed(high)})"
        shown.say(f"  lead of {names['a']}, as it looks: {_signed(value)} {unit}{between}")


def _signed(value: float) -> str:
    return results.tenth(value, "+")
