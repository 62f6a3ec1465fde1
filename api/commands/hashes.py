"""The published hash of a tournament's secret, as an option."""

import re

import click

SHA256 = re.compile(r"[0-9A-Fa-f]{64}")


def whole(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    """The hash; one that was shortened is wrong usage, and never looks like a broken promise."""
    if text is None or SHA256.fullmatch(text):
        return text
    raise click.BadParameter(f"must be all 64 hexadecimal digits of a SHA-256, not {text!r:.80}")
