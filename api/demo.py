"""`rage demo`: from nothing to final standings, by the same ways as everybody: HTTP, workers, sandbox."""

import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from api import results
from api.client import Client, ClientError, ProblemError
from api.commands.follow import follow
from engine import bots as house
from engine.record import verify
from service import report
from service.screen import Screen
from service.settings import Settings, SettingsError
from service.supervisor import WHY_NOT, Supervisor

DEALS = 2  # 40 matches: five tables, each deal from four seats
CHECK_SECONDS = 120.0
PLAY_SECONDS = 300.0
RATE_SECONDS = 30.0
STOPPED = 130
OWN = ("RAGE_DATABASE_URL", "RAGE_REDIS_URL", "RAGE_PORT", "RAGE_HOST", "RAGE_OPEN_REGISTRATION")
TEN_LINES = """\
def bid(view):
    trumps = [card for card in view["hand"] if card[0] == view["trump"] and card[1:].isdigit()]
    return len(trumps) + view["hand"].count("WILD")


def play(view):
    hungry = view["taken"][view["seat"]] < view["bids"][view["seat"]]
    strength = {card: int(card[1:]) if card[1:].isdigit() else 0 for card in view["legal"]}
    best = max if hungry else min
    return best(view["legal"], key=strength.get)
"""


class DemoFailed(Exception):
    """Something did not go as it should; the text says what."""


@click.command(short_help="Play a small tournament from nothing to its standings.")
@click.option("--keep", is_flag=True, help="Leave everything running afterwards, until Ctrl-C.")
def demo(keep: bool) -> None:
    """Play a small tournament from nothing to final standings, on this machine alone.

    Starts the whole arena on a free port, makes an account, uploads the house bots and one of ten lines,
    waits for their checks, lets them play and shows standings and ratings. Then it stops everything and
    removes what it wrote. It keeps its data in a directory of its own (or in RAGE_DATA_DIR, if set, which is
    not removed) and never touches what RAGE_DATABASE_URL and RAGE_REDIS_URL name.

    \b
    rage demo          about half a minute
    rage demo --keep   and then look around in the browser
    """
    screen = Screen(sys.stdout)
    place = Place.choose()
    try:
        settings = Settings.from_environment(place.environment())
        supervisor = Supervisor(settings, house=False, tell=screen.line, step=screen.step)
        with _interruptible(supervisor):
            _run(supervisor, screen, keep=keep)
    except KeyboardInterrupt:
        place.remove()
        screen.line("Stopped; nothing is left.")
        raise click.exceptions.Exit(STOPPED) from None
    except (DemoFailed, ClientError, SettingsError, OSError, *WHY_NOT) as error:
        raise click.ClickException(f"{error}\nEverything was stopped. {place.logs()}") from error
    finally:
        screen.settle()
    place.remove()
    screen.line("Everything was stopped." if keep else "That was it: everything was stopped.", style="green")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the demo keeps its data; a place of its own is removed when all went well."""

    directory: Path
    own: bool

    @classmethod
    def choose(cls) -> "Place":
        given = os.environ.get("RAGE_DATA_DIR", "").strip()
        if given:
            return cls(Path(given).expanduser(), own=False)
        return cls(Path(tempfile.mkdtemp(prefix="rage-demo-")), own=True)

    def environment(self) -> dict[str, str]:
        """The settings' variables for a service apart from any other here."""
        kept = {name: value for name, value in os.environ.items() if name not in OWN}
        return {**kept, "RAGE_DATA_DIR": str(self.directory), "RAGE_PORT": "0"}

    def logs(self) -> str:
        """Where to look after a failure; a place that knows nothing about it is removed."""
        directory = self.directory / "logs"
        if any(file.stat().st_size for file in directory.glob("*.log")):
            return f"Logs: {directory}"
        self.remove()
        return "It had not got as far as writing logs."

    def remove(self) -> None:
        if self.own:
            shutil.rmtree(self.directory, ignore_errors=True)


def _run(supervisor: Supervisor, screen: Screen, *, keep: bool) -> None:
    """All of it; leaves nothing running, whatever happens."""
    try:
        supervisor.start()
        screen.line(f"The arena runs at {supervisor.address}")
        client = Client(supervisor.address)
        _play(client, screen)
        if keep:
            _leave_running(supervisor, client, screen)
    finally:
        screen.step("Stopping")
        supervisor.stop()
        screen.settle()


def _play(client: Client, screen: Screen) -> None:
    screen.step("Making an account and uploading five bots")
    client.register(f"demo {secrets.token_hex(3)}")
    bots = _upload(client)
    screen.step("Checking the bots in the sandbox")
    for bot in bots:
        _check(client, bot)
    screen.settle()
    screen.line("Five bots were uploaded and passed their check.")
    made = client.create_tournament(
        name="Demo", entrants=[bot["id"] for bot in bots], players=4, deals=DEALS, duplicate=True
    )
    if (status := follow(client, made["id"], seconds=PLAY_SECONDS)) != "finished":
        raise DemoFailed(f"the tournament was {status}: {client.tournament(made['id'])['reason']}")
    _show(client, screen, made["id"], bots)


def _upload(client: Client) -> list[dict[str, Any]]:
    sources = {name: house.source(name) for name in house.NAMES} | {"ten lines": TEN_LINES}
    return [_submit(client, name, source.encode()) for name, source in sources.items()]


def _submit(client: Client, name: str, content: bytes) -> dict[str, Any]:
    filename = f"{name.replace(' ', '_')}.py"
    try:
        return client.submit(name, filename, content)
    except ProblemError as error:
        if error.status != 409:
            raise
        return client.submit(f"{name} {secrets.token_hex(3)}", filename, content)  # from an earlier demo here


def _check(client: Client, bot: dict[str, Any]) -> None:
    version = client.wait_ready(bot["id"], seconds=CHECK_SECONDS)
    if version["status"] != "ready":
        raise DemoFailed(f"the bot {bot['name']} was rejected:\n{report.text(version['report'])}")


def _show(client: Client, screen: Screen, tournament_id: str, bots: list[dict[str, Any]]) -> None:
    screen.line("\nStandings", style="bold")
    results.standings(client.standings(tournament_id))
    screen.line("\nRatings so far", style="bold")
    results.rankings(client.wait_rated({bot["id"] for bot in bots}, seconds=RATE_SECONDS))
    record = client.record(next(client.matches(tournament_id))["id"])
    if wrong := verify(record):
        raise DemoFailed(f"the record of the first match is wrong: {wrong}")
    screen.line("\nThe first match was dealt and played again from its record: it is as it was.")


def _leave_running(supervisor: Supervisor, client: Client, screen: Screen) -> None:
    rows = [
        ("Web page", supervisor.address),
        ("API guide", f"{supervisor.address}/docs"),
        ("Token", client.token or ""),
        ("Command", f"rage login {supervisor.address} --token {client.token}"),
        ("Logs", str(supervisor.logs)),
        ("To stop", f"Ctrl-C here, or: kill {os.getpid()}"),
    ]
    screen.summary("It is still running.", rows)
    if supervisor.wait():
        raise DemoFailed("the service broke down")


@contextmanager
def _interruptible(supervisor: Supervisor) -> Iterator[None]:
    """The first signal interrupts; those that follow hurry the stop it leads to."""
    asked = False

    def stop(*_: object) -> None:
        nonlocal asked
        if asked:
            supervisor.ask_to_stop()
            return
        asked = True
        raise KeyboardInterrupt

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
