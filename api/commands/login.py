"""`rage login`: who you are, and where."""

import sys

import click

from api import saved, shown
from api.client import Client, ProblemError


@click.command(short_help="Remember a server and your token there.")
@click.argument("url", default=saved.where)
@click.option("--register", "name", metavar="NAME", help="Make an account of this name there first.")
@click.option("--token", help="Your token there; asked for if neither is given.")
def login(url: str, name: str | None, token: str | None) -> None:
    """Remember the server at URL and your token there, for all other commands.

    \b
    rage login http://127.0.0.1:8000 --register ada     a new account
    rage login http://127.0.0.1:8000                    asks for the token you have

    Both are kept in a file that only you can read. Without URL: where you logged in last, or
    http://127.0.0.1:8000.
    """
    if name and token:
        raise click.UsageError("give --register or --token, not both")
    token = token or (click.get_current_context().obj or {}).get("token")
    client = Client(url)
    try:
        if name:
            client.register(name)
        else:
            client.token = _token(token or _asked(client))
        who = _whoami(client)
    except ProblemError as error:
        if error.status != 404:
            raise
        raise click.ClickException(
            f"there is no Rage Arena at {client.url}; is the address right?"
        ) from error
    file = saved.save(saved.Login(client.url, client.token or ""))
    shown.say(f"You are {who['name']} on {client.url}; kept in {file}")


def _token(text: str) -> str:
    """A token, as far as can be seen without its server."""
    if not text.isascii() or not text.isprintable() or " " in text:
        raise click.UsageError("that is no token; one looks like rage_ and 43 letters, digits, - and _")
    return text


def _whoami(client: Client) -> dict[str, str]:
    try:
        return client.whoami()
    except ProblemError as error:
        if error.status == 401:
            raise click.ClickException(f"{client.url} does not know this token: {error}") from error
        raise


def _asked(client: Client) -> str:
    """The token from the terminal, or the first line piped in; asked for only where a server answers."""
    try:
        client.get("/rules")
    except ProblemError as error:
        if error.status not in (401, 403):  # it keeps strangers out, but it is there
            raise
    hint = f"to make an account: rage login {client.url} --register NAME"
    if sys.stdin.isatty():
        shown.say(f"The token of your account there; {hint}", aside=True)
        return str(click.prompt("Token", hide_input=True))
    if token := sys.stdin.readline().strip():
        return token
    raise click.ClickException(f"no token was given, and nobody can be asked: use --token TOKEN, or {hint}")
