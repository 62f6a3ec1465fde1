"""`rage submit`, `bots`, `bot`, `faults`, `retire`: an author's bots on a server."""

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import click

from api import complete, results, saved, shown
from api.client import Client, ProblemError
from api.commands.addresses import id_in
from api.shown import Column
from service import packing
from service.errors import Invalid

REJECTED = 1
MOST_WAIT = 300.0  # seconds
MOST_FAULTS = 200
Json = dict[str, Any]

_as_json = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


@click.command(short_help="Upload a bot: a Python file, a .zip or a folder.")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--name", help="Its name on the server; default: the file's.")
@click.option("--description", help="A few words for others.")
@click.option(
    "--public/--private", default=None, help="Whether everybody may read its code; default: private."
)
@click.option("--wait", is_flag=True, help="Wait for its check, and say how it went.")
@click.option("--log", is_flag=True, help="With --wait: show what it printed in its check, too.")
@_as_json
def submit(path: Path, name: str | None, wait: bool, log: bool, as_json: bool, **about: Any) -> None:
    """Upload the bot at PATH: a Python file, a .zip, or a folder, which is packed.

    If you have a bot of that name already, this is its next version; --description and --public are the
    bot's, and hold for all its versions. `rage check PATH` tries the same upload on this machine.

    Exit status: 0 uploaded (with --wait: ready), 1 refused or rejected (the report says why).
    """
    client = saved.client()
    filename, content = _read(path)
    called = path.resolve().stem if name is None else name
    try:
        version = _upload(client, called, filename, content, about)
    except ProblemError as error:
        raise _as_given(error, path) from None
    if wait:
        shown.say("it plays its trial match …", aside=True)
        version = client.wait_ready(version["bot_id"], version["number"], seconds=MOST_WAIT)
    if as_json:
        shown.as_json(version)
    else:
        results.report(version, called, log=log)
        _go_on(version, called)
    if version["status"] == "rejected":
        raise click.exceptions.Exit(REJECTED)


def _go_on(version: Json, called: str) -> None:
    """What its author does next."""
    word = f'"{called}"' if " " in called else called
    if version["status"] == "ready":
        shown.say()
        field = f"{word} counter cautious random"  # ten deals, so that it gets a place in the rankings
        shown.say(f'Let it play:  rage tournament create "First cup" {field} --deals 10 --watch')
    elif version["status"] == "checking":
        shown.say(f"It is being tried out. How that goes:  rage bot show {word}")


def _read(path: Path) -> tuple[str, bytes]:
    try:
        filename, _, content = packing.read(path)
    except Invalid as refusal:
        reasons = "; ".join(reason for reasons in refusal.errors.values() for reason in reasons)
        raise click.ClickException(f"{path}: {reasons}") from None
    return filename, content


def _as_given(error: ProblemError, path: Path) -> ProblemError:
    """A refusal that names what the author gave: the file, where the API names its field."""
    named = {"code": str(path), "name": "--name", "description": "--description"}
    errors = {named.get(field, field): reasons for field, reasons in error.errors.items()}
    return ProblemError(error.status, error.title, error.detail, errors)


def _upload(client: Client, name: str, filename: str, content: bytes, about: Json) -> Json:
    about = {"description": about["description"], "public_source": about["public"]}
    given = {key: value for key, value in about.items() if value is not None}
    named = client.bots(owner=client.whoami()["name"], name=name)
    mine = [bot for bot in named if bot["name"].casefold() == name.casefold()]
    if not mine:
        newest: Json = client.submit(name, filename, content, **given)["versions"][0]
        return newest
    version = client.add_version(mine[0]["id"], filename, content)
    if given:
        client.change(mine[0]["id"], **given)
    return version


@click.command()
@click.option("--mine", is_flag=True, help="Only yours.")
@click.option("--owner", help="Only those of this account.")
@click.option(
    "--status",
    type=click.Choice(["checking", "ready", "rejected", "retired"]),
    help="Only those in this state.",
)
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def bots(mine: bool, owner: str | None, status: str | None, as_json: bool) -> None:
    """List bots, newest first. One of them: rage bot show BOT."""
    client = saved.client()
    if mine:
        owner = client.whoami()["name"]
    found = list(client.bots(owner=owner, status=status))
    if as_json:
        shown.as_json(found)
        return
    columns = (Column("id"), Column("bot"), Column("author"), Column("status"), Column("uploaded"))
    rows = [
        [bot["id"], results.named(bot), bot["owner"], bot["status"], shown.minute(bot["created_at"])]
        for bot in found
    ]
    shown.table(columns, rows, empty="there are no such bots")


@click.group()
def bot() -> None:
    """Look at single bots on a server."""


