"""`rage tournament …`: organise and follow tournaments."""

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from api import results, saved, shown
from api.client import OVER, Client, ClientError, TookTooLong, named
from api.commands.bots import resolve
from api.patience import Patience, is_away
from api.shown import Column

if TYPE_CHECKING:
    from service.audit import Audit

AGAIN = 1.0  # seconds before a broken line is taken up again
MOST_BREAKS = 30

_as_csv = click.option("--csv", "as_csv", is_flag=True, help="Print them as CSV.")
_as_json = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
_one = click.argument("tournament_id", metavar="TOURNAMENT")


@click.group()
def tournament() -> None:
    """Organise tournaments and follow them."""


@tournament.command()
@click.argument("name")
@click.argument("entrants", nargs=-1, required=True, metavar="BOT BOT ...")
@click.option(
    "--rules", "rules_text", default="fundex", show_default=True, help="A preset, or JSON with switches."
)
@click.option("--players", type=click.IntRange(2, 11), default=4, show_default=True, help="Seats at a table.")
@click.option(
    "--deals", type=click.IntRange(1), default=20, show_default=True, help="Deals each table plays."
)
@click.option(
    "--duplicate/--no-duplicate", default=True, show_default=True, help="Each deal from every seat."
)
@click.option("--meetings", type=click.IntRange(1), help="Least tables a pair of entrants shares.")
@click.option("--seed", help="Draws the schedule; never the deals.")
@click.option("--start-at", metavar="TIME", help='Such as 2030-12-01T18:00:00Z, or "manual". Default: now.')
@click.option("--limits", "limits_text", metavar="JSON", help="Such as '{\"decision_ms\": 2000}'.")
@click.option("--watch", "watching", is_flag=True, help="Follow it to its end.")
@_as_json
def create(name: str, entrants: tuple[str, ...], as_json: bool, watching: bool, **given: Any) -> None:
    """Make a tournament called NAME between BOTs: ids or names, with :VERSION for a certain one.

    \b
    rage tournament create "Autumn open" spy random cautious counter --deals 50 --watch
    """
    client = saved.client()
    spec = {key: value for key, value in given.items() if value is not None and not key.endswith("_text")}
    switches = _object(given["rules_text"], "--rules")
    spec["rules"] = {"preset": given["rules_text"]} if switches is None else {"preset": "fundex", **switches}
    if given["limits_text"]:
        spec["limits"] = _object(given["limits_text"], "--limits")
    made = client.create_tournament(
        name=name, entrants=[resolve(client, entrant) for entrant in entrants], **spec
    )
    _show(made, as_json)
    if watching:
        follow(client, made["id"])
        results.standings(Patience(client.say).ask(lambda: client.standings(made["id"])))


@tournament.command()
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
@click.option("--status", help="Only those in this state: scheduled, running, paused, finished, cancelled.")
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
    played = f"{each['progress']['played']}/{each['progress']['total']}"
    return [each["id"], each["name"], each["owner"], each["status"], played]


@tournament.command()
@_one
@_as_json
def show(tournament_id: str, as_json: bool) -> None:
    """Show a tournament and how far it is."""
    _show(saved.client().tournament(tournament_id), as_json)


@tournament.command()
@_one
@_as_json
def start(tournament_id: str, as_json: bool) -> None:
    """Start a tournament of yours now."""
    _show(saved.client().start(tournament_id), as_json)


@tournament.command()
@_one
@_as_json
def pause(tournament_id: str, as_json: bool) -> None:
    """Begin no more matches for now; those being played are finished."""
    _show(saved.client().pause(tournament_id), as_json)


@tournament.command()
@_one
@_as_json
def resume(tournament_id: str, as_json: bool) -> None:
    """Go on after a pause."""
    _show(saved.client().resume(tournament_id), as_json)


@tournament.command()
@_one
@_as_json
def cancel(tournament_id: str, as_json: bool) -> None:
    """Stop a tournament for good; what was played stays."""
    _show(saved.client().cancel(tournament_id), as_json)


@tournament.command()
@_one
def watch(tournament_id: str) -> None:
    """Follow a tournament to its end, then show the standings."""
    client = saved.client()
    status = follow(client, tournament_id)
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


