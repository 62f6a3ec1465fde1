"""`rage token`: further tokens of your account, each for one purpose alone."""

import click

from api import saved, shown
from api.shown import Column

_as_json = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


@click.group()
def token() -> None:
    """Make, list and revoke your tokens."""


@token.command()
@click.argument("label")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(["author", "organiser", "admin"]),
    multiple=True,
    required=True,
    help="What it is for: author (bots), organiser (tournaments), admin. May be repeated.",
)
@_as_json
def new(label: str, scopes: tuple[str, ...], as_json: bool) -> None:
    """Make a token called LABEL. It is printed this once.

    \b
    rage token new "uploads from the build" --scope author
    """
    made = saved.client().new_token(label, scopes)
    shown.as_json(made) if as_json else shown.say(made["token"])


@token.command("list")
@_as_json
def listing(as_json: bool) -> None:
    """List your valid tokens."""
    found = list(saved.client().tokens())
    if as_json:
        shown.as_json(found)
        return
    labels = {each["id"]: each["label"] for each in found}
    columns = (Column("id"), Column("label"), Column("for"), Column("made"), Column("made with"),
               Column("last used"))  # fmt: skip
    rows = [
        [each["id"], each["label"], " ".join(each["scopes"]), shown.minute(each["created_at"]),
         labels.get(each["made_with"], ""), shown.minute(each["last_used_at"]) or "never"]
        for each in found
    ]  # fmt: skip
    shown.table(columns, rows)


@token.command(short_help="Make a token invalid, for good.")
@click.argument("token_id", metavar="ID")
def revoke(token_id: str) -> None:
    """Make the token ID invalid, for good, and all that were made with it but the one you ask with."""
    saved.client().revoke_token(token_id)
    shown.say(f"{token_id} is revoked, and what was made with it")
