"""`rage match`, `referee`, `verify`: single games."""

import json
import os
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from api import shown
from api.commands import hashes
from api.commands.addresses import id_in

MISMATCH = 1
MATCH = re.compile(r"[tc]_[A-Za-z0-9_-]{1,78}-[0-9]+")
TOURNAMENT = re.compile(r"[tc]_[A-Za-z0-9_]{1,78}")
WHAT = "FILE|MATCH"


class Unreadable(click.ClickException):
    """What was given is no record at all."""

    exit_code = 2


@click.command(short_help="Settle one round from a script.")
@click.argument("file", metavar="FILE")
def referee(file: str) -> None:
    """Settle one round: play the script in FILE (- reads standard input) and print the outcome as JSON.

    All keys are needed, and none is known beside them but "name". `pile` is what was not dealt, top first;
    `moves` holds every decision as it is asked: bids from the dealer's left, then cards. A whole script:

    \b
    {"rules": {"preset": "fundex"}, "players": 2, "dealer": 1,
     "hands": [["R5"], ["R9"]], "pile": ["B1"], "moves": [0, 1, "R5", "R9"]}

    Exit status: 0 played, 1 an illegal move or a script that is no valid round (the outcome names it), 2 a
    file that cannot be read.
    """
    from engine.referee import main

    sys.exit(main([file]))


def match_id(text: str, what: str = WHAT) -> str:
    """The id of a match that was given by it or by its page's address; raises `BadParameter`."""
    told = id_in(text, "matches", "tournaments", "comparisons")
    if MATCH.fullmatch(told):
        return told
    verb, kinds = ("verify", "neither a file nor") if what == WHAT else ("show", "not")
    instead = f" (of a tournament? rage tournament {verb} {told})" if TOURNAMENT.fullmatch(told) else ""
    raise click.BadParameter(f"{text} is {kinds} the id of a match{instead}", param_hint=what)


one_match = click.argument(
    "match_id", metavar="MATCH", callback=lambda ctx, parameter, text: match_id(text, "MATCH")
)


class Records(click.File):
    """A file of records, or a server's match by its id; as bytes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """What the file or the server says; raises `BadParameter`."""
        if value != "-" and not os.path.exists(value):
            from api import saved

            return json.dumps(saved.client().record(match_id(str(value)))).encode()
        return super().convert(value, param, ctx).read()


@click.command(short_help="Deal and play a record again, and compare everything.")
@click.argument("content", type=Records("rb"), metavar=WHAT)
@click.option("--secret", metavar="HEX", help="Its tournament's secret: check the deal against it.")
@click.option(
    "--hash",
    "promised",
    metavar="HEX",
    callback=hashes.whole,
    help="The secret's hash as published at the beginning.",
)
def verify(content: bytes, secret: str | None, promised: str | None) -> None:
    """Deal and play the record of MATCH, or in FILE (- reads standard input), again, and compare everything.

    FILE is JSON as from `rage match record` or `rage play --record`: one record, or one a line; the
    record of a MATCH is fetched. For all matches of a tournament there is `rage tournament verify`.

    Exit status: 0 all is as the rules have it, 1 not, with the first discrepancy, 2 a file that is not JSON.
    """
    from engine.record import verify as discrepancy

    check = _deal_check(secret, promised)
    records = _records(content)
    for number, record in enumerate(records, start=1):
        wrong = discrepancy(record) or check(record)
        if wrong is not None:
            where = f"record {number}: " if len(records) > 1 else ""
            shown.say(f"{where}{wrong}")
            raise click.exceptions.Exit(MISMATCH)
    shown.say("verified" if len(records) == 1 else f"verified {len(records)} records")


def _deal_check(secret: str | None, promised: str | None) -> Callable[[Any], str | None]:
    """What tells whether a record's deal follows from a secret; nothing without one."""
    if secret is None:
        if promised is not None:
            raise click.UsageError("--hash needs the --secret that it is of")
        return lambda record: None
    from service import audit

    wrong = audit.secret_discrepancy(secret, promised or audit.hash_of(secret))
    if wrong is not None:
        shown.say(wrong)
        raise click.exceptions.Exit(MISMATCH)
    return partial(audit.deal_discrepancy, secret=bytes.fromhex(secret))


def _records(content: bytes) -> list[Any]:
    try:
        try:
            return [json.loads(content)]
        except ValueError:
            lines = [line for line in content.splitlines() if line.strip()]
            if len(lines) < 2:
                raise
            return [json.loads(line) for line in lines]
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {error}") from None


@click.group()
def match() -> None:
    """Look at single matches on a server.

    MATCH is an id such as t_k4m2xw9tq7bn-17, or the address of its page.
    """


@match.command()
@one_match
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(match_id: str, as_json: bool) -> None:
    """Show who sat where in MATCH and what came out.

    Once its deal was played from every seat: how many points above the table's mean each owes to its cards,
    going by all who held them, and how many to its play.
    """
    from api import legend, results, saved
    from api.shown import Column

    client = saved.client()
    found = client.match(match_id)
    if as_json:
        shown.as_json(found)
        return
    shown.say(f"{found['id']}: {found['status']}, deal {found['group']}, rotation {found['rotation']}")
    if found["trouble"]:
        shown.say(f"  {found['trouble']}")
    columns = (Column("seat", True), Column("bot"), Column("points", True), Column("place", True),
               Column("cards", True), Column("play", True), Column("exact bids", True),
               Column("faults", True), Column("CPU ms", True))  # fmt: skip
    rows = [
        [seat["seat"], results.named(seat), seat["score"], seat["place"], results.tenth(seat["luck"], "+"),
         results.tenth(seat["earned"], "+"), seat["exact_bids"], seat["faults"], seat["cpu_ms"]]
        for seat in found["seats"]
    ]  # fmt: skip
    shown.table(columns, rows)
    for sentence in legend.of_match(found["seats"]):
        shown.say(sentence)
    for fault in found["faults"]:
        shown.say(f"fault: seat {fault['seat']}, round {fault['round']}: {fault['kind']}")
    if found["status"] == "done":
        shown.say(f"watch it: rage replay {match_id}, or {client.url}/matches/{match_id}")


@match.command()
@one_match
def record(match_id: str) -> None:
    """Print the whole game of MATCH as JSON.

    \b
    rage match record MATCH > game.json
    """
    from api import saved

    shown.as_json(saved.client().record(match_id))
