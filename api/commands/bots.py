"""`rage submit`, `bots`, `faults`, `retire`: an author's bots on a server."""

import io
import zipfile
from pathlib import Path
from typing import Any

import click

from api import results, saved, shown
from api.client import Client
from api.shown import Column

REJECTED = 1
MOST_WAIT = 300.0  # seconds


@click.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--name", help="Its name on the server; default: the file's.")
@click.option("--description", default="", help="A few words for others.")
@click.option("--public", is_flag=True, help="Everybody may read its code.")
@click.option("--wait", is_flag=True, help="Wait for its check, and say how it went.")
@click.option("--json", "as_json", is_flag=True, help="Print the version as JSON.")
def submit(path: Path, name: str | None, wait: bool, as_json: bool, description: str, public: bool) -> None:
    """Upload the bot at PATH: a Python file, a .zip, or a folder, which is packed.

    If you have a bot of that name already, this is its next version.

    Exit status: 0 uploaded (with --wait: ready), 1 refused or rejected (the report says why).
    """
    client = saved.client()
    filename, content = packed(path)
    version = _upload(client, name or path.resolve().stem, filename, content, description, public)
    if wait:
        version = client.wait_ready(version["bot_id"], version["number"], seconds=MOST_WAIT)
    if as_json:
        shown.as_json(version)
    else:
        results.report(version)
    if version["status"] == "rejected":
        raise click.exceptions.Exit(REJECTED)


def _upload(
    client: Client, name: str, filename: str, content: bytes, description: str, public: bool
) -> dict[str, Any]:
    mine = [bot for bot in client.bots(owner=client.whoami()["name"], name=name) if bot["name"] == name]
    if mine:
        return client.add_version(mine[0]["id"], filename, content)
    made = client.submit(name, filename, content, description=description, public_source=public)
    newest: dict[str, Any] = made["versions"][0]
    return newest


def packed(path: Path) -> tuple[str, bytes]:
    """A file as it is; a folder as an archive, always the same one for the same files."""
    if not path.is_dir():
        return path.name, path.read_bytes()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path.rglob("*")):
            inside = file.relative_to(path)
            if file.is_file() and not any(
                part.startswith(".") or part == "__pycache__" for part in inside.parts
            ):
                entry = zipfile.ZipInfo(inside.as_posix())
                entry.external_attr = (file.stat().st_mode & 0o777 | 0o100000) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, file.read_bytes())
    return f"{path.resolve().name}.zip", out.getvalue()


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
    """List bots, newest first."""
    client = saved.client()
    if mine:
        owner = client.whoami()["name"]
    found = list(client.bots(owner=owner, status=status))
    if as_json:
        shown.as_json(found)
        return
    columns = (Column("id"), Column("bot"), Column("author"), Column("status"), Column("uploaded"))
    rows = [
        [bot["id"], results.named(bot), bot["owner"], bot["status"], bot["created_at"][:16]] for bot in found
    ]
    shown.table(columns, rows, empty="there are no such bots")


@click.command()
@click.argument("bot")
@click.argument("number", type=click.IntRange(1), required=False, metavar="[VERSION]")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON, with all their evidence.")
def faults(bot: str, number: int | None, as_json: bool) -> None:
    """Show what went wrong with your BOT (its id or name) in matches, newest first."""
    client = saved.client()
    bot_id = resolve(client, bot)
    found = list(client.faults(bot_id, number or client.bot(bot_id)["version"]))
    if as_json:
        shown.as_json(found)
        return
    columns = (
        Column("match"),
        Column("round", True),
        Column("asked"),
        Column("kind"),
        Column("what happened"),
    )
    rows = [[each["match_id"], each["round"], each["asked"], each["kind"], each["text"]] for each in found]
    shown.table(columns, rows, empty="nothing went wrong")
    if found:
        click.echo("\nPlay the newest again at home:\n  " + found[0]["replay"].replace(" && ", "\n  "))


@click.command()
@click.argument("bot")
@click.confirmation_option(prompt="It will enter no more tournaments. Retire it?")
def retire(bot: str) -> None:
    """Retire your BOT (its id or name): no more tournaments; what it played stays."""
    client = saved.client()
    client.retire(resolve(client, bot))
    click.echo(f"{bot} is retired")


def resolve(client: Client, text: str) -> str:
    """The id of a bot named by its id or its name; a version after a colon stays where it is."""
    name, colon, number = text.partition(":")
    if name.startswith("bot_"):
        return text
    found = [bot["id"] for bot in client.bots(name=name) if bot["name"].casefold() == name.casefold()]
    if not found:
        raise click.ClickException(f"no bot is called {name}; see: rage bots")
    return f"{found[0]}{colon}{number}"
