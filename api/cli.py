"""The `rage` command: its verbs, found by name and loaded when they are used, so that it starts fast."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

GROUP = "rage.commands"
OWN = {
    "bots": "api.commands.bots:bots",
    "faults": "api.commands.bots:faults",
    "login": "api.commands.login:login",
    "match": "api.commands.games:match",
    "rankings": "api.commands.rankings:rankings",
    "referee": "api.commands.games:referee",
    "retire": "api.commands.bots:retire",
    "submit": "api.commands.bots:submit",
    "tournament": "api.commands.tournaments:tournament",
    "verify": "api.commands.games:verify",
}


class Root(click.Group):
    """Commands of ours and of whoever names some under the entry point group `rage.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*OWN, *(point.name for point in entry_points(group=GROUP))})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in OWN:
            module, _, name = OWN[cmd_name].partition(":")
            return _command(lambda: getattr(import_module(module), name))
        for point in entry_points(group=GROUP, name=cmd_name):
            return _loaded(point)
        return None

    def invoke(self, ctx: click.Context) -> Any:
        from api.transport import ClientError

        try:
            return super().invoke(ctx)
        except (ClientError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise  # whoever read us has seen enough; click knows what to do
            raise click.ClickException(str(error)) from error


def _loaded(point: EntryPoint) -> click.Command:
    return _command(point.load)


def _command(load: Callable[[], object]) -> click.Command:
    found = load()
    assert isinstance(found, click.Command)
    return found


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--url", envvar="RAGE_URL", help="The server  [RAGE_URL; default: where you logged in]")
@click.option("--token", envvar="RAGE_TOKEN", help="Your token  [RAGE_TOKEN; default: where you logged in]")
@click.version_option(package_name="rage-arena", prog_name="rage")
@click.pass_context
def main(ctx: click.Context, url: str | None, token: str | None) -> None:
    """Rage Arena: tournaments for programs that play the card game Rage.

    \b
    rage demo                        see a whole tournament, with nothing else running
    rage up                          run the arena on this machine
    rage check mybot.py              try your bot as an upload would be tried
    rage play mybot.py counter       play games at home
    rage login URL --register NAME   make an account on a server
    rage submit mybot.py --wait      upload your bot

    Exit status: 0 done, 1 refused or rejected, 2 wrong usage.
    """
    ctx.obj = {"url": url, "token": token}


if __name__ == "__main__":
    main()
