"""Where a person logged in: kept in a file for their eyes only."""

import json
import os
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import click

from api.client import Client

DEFAULT = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Login:
    """A server and the token that is valid there."""

    url: str
    token: str


def path() -> Path:
    """The file."""
    return Path(click.get_app_dir("rage")) / "login.json"


def save(login: Login) -> Path:
    """Keeps a login instead of any before; readable by its owner alone from the first byte on."""
    file = path()
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as out:
        json.dump(asdict(login), out)
    new.replace(file)
    return file


def load() -> Login | None:
    """The login, or None; a file that is not one is refused."""
    try:
        return Login(**json.loads(path().read_bytes()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        raise click.ClickException(f"{path()} is not readable; log in again: rage login URL") from None


def where() -> str:
    """The server the person logged in at last, or the usual one."""
    login = load()
    return login.url if login else DEFAULT


def client() -> Client:
    """The server that was chosen on the command line, or where the person logged in.

    A saved token goes to the server it was saved for and to no other.
    """
    chosen = click.get_current_context().obj or {}
    login = load()
    made = Client(chosen.get("url") or (login.url if login else DEFAULT), chosen.get("token"))
    if made.token is None and login is not None and login.url == made.url:
        made.token = login.token
    made.say = partial(click.echo, err=True)
    return made
