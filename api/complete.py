"""What a shell may complete after `rage`: bots, tournaments, rules. Asks a server only where one is known.

Never fails and never waits long: no suggestion is better than a shell that hangs.
"""

import json
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from api.transport import Json, Transport

PATIENCE = 1.0  # seconds
MOST = 100
Items = list[CompletionItem]
Pairs = list[tuple[str, str]]  # what to type, and what it is


def bots(ctx: click.Context, _: click.Parameter, begun: str) -> Items:
    """Names of bots on the server; of those that every server has, where none is known."""
    return _that_begin(begun, _bots(ctx))


def tournaments(ctx: click.Context, _: click.Parameter, begun: str) -> Items:
    """Ids of tournaments on the server, with their names."""
    return _that_begin(begun, _tournaments(ctx))


def rules(ctx: click.Context, _: click.Parameter, begun: str) -> Items:
    """Presets."""
    from engine.rules import PRESETS

    return _that_begin(begun, ((name, "") for name in PRESETS))


def _that_begin(begun: str, found: Iterable[tuple[str, str]]) -> Items:
    """A shell takes one suggestion a line: what a server says that is not to be shown is left out."""
    fitting = (
        (value, about if about.isprintable() else "")
        for value, about in found
        if value.casefold().startswith(begun.casefold()) and value.isprintable()
    )
    return [CompletionItem(value, help=about or None) for value, about in islice(fitting, MOST)]


def _bots(ctx: click.Context) -> Pairs:
    server = _known(ctx)
    if server is None:
        from engine.bots import NAMES

        return [(name, "house bot") for name in NAMES]
    return _asked(
        server, "/bots?limit=200", lambda each: (each["name"], f"{each['status']}, of {each['owner']}")
    )


def _tournaments(ctx: click.Context) -> Pairs:
    server = _known(ctx)
    if server is None:
        return []
    return _asked(
        server, "/tournaments?limit=100", lambda each: (each["id"], f"{each['name']}, {each['status']}")
    )


def _known(ctx: click.Context) -> "Transport | None":
    """The server that the words so far, the environment or a login name; None without any."""
    from api import saved
    from api.refusals import ClientError
    from api.transport import Transport

    given = ctx.find_root().params
    try:
        login = saved.load()
        url = given.get("url") or (login.url if login else None)
        made = Transport(url, given.get("token"), timeout=PATIENCE) if url else None
    except (ClientError, click.ClickException):
        return None
    if made and made.token is None and login and login.url == made.url:
        made.token = login.token
    return made


def _asked(server: "Transport", path: str, pair: "Callable[[Json], tuple[str, str]]") -> Pairs:
    """The first items of a list on that server; none if it has other things to do, or is no such server."""
    from api.refusals import ClientError

    try:
        found = [pair(each) for each in json.loads(server.call("GET", path).content)["items"]]
    except (ClientError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []
    return [(value, about) for value, about in found if isinstance(value, str)]
