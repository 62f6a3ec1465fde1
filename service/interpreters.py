"""What bots may run on beside Python, as an operator lists it: `node=/usr/bin/node,bash=/bin/bash`."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

NAME = re.compile(r"[a-z][a-z0-9.+-]{0,30}")
OURS = ("python", "python3")
USUAL = {".sh": "bash", ".js": "node", ".lua": "lua", ".pl": "perl", ".php": "php", ".rb": "ruby"}


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


def how_to_send(filename: str) -> str:
    """What makes a bot of a program in another language; nothing for a file that looks like none."""
    name = PurePosixPath(filename.replace("\\", "/")).name
    suffix = PurePosixPath(name).suffix.lower()
    if suffix and suffix not in USUAL:
        return ""
    run = f'"{USUAL[suffix]}", "{name}"' if suffix else f'"./{name}"'
    return (
        f"; a program in another language goes into an archive, beside a bot.toml that says run = [{run}]: "
        "rage new NAME --kind bash writes one to begin with"
    )


def written(listed: Mapping[str, str]) -> str:
    """As an operator writes it."""
    return ",".join(f"{name}={path}" for name, path in listed.items())
