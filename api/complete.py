"""What a shell may complete after `rage`: bots, tournaments, rules. Asks a server only where one is known.

Never fails and never waits long: no suggestion is better than a shell that hangs.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from api.transport import Json, Transport

PATIENCE = 1.0  # seconds
MOST = 100
Items = list[CompletionItem]


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
    fitting = (each for each in found if each[0].casefold().startswith(begun.casefold()))
    return [CompletionItem(value, help=about or None) for value, about in islice(fitting, MOST)]


def _bots(ctx: click.Context) -> Iterator[tuple[str, str]]:
    if _known(ctx) is None:
        from engine.bots import NAMES

        return ((name, "house bot") for name in NAMES)
    return (
        (each["name"], f"{each['status']}, of {each['owner']}") for each in _asked(ctx, "/bots?limit=200")
    )


def _tournaments(ctx: click.Context) -> Iterator[tuple[str, str]]:
    return (
        (each["id"], f"{each['name']}, {each['status']}") for each in _asked(ctx, "/tournaments?limit=100")
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


def _asked(ctx: click.Context, path: str) -> "list[Json]":
    """The first items of a list on that server; none if it has other things to do."""
    from api.refusals import ClientError

    client = _known(ctx)
    try:
        return list(json.loads(client.call("GET", path).content)["items"]) if client else []
    except (ClientError, ValueError, KeyError):
        return []
