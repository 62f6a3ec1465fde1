"""`rage tournament verify`: a tournament that is over, dealt and played again at home."""

from functools import partial
from typing import TYPE_CHECKING

import click

from api import saved, shown
from api.client import Client
from api.commands import asked, hashes
from api.patience import Patience

if TYPE_CHECKING:
    from service.audit import Audit


@click.command(short_help="Check the deals, games and sums of one that is over.")
@asked.one_tournament
@click.option(
    "--hash",
    "promised",
    metavar="HEX",
    callback=hashes.whole,
    help="The secret's hash as you noted it at the start.",
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def verify(tournament_id: str, promised: str | None, as_json: bool) -> None:
    """Check a tournament that is over: every deal against its secret, every game, every sum.

    Each record is dealt and played again here, on your machine, and must be what the schedule, the results
    and the standings of the server say. Noted the hash before the first deal? Then give it: --hash.

    Exit status: 0 all is as it was promised, 1 not, with the first discrepancy, 2 wrong usage.
    """
    from service.audit import Audit

    client = saved.client()
    audit = Audit(client.tournament(tournament_id))
    wrong = audit.begin(promised) or _audited(client, tournament_id, audit)
    told = {"matches": audit.matches, "deals": audit.groups, "discrepancy": wrong}
    if as_json:
        shown.as_json(told)
    else:
        shown.say(wrong or f"verified {audit.matches} matches on {audit.groups} deals, and the standings")
    if wrong is not None:
        raise click.exceptions.Exit(1)


def _audited(client: Client, tournament_id: str, audit: "Audit") -> str | None:
    """The first discrepancy of a tournament's matches and standings."""
    total = client.tournament(tournament_id)["progress"]["total"]
    patience = Patience(client.say)
    with shown.bar("verifying") as bar:
        for done, match in enumerate(client.matches(tournament_id, limit=200), start=1):
            played = match["status"] == "done"
            record = patience.ask(partial(client.record, match["id"])) if played else None
            wrong = audit.match(match, record)
            if wrong is not None:
                return wrong
            bar.at(done, total)
    return audit.end(client.standings(tournament_id))
