"""What a command is told to look at may be the address of its page, or of the API; the id is in it."""

import re
from urllib.parse import urlsplit

import click

PAGE = re.compile(
    r"(https?://[^\s?#]+)/(tournaments|comparisons|matches|bots)/([^\s/?#]+)(?:[/?#]\S*)?", re.I
)
LOCAL = ("127.0.0.1", "localhost", "::1")


def id_in(text: str, *kinds: str) -> str:
    """The id in an address of one of these kinds, such as "matches"; any other text as it is.

    An address on another server than the one that will be asked raises `UsageError`.
    """
    found = PAGE.fullmatch(text.strip())
    if not found or found[2] not in kinds:
        return text
    from api import saved

    there, here = found[1], saved.client().url
    if _server(there) != _server(here):
        origin = there.removesuffix("/api/v1")
        raise click.UsageError(f"{text} is not on {here}, which would be asked; add: rage --url {origin} ...")
    return found[3]


def _server(url: str) -> tuple[str | None, int | None]:
    """Host and port; a proxy may speak TLS for a server that does not."""
    parts = urlsplit(url)
    host = "localhost" if parts.hostname in LOCAL else parts.hostname
    return host, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
