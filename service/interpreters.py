"""What bots may run on beside Python, as an operator lists it: `node=/usr/bin/node,bash=/bin/bash`."""

import re
from collections.abc import Mapping

NAME = re.compile(r"[a-z][a-z0-9.+-]{0,30}")
OURS = ("python", "python3")


def read(text: str) -> dict[str, str]:
    """Paths by name; raises `ValueError` that says what would be right.

    Whether they exist is the sandbox's to find out: it may be another machine's.
    """
    listed: dict[str, str] = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        name, equals, path = map(str.strip, pair.partition("="))
        if not equals or not NAME.fullmatch(name) or not path.startswith("/") or not path.isprintable():
            raise ValueError("must be names and whole paths, such as node=/usr/bin/node,bash=/bin/bash")
        if name in OURS:
            raise ValueError("may not list python; bots have it already, and RAGE_SANDBOX_PYTHON says which")
        if name in listed:
            raise ValueError(f"lists {name} twice")
        listed[name] = path
    return listed


def written(listed: Mapping[str, str]) -> str:
    """As an operator writes it."""
    return ",".join(f"{name}={path}" for name, path in listed.items())
