"""`rage reproduce`: a match of a server played again at home, one's own bot in its seat."""

import json
import tempfile
from pathlib import Path
from typing import Any

import click

from api import results, saved, shown
from api.client import Client, ProblemError
from api.commands.games import one_match
from service.names import ALLOWED

Json = dict[str, Any]
LONGEST = 200  # bytes of a file's name


@click.command(short_help="Play a server's match again, your bot in its seat.")
@one_match
@click.argument("bot", required=False, metavar="[BOT]", type=click.Path())
@click.option("--seat", type=click.IntRange(0), help="The seat BOT takes; default: yours.")
@click.option("--keep", type=click.File("w"), metavar="FILE", help="Keep the record there.")
@click.option("--json", "as_json", is_flag=True, help="Print what came out as JSON.")
@click.option("--python", envvar="RAGE_SANDBOX_PYTHON", help="The interpreter bots run on, as for rage play.")
@click.option("--interpreters", envvar="RAGE_INTERPRETERS", help="What else they run on, as for rage play.")
@click.pass_context
def reproduce(
    ctx: click.Context, /, match_id: str, bot: str | None, seat: int | None, keep: Any, **how: Any
) -> None:
    """Play MATCH again: the same cards, the others' moves as recorded, BOT in its seat, decision by decision.

    BOT is a file or folder, to see what a change would have done; without it the very version that played is
    fetched, which must be yours or public. It runs in the sandbox of this machine, with the limits, and told
    the seed, of that match. The first decision that differs is named; then the others play as recorded for as
    long as that is legal.

    \b
    rage reproduce t_k4m2xw9tq7bn-17
    rage reproduce t_k4m2xw9tq7bn-17 better.py --seat 2

    Exit status: 0 played (faults or not), 1 refused by the server, 2 wrong usage, 3 no sandbox here.
    """
    client = saved.client()
    match, record = client.match(match_id), client.record(match_id)
    taken = _seat(client, match, seat)
    if keep is not None:
        json.dump(record, keep)
    with tempfile.TemporaryDirectory(prefix="rage-reproduce-") as folder:
        file = Path(folder) / "record.json"
        file.write_text(json.dumps(record))
        chosen = bot or str(_fetched(client, taken, Path(folder)))
        if not how["as_json"]:
            shown.say(f"{match_id}, seat {taken['seat']} ({results.named(taken)}):")
        _play(ctx, [chosen, "--replay", str(file), "--seat", str(taken["seat"]), *_flags(how)])


def _seat(client: Client, match: Json, seat: int | None) -> Json:
    """The seat that was asked for, or the caller's."""
    seats: list[Json] = match["seats"]
    if seat is not None:
        if seat >= len(seats):
            raise click.BadParameter(f"{match['id']} has seats 0 to {len(seats) - 1}", param_hint="--seat")
        return seats[seat]
    me = client.whoami()["id"] if client.token else None
    mine = [each for each in seats if client.bot(each["bot_id"])["owner_id"] == me]
    if len(mine) == 1:
        return mine[0]
    which = f"{len(mine)} seats of {match['id']} are yours" if mine else f"no seat of {match['id']} is yours"
    listed = [f"  --seat {each['seat']}  {results.named(each)}" for each in (mine or seats)]
    raise click.UsageError("\n".join([f"{which}; say which:", *listed]))


def _fetched(client: Client, taken: Json, folder: Path) -> Path:
    """The version that sat there, as it was uploaded."""
    bot_id, number = taken["bot_id"], taken["version"]
    try:
        code = client.code(bot_id, number)
    except ProblemError as error:
        if error.status != 404:
            raise
        why = f"the code of {results.named(taken)} is not yours to read; give a BOT to play in its seat"
        raise click.UsageError(why) from None
    versions = client.bot(bot_id)["versions"]
    uploaded = next(each["filename"] for each in versions if each["number"] == number)
    (apart := folder / "bot").mkdir()
    place = apart / _file_name(results.named(taken), uploaded)
    place.write_bytes(code)
    return place


def _file_name(name: str, uploaded: str) -> str:
    """The bot's name, if that is a plain one: whatever a server says names no place outside of the folder."""
    kind = Path(uploaded).suffix
    suffix = kind if kind[1:].isascii() and kind[1:].isalnum() and len(kind) < 10 else ""
    plain = ALLOWED.fullmatch(name) and len(name.encode()) <= LONGEST
    return f"{name if plain else 'bot'}{suffix}"


def _flags(how: Json) -> list[str]:
    flags = ["--json"] if how["as_json"] else []
    for name in ("python", "interpreters"):
        flags += [f"--{name}", how[name]] if how[name] else []
    return flags


def _play(ctx: click.Context, arguments: list[str]) -> None:
    """`rage play`, found as any command is: what runs bots and what talks HTTP know nothing of each other."""
    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    play = root.command.get_command(root, "play")
    if play is None:
        raise click.ClickException("rage play is not installed here")
    with play.make_context("play", arguments, parent=root) as inner:
        try:
            play.invoke(inner)
        except click.UsageError as error:
            error.ctx = ctx  # whose usage it is that went wrong
            raise
