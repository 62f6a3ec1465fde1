"""`rage play` and `rage check`: games and trial matches on the author's own machine, same sandbox."""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem
from rich.console import Console

from engine import bots as house
from engine.errors import EngineError, RulesError
from engine.record import Record
from engine.rules import PRESETS, RuleSet
from service import interpreters
from service import report as reports
from service.errors import Invalid
from service.limits import Limits
from workers import check as trial
from workers import local, shown
from workers.replay import replay
from workers.sandbox import BotCode, Sandbox, SandboxError, SandboxUnavailable

READY, REJECTED, NO_SANDBOX = 0, 1, 3
HOUSE = ", ".join(house.NAMES)


class _NoSandbox(click.ClickException):
    """Neither usage nor a bot is at fault."""

    exit_code = NO_SANDBOX


def _listed(context: click.Context, option: click.Parameter, text: str) -> dict[str, str]:
    try:
        return interpreters.read(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _offered(context: click.Context, option: click.Parameter, begun: str) -> list[CompletionItem]:
    """House bots, and files, which the shell itself knows."""
    named = [CompletionItem(name, help="house bot") for name in house.NAMES if name.startswith(begun)]
    return [*named, CompletionItem(begun, type="file")]


_interpreters = click.option(
    "--interpreters",
    envvar="RAGE_INTERPRETERS",
    default="",
    callback=_listed,
    metavar="NAME=PATH,...",
    help="What else bots may run on, as on the server: node=/usr/bin/node,bash=/bin/bash.",
)
_python = click.option(
    "--python",
    envvar="RAGE_SANDBOX_PYTHON",
    help="The interpreter bots run on (default: the system's python3).",
)
_limits = click.option(
    "--limits", "limits_text", metavar="JSON", help="Other limits, e.g. '{\"decision_ms\": 2000}'."
)


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT ...", shell_complete=_offered)
@click.option("--games", type=click.IntRange(1, 100_000), default=1, show_default=True, help="Games to play.")
@click.option(
    "--rules",
    "rules_text",
    default="fundex",
    show_default=True,
    help=f'A preset ({", ".join(PRESETS)}) or JSON: \'{{"preset": "amigo", "secret_bids": true}}\'; '
    "without a preset it is fundex's.",
)
@click.option(
    "--players", type=click.IntRange(2, 16), help="Seats; the bots given are repeated to fill them."
)
@click.option("--seed", help="Any text. The same seed, bots and seats give the same games. Default: drawn.")
@click.option("--record", type=click.File("w"), help="Write the games' records there, one JSON a line.")
@click.option(
    "--replay", type=click.File("r"), help="Play this record again, BOT in --seat, the others as recorded."
)
@click.option("--seat", type=click.IntRange(0), help="With --replay: BOT's seat, from 0.")
@click.option("--bot-seed", type=int, help="With --replay: the seed BOT is told (default: as recorded).")
@click.option("--log", "with_log", is_flag=True, help="Show what each bot printed in the last game.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON document.")
@_limits
@_python
@_interpreters
def play(bots: tuple[str, ...], as_json: bool, with_log: bool, **given: Any) -> None:
    """Play games between bots and show who did how well.

    A BOT is a Python file, a .zip, a folder, or a house bot by name (random, cautious, counter,
    montecarlo). From game to game everybody moves on by one seat. Strangers' code is safe to try: every bot
    runs in the sandbox of the tournaments, fresh for every game, under their limits.

    \b
    rage play mybot.py random cautious counter
    rage play mybot.py counter --players 6 --games 100 --seed spring
    rage play mybot.py --replay match.json --seat 2        or from a server: rage reproduce MATCH
    rage play mybot.py counter --log        what it printed, too

    Exit status: 0 played (faults or not), 2 wrong usage, 3 no sandbox on this machine.
    """
    if given["replay"] is not None:
        _replay(bots, as_json, given)
        return
    if len(bots) == 1 and given["players"] is None:
        raise click.UsageError(_alone(bots[0]))
    seated = _seated([_found(name, given["interpreters"]) for name in bots], given["players"])
    rules, limits = _rules(given["rules_text"], len(seated)), _parsed_limits(given["limits_text"])
    seed = given["seed"] if given["seed"] is not None else os.urandom(8).hex()
    console = Console(stderr=True)
    with _sandbox(given) as sandbox, shown.progress(console, given["games"]) as progress:
        series = local.Series(rules, seated, limits=limits, seed=seed)
        for game in series.play(given["games"], sandbox, on_round=progress.round):
            progress.game()
            if given["record"]:
                given["record"].write(json.dumps(game.outcome.record.as_json()) + "\n")
    if as_json:
        click.echo(json.dumps(series.as_dict(log=with_log), indent=2))
        return
    shown.results(Console(), series)
    if with_log:
        shown.logs(Console(), series)


@click.command(short_help="Play a bot's trial match here, as an upload would.")
@click.argument("bot", shell_complete=_offered)
@click.option("--seed", default="check", show_default=True, help="Any text; other seeds deal other cards.")
@click.option("--log", "with_log", is_flag=True, help="Show what the bot printed, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@_limits
@_python
@_interpreters
def check(bot: str, seed: str, as_json: bool, with_log: bool, **given: Any) -> None:
    """Play BOT's trial match, as an upload would, and say whether it is ready.

    BOT is a Python file, a .zip or a folder, packed as `rage submit` packs it. It plays one game against
    three house bots in the sandbox and must not commit a single fault. What a bot prints goes to its log:
    --log shows the end of it. How bots are written: /docs/bots on a server (`rage up`, then
    http://127.0.0.1:8000/docs/bots).

    Exit status: 0 ready, 1 rejected (the report says why), 2 wrong usage, 3 no sandbox on this machine.
    """
    limits = _parsed_limits(given["limits_text"])
    try:
        code = local.load(bot, given["interpreters"])
    except OSError as error:
        raise click.BadParameter(f"{bot}: {error.strerror or error}", param_hint="BOT") from error
    except Invalid as refusal:
        told = {"ready": False, "stage": "upload", "error": {"message": _reason(refusal)}}
        _verdict(told, as_json=as_json, with_log=False)
    with _sandbox(given) as sandbox:
        verdict = trial.check(code, sandbox=sandbox, limits=limits, seed=local.deal_seed(seed, 0))
    _verdict(verdict.report, as_json=as_json, with_log=with_log)


def _verdict(told: dict[str, Any], *, as_json: bool, with_log: bool) -> NoReturn:
    """The report, and the status that says the same."""
    click.echo(json.dumps(told, indent=2) if as_json else reports.text(told, log=with_log))
    raise click.exceptions.Exit(READY if told["ready"] else REJECTED)


def _replay(bots: tuple[str, ...], as_json: bool, given: dict[str, Any]) -> None:
    text = given["replay"].read()
    record, seat = _record(text), given["seat"]
    if len(bots) != 1 or seat is None or seat >= record.players:
        needed = f"takes one BOT and its --seat, 0 to {record.players - 1}"
        raise click.BadParameter(needed, param_hint="--replay")
    bot, (seed, limits) = _found(bots[0], given["interpreters"]), _told(json.loads(text), seat)
    if given["limits_text"]:
        limits = _parsed_limits(given["limits_text"])
    if given["bot_seed"] is not None:
        seed = given["bot_seed"]
    with _sandbox(given) as sandbox:
        again = replay(record, bot, seat=seat, bot_seed=seed, limits=limits, sandbox=sandbox)
    faults = [fault.as_dict() for fault in again.outcome.faults]
    if as_json:
        told = {
            "parted": again.parted and again.parted.as_dict(),
            "scores": again.outcome.scores,
            "faults": faults,
            "log": again.usage.log,
        }
        click.echo(json.dumps(told, indent=2))
    else:
        shown.replayed(Console(), bot.name, again)


def _told(document: Mapping[str, Any], seat: int) -> tuple[int, Limits]:
    """The seed and limits a seat was told, as far as the record of a server has them."""
    about = document.get("about")
    about = about if isinstance(about, dict) else {}
    seats = about.get("seats")
    seated = seats if isinstance(seats, list) else []
    seeds = [each.get("seed") for each in seated if isinstance(each, dict) and each.get("seat") == seat]
    try:
        limits = Limits.parse(about.get("limits") or {})
    except Invalid as refusal:
        raise click.BadParameter(f"about.limits: {refusal}", param_hint="--replay") from refusal
    return next((seed for seed in seeds if isinstance(seed, int)), 0), limits


def _record(text: str) -> Record:
    try:
        record = Record.from_json(json.loads(text))
        record.replay()
        return record
    except (ValueError, RecursionError, EngineError) as error:
        many = len(text.split("\n{")) if text.startswith("{") and isinstance(error, ValueError) else 1
        reason = f"not a record of a match: {error}"
        if many > 1:
            reason = f"holds {many} records, one a line; give it one: sed -n 1p FILE > one.json"
        raise click.BadParameter(reason, param_hint="--replay") from error


def _found(name: str, interpreters: Collection[str]) -> BotCode:
    try:
        return local.load(name, interpreters)
    except OSError as error:
        known = (
            f"no such file, and the house bots are {HOUSE}" if isinstance(error, FileNotFoundError) else error
        )
        raise click.BadParameter(f"{name}: {known}", param_hint="BOT") from error
    except Invalid as refusal:
        raise click.BadParameter(f"{name}: {_reason(refusal)}", param_hint="BOT") from refusal


def _alone(bot: str) -> str:
    """What to say to who named one bot and no more."""
    return (
        f"{bot} needs somebody to play with: rage play {bot} counter\n"
        f"(house bots: {HOUSE}; or --players 4: it has all four seats itself)"
    )


def _seated(bots: Sequence[BotCode], players: int | None) -> list[BotCode]:
    """The bots given, repeated in turn until every seat is taken."""
    seats = players or max(len(bots), 2)
    if seats < len(bots):
        raise click.BadParameter(f"{len(bots)} bots do not fit {seats} seats", param_hint="--players")
    return [bots[seat % len(bots)] for seat in range(seats)]


def _rules(text: str, players: int) -> RuleSet:
    switched = text.lstrip().startswith("{")
    spec = {"preset": "fundex", **_json(text, "--rules")} if switched else {"preset": text}
    try:
        return RuleSet.parse(spec, players)
    except RulesError as error:
        hint = "--players" if error.field == "players" else "--rules"
        raise click.BadParameter(str(error), param_hint=hint) from error


def _parsed_limits(text: str | None) -> Limits:
    try:
        return Limits.parse(_json(text, "--limits")) if text else Limits()
    except Invalid as refusal:
        raise click.BadParameter(str(refusal), param_hint="--limits") from refusal


def _json(text: str, option: str) -> dict[str, Any]:
    try:
        spec = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint=option) from error
    if not isinstance(spec, dict):
        raise click.BadParameter("must be a JSON object", param_hint=option)
    return spec


def _reason(refusal: Invalid) -> str:
    return "; ".join(reason for reasons in refusal.errors.values() for reason in reasons)


@contextmanager
def _sandbox(given: Mapping[str, Any]) -> Iterator[Sandbox]:
    try:
        sandbox = Sandbox.probe(python=given["python"], interpreters=given["interpreters"])
    except SandboxUnavailable as error:
        raise _NoSandbox(str(error)) from error
    try:
        yield sandbox
    except SandboxError as error:
        raise _NoSandbox(f"the match could not be played, and no bot is to blame: {error}") from error
    finally:
        sandbox.close()