@tournament.command()
@_one
@_as_csv
@_as_json
def crosstable(tournament_id: str, as_csv: bool, as_json: bool) -> None:
    """Show how every pair did that met, while it is running too."""
    _rows("crosstable", tournament_id, results.crosstable, as_csv=as_csv, as_json=as_json)


@tournament.command()
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


@tournament.command()
@_one
@click.option("--hash", "promised", metavar="HEX", help="The secret's hash as you noted it at the start.")
@_as_json
def verify(tournament_id: str, promised: str | None, as_json: bool) -> None:
    """Check a tournament that is over: every deal against its secret, every game, every sum.

    Each record is dealt and played again here, on your machine, and must be what the schedule, the results
    and the standings of the server say. Noted the hash before the first deal? Then give it: --hash.

    Exit status: 0 all is as it was promised, 1 not, with the first discrepancy.
    """
    from service.audit import Audit

    client = saved.client()
    audit = Audit(client.tournament(tournament_id))
    wrong = audit.begin(promised) or _audited(client, tournament_id, audit)
    told = {"matches": audit.matches, "deals": audit.groups, "discrepancy": wrong}
    if as_json:
        shown.as_json(told)
    else:
        click.echo(wrong or f"verified {audit.matches} matches on {audit.groups} deals, and the standings")
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
        click.echo(client.read(path, format="csv").content.decode(), nl=False)
        return
    found: list[dict[str, Any]] = getattr(client, what)(tournament_id)
    if as_json:
        shown.as_json(found)
    else:
        show(found)


def follow(client: Client, tournament_id: str, *, seconds: float = math.inf) -> str:
    """Shows how far a tournament is until it is over; its last status. Outlives a server's restart."""
    limit = time.monotonic() + seconds
    found = Patience(client.say).ask(lambda: client.tournament(tournament_id))
    with shown.bar(found["name"]) as bar:
        if found["status"] == "scheduled":
            bar.say(_waits_for(found))
        patience, line = Patience(bar.say), _Line(client, tournament_id)
        while True:
            for event in line.read():
                _tell(bar, event)
                _check(limit, tournament_id)
            status: str = patience.ask(lambda: client.tournament(tournament_id)["status"])
            if status in OVER:
                return status
            _check(limit, tournament_id)
            time.sleep(AGAIN)


@dataclass(slots=True)
class _Line:
    """A tournament's events, taken up again where the line broke."""

    client: Client
    tournament_id: str
    last: str | None = None
    breaks: int = 0

    def read(self) -> Iterator[dict[str, Any]]:
        try:
            for event in self.client.events(self.tournament_id, after=self.last):
                self.last, self.breaks = event["id"], 0
                yield event
        except ClientError as error:
            self.breaks += 1
            if self.breaks > MOST_BREAKS or not is_away(error):
                raise


def _check(limit: float, tournament_id: str) -> None:
    if time.monotonic() > limit:
        raise TookTooLong(f"tournament {tournament_id} takes too long")


def _tell(bar: shown.Bar, event: dict[str, Any]) -> None:
    if event["type"] == "progress":
        bar.at(event["data"]["played"] + event["data"]["failed"], event["data"]["total"])


def _show(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        shown.as_json(found)
        return
    progress = found["progress"]
    click.echo(f"{found['id']}: {found['name']}, {found['status']}")
    click.echo(f"  deals follow from a secret of SHA-256 {found['secret_hash']}")
    if found["status"] == "scheduled":
        click.echo(f"  {_waits_for(found)}")
    if found["reason"]:
        click.echo(f"  {found['reason']}")
    click.echo(f"  {progress['played']} of {progress['total']} matches played, {progress['faults']} faults")
    if progress["eta"]:
        click.echo(f"  over at about {progress['eta'][:19]}Z")
    for entrant in found["entrants"]:
        click.echo(f"  {entrant['number']:>3}  {results.named(entrant)} of {entrant['owner']}")


def _waits_for(found: dict[str, Any]) -> str:
    """What starts a scheduled tournament."""
    if found["start_at"] is None:
        return f"it waits for its organiser: rage tournament start {found['id']}"
    return f"it starts at {found['start_at'][:19]}Z"


def _object(text: str, option: str) -> dict[str, Any] | None:
    """A JSON object; None for text that does not look like one."""
    if not text.lstrip().startswith("{"):
        if option == "--limits":
            raise click.BadParameter("must be a JSON object", param_hint=option)
        return None
    try:
        return dict(json.loads(text))
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint=option) from error
