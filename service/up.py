"""`rage up`: the whole of Rage Arena on this machine, from one command until Ctrl-C."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import click

from service.crew import Interrupted
from service.logfiles import Follower
from service.screen import Screen
from service.settings import Settings, SettingsError, misspelt
from service.supervisor import WHY_NOT, Supervisor

__all__ = ["Supervisor", "up"]


@click.command()
@click.option("--host", help="Address to listen on  [RAGE_HOST; default 127.0.0.1: this machine only]")
@click.option("--port", help="Port to listen on; 0 takes a free one  [RAGE_PORT; default 8000]")
@click.option("--workers", help="Matches played at once  [RAGE_WORKERS; default: one for each core]")
@click.option(
    "--data-dir", help="Database, broker data and logs  [RAGE_DATA_DIR; default ~/.local/share/rage-arena]"
)
@click.option("--verbose", is_flag=True, help="Show every program's log lines here as well.")
def up(verbose: bool, **chosen: str | None) -> None:
    """Run Rage Arena on this machine until Ctrl-C.

    Starts everything: the broker, the database, the web page and API, and the workers that play the matches.
    Nothing else need be installed or running. The first start prints an administrator's token; keep it.

    \b
      rage up                    then open http://127.0.0.1:8000
      rage up --port 0           on any free port
      rage up --data-dir ./demo  apart from everything else

    Stopping and starting again loses nothing: tournaments go on where they were. Other settings are RAGE_
    variables; `rage-admin settings` lists them, `rage-admin doctor` finds out what is wrong.
    """
    screen = Screen(sys.stdout)
    try:
        settings = Settings.from_environment(_with_options(os.environ, chosen))
        for sentence in misspelt(os.environ):
            screen.line(f"Warning: {sentence}", style="yellow")
        _run(Supervisor(settings, tell=_teller(screen), step=screen.step), screen, verbose=verbose)
    except (SettingsError, *WHY_NOT) as error:
        raise click.ClickException(str(error)) from None
    finally:
        screen.settle()


def _with_options(environ: Mapping[str, str], chosen: Mapping[str, str | None]) -> dict[str, str]:
    given = {f"RAGE_{name.upper()}": value for name, value in chosen.items() if value is not None}
    return {**environ, **given}


def _teller(screen: Screen) -> Callable[[str], None]:
    def tell(text: str) -> None:
        screen.line(f"{time.strftime('%H:%M:%S')} {text}", style="yellow")

    return tell


def _run(supervisor: Supervisor, screen: Screen, *, verbose: bool) -> None:
    with _stopped_by_signals(supervisor), _followed(supervisor, screen, verbose=verbose):
        try:
            supervisor.start()
            screen.settle()
            screen.summary("Rage Arena is running.", _summary(supervisor))
            supervisor.wait()
        except Interrupted:
            _show_token_anyway(supervisor, screen)
        except WHY_NOT:
            _show_token_anyway(supervisor, screen)
            raise
        finally:
            if supervisor.pids:
                screen.step("Stopping")
            supervisor.stop()
            screen.settle()
    screen.line("Rage Arena has stopped; everything is kept for the next start.")


def _show_token_anyway(supervisor: Supervisor, screen: Screen) -> None:
    """The first start may fail after it made the administrator, whose token is not to be had again."""
    screen.settle()
    if supervisor.token is not None:
        screen.line(f"Admin token: {supervisor.token}   (shown only this once: keep it)")


def _summary(supervisor: Supervisor) -> list[tuple[str, str]]:
    token = (
        [("Admin token", f"{supervisor.token}   (shown only this once: keep it)")] if supervisor.token else []
    )
    return [
        ("Web page", supervisor.address),
        ("API guide", f"{supervisor.address}/docs"),
        *token,
        ("Data", str(supervisor.settings.data_dir)),
        ("Logs", str(supervisor.logs)),
        ("To stop", f"Ctrl-C here, or: kill {os.getpid()}"),
    ]


@contextmanager
def _stopped_by_signals(supervisor: Supervisor) -> Iterator[None]:
    """Ctrl-C, `kill` and a closed terminal stop in order; a second one stops at once."""
    wanted = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    mine = [number for number in wanted if signal.getsignal(number) != signal.SIG_IGN]  # as under nohup
    before = {number: signal.signal(number, lambda *_: supervisor.ask_to_stop()) for number in mine}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def _followed(supervisor: Supervisor, screen: Screen, *, verbose: bool) -> Iterator[None]:
    if not verbose:
        yield
        return
    names = ("valkey", "players", "api", "desk", "beat")
    paths = [supervisor.logs / f"{name}.log" for name in names]
    follower = Follower(paths, lambda name, line: screen.line(f"{name:>7} | {line}"))
    follower.start()
    try:
        yield
    finally:
        follower.stop()