@bot.command(short_help="Show a bot, its versions and the report of a check.")
@click.argument("bot", shell_complete=complete.bots)
@click.argument("number", type=click.IntRange(1), required=False, metavar="[VERSION]")
@click.option("--log", is_flag=True, help="Show what it printed in its check, too.")
@_as_json
def show(bot: str, number: int | None, log: bool, as_json: bool) -> None:
    """Show BOT (its id or name) and its versions, with the report of VERSION's check.

    Without VERSION the report is the newest version's. Reports are for the bot's owner, unless its source is
    public.
    """
    client = saved.client()
    found, number = _bot(client, bot, number)
    if number is not None and number > found["version"]:
        raise _no_version(found, number)
    version = client.version(found["id"], number or found["version"])
    if as_json:
        shown.as_json(version if number else found)
        return
    shown.say(f"{found['id']}: {found['name']} of {found['owner']}, {found['status']}")
    if found["description"]:
        shown.say(f"  {found['description']}")
    columns = (
        Column("version", True),
        Column("status"),
        Column("file"),
        Column("bytes", True),
        Column("uploaded"),
    )
    rows = [
        [each["number"], each["status"], each["filename"], each["size"], shown.minute(each["created_at"])]
        for each in found["versions"]
    ]
    shown.table(columns, rows)
    shown.say("")
    results.report(version, found["name"], log=log)
    if version["report"] is None and version["status"] == "rejected":
        shown.say("why: only its owner may read the report")


@click.command(short_help="Show what went wrong with a bot of yours in matches.")
@click.argument("bot", shell_complete=complete.bots)
@click.argument("number", type=click.IntRange(1), required=False, metavar="[VERSION]")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON, with all their evidence.")
def faults(bot: str, number: int | None, as_json: bool) -> None:
    """Show what went wrong with your BOT (its id or name) in matches, newest first.

    Without VERSION: of the newest version that has faults; those that have none are named.
    """
    client = saved.client()
    found, number = _bot(client, bot, number)
    chosen = [each for each in found["versions"] if number in (None, each["number"])]
    if not chosen:
        raise _no_version(found, number)
    for version in chosen:
        if listed := _faults_of(client, found, version["number"]):
            shown.as_json(listed) if as_json else _show_faults(found, version, listed)
            return
        _none(found, version, aside=as_json)
    if as_json:
        shown.as_json([])


def _no_version(found: Json, number: int | None) -> click.ClickException:
    return click.ClickException(f"{found['name']} has no version {number}; the newest is {found['version']}")


def _none(found: Json, version: Json, *, aside: bool) -> None:
    named = f"{found['name']} v{version['number']}"
    why = {
        "rejected": f"was rejected and played no match; why: rage bot show {found['id']} {version['number']}",
        "checking": "is being checked and has played no match yet",
    }.get(version["status"], "nothing went wrong")
    shown.say(f"{named}: {why}", aside=aside)


def _faults_of(client: Client, found: Json, number: int) -> list[Json]:
    try:
        return list(islice(client.faults(found["id"], number), MOST_FAULTS))
    except ProblemError as error:
        if error.status != 404:
            raise
        raise click.ClickException(
            f"{found['name']} is another account's bot; only {found['owner']} may see its faults"
        ) from None


def _show_faults(found: Json, version: Json, listed: list[Json]) -> None:
    shown.say(f"Faults of {found['name']} v{version['number']}, newest first:")
    columns = (
        Column("match"),
        Column("round", True),
        Column("asked"),
        Column("kind"),
        Column("what happened"),
    )
    keys = ("match_id", "round", "asked", "kind", "text")
    alike = Counter(tuple(each[key] for key in keys) for each in listed)
    shown.table(
        columns, [[*row[:-1], row[-1] if n == 1 else f"{row[-1]} ({n} times)"] for row, n in alike.items()]
    )
    if len(listed) == MOST_FAULTS:
        shown.say("... and perhaps more")
    for line in ("", "Play the newest again at home:", f"  {listed[0]['replay']}"):
        shown.say(line)
    shown.say("A file after the match's id, such as better.py, plays in its place.")


@click.command(short_help="Retire a bot of yours.")
@click.argument("bot", shell_complete=complete.bots)
@click.option("--yes", is_flag=True, help="Do not ask.")
def retire(bot: str, yes: bool) -> None:
    """Retire your BOT (its id or name): no more tournaments; what it played stays."""
    client = saved.client()
    found, _ = _bot(client, bot, None)
    if not yes:
        question = (
            f"{found['name']} ({found['id']}) of {found['owner']} will enter no more tournaments. Retire it?"
        )
        shown.confirm(question)
    client.retire(found["id"])
    shown.say(f"{found['name']} ({found['id']}) is retired")


def _bot(client: Client, text: str, number: int | None) -> tuple[Json, int | None]:
    """A bot with its versions, and the version that was named, beside it or after a colon."""
    bot_id, _, after = resolve(client, text).partition(":")
    if after and not after.isdecimal():
        raise click.ClickException(f"{text}: a version is a number, as in {text.partition(':')[0]}:1")
    return client.bot(bot_id), number or (int(after) if after else None)


def resolve(client: Client, text: str) -> str:
    """The id of a bot named by its id, its page's address or its name; a version after a colon stays."""
    name, colon, number = id_in(text, "bots").partition(":")
    if name.startswith("bot_"):
        return f"{name}{colon}{number}"
    found = [bot["id"] for bot in client.bots(name=name) if bot["name"].casefold() == name.casefold()]
    if not found:
        raise click.ClickException(f"no bot is called {name}; see: rage bots")
    return f"{found[0]}{colon}{number}"
