"""The `rage` command: its verbs, found by name and loaded when they are used, so that it starts fast."""

from importlib import import_module
from typing import Any

import click
from click.exceptions import NoSuchCommand

import engine
from api.refusals import ClientError, ProblemError, TookTooLong, Unreachable
from service.report import clean

INTERRUPTED = 130
LATER = (429, 502, 503, 504)
GROUP = "rage.commands"
OWN = {
    "bot": "api.commands.bots:bot",
    "bots": "api.commands.bots:bots",
    "compare": "api.commands.compare:compare",
    "faults": "api.commands.bots:faults",
    "help": "service.help:help_command",
    "login": "api.commands.login:login",
    "match": "api.commands.games:match",
    "new": "api.commands.new:new",
    "rankings": "api.commands.rankings:rankings",
    "referee": "api.commands.games:referee",
    "replay": "api.commands.replay:replay",
    "reproduce": "api.commands.reproduce:reproduce",
    "retire": "api.commands.bots:retire",
    "submit": "api.commands.bots:submit",
    "token": "api.commands.tokens:token",
    "tournament": "api.commands.tournaments:tournament",
    "verify": "api.commands.games:verify",
}


class Root(click.Group):
    """Commands of ours and of whoever names some under the entry point group `rage.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*OWN, *_others()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = OWN.get(cmd_name) or _others().get(cmd_name)
        return None if place is None else _command(cmd_name, place)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:  # click itself looks only among what is loaded
            raise self._unknown(ctx, error.command_name) from None

    def _unknown(self, ctx: click.Context, word: str) -> NoSuchCommand:
        """What to say of a word that is no command: what it is close to, or which group has it."""
        groups = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        within = [name for name, each in groups if isinstance(each, click.Group) and word in each.commands]
        said = " or ".join(f"rage {name} {word}" for name in within)
        message = f"No such command {word!r}. Did you mean {said}?" if within else None
        return NoSuchCommand(word, message, () if within else self.list_commands(ctx), ctx)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # whoever read us has seen enough; click knows what to do
        except click.ClickException as error:
            said = clean(error.format_message())
            error.format_message = lambda: said  # type: ignore[method-assign]
            raise
        except (ClientError, OSError) as error:
            kind = TryAgain if _may_pass(error) else click.ClickException
            raise kind(clean(_words(error))) from error
        except KeyboardInterrupt:
            click.echo("\ninterrupted", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None


class TryAgain(click.ClickException):
    """What may go well later."""

    exit_code = 4


def _may_pass(error: Exception) -> bool:
    away = isinstance(error, Unreachable | TookTooLong)
    return away or (isinstance(error, ProblemError) and error.status in LATER)


def _words(error: Exception) -> str:
    """What to say, with what to do for who is not logged in."""
    from api import saved  # nothing for commands that need no server

    if isinstance(error, ProblemError) and error.status == 401:
        client = saved.client()
        if client.token is None:
            return f"you are not logged in at {client.url}\nLog in: rage login {client.url} --register NAME"
        return f"{client.url}: {error}\nLog in again: rage login {client.url}"
    elsewhere = isinstance(error, Unreachable) and click.get_current_context().obj["url"] is None
    if elsewhere and saved.load() is None:
        return f"{error}\n`rage up` starts a server here; for one elsewhere: rage login URL --register NAME"
    return str(error)


def _others() -> dict[str, str]:
    from importlib.metadata import entry_points  # takes a while, and most commands do without

    return {point.name: point.value for point in entry_points(group=GROUP)}


def _command(name: str, place: str) -> click.Command:
    """The command at `module:attribute`; one that cannot be loaded says so when it is used."""
    module, _, attribute = place.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except ImportError as error:
        return _missing(name, str(error))
    assert isinstance(found, click.Command)
    return found


def _missing(name: str, reason: str) -> click.Command:
    def refuse() -> None:
        raise click.ClickException(f"{name} cannot be used here: {reason}")

    return click.Command(name, callback=refuse, help=f"Cannot be used here: {reason}")


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        built = "compiled" if engine.COMPILED else "plain Python"
        click.echo(f"rage {version('rage-arena')}, engine {engine.VERSION} ({built})")
        ctx.exit()


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--url", envvar="RAGE_URL", help="The server  [RAGE_URL; default: where you logged in]")
@click.option("--token", envvar="RAGE_TOKEN", help="Your token  [RAGE_TOKEN; default: where you logged in]")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show it."
)
@click.pass_context
def main(ctx: click.Context, url: str | None, token: str | None) -> None:
    """Rage Arena: tournaments for programs that play the card game Rage.

    \b
    rage demo                        see a whole tournament, with nothing else running
    rage up                          run the arena on this machine
    rage new mybot                   write a bot to begin with
    rage check mybot.py              try your bot as an upload would be tried
    rage play mybot.py counter       play games at home
    rage login URL --register NAME   make an account on a server
    rage submit mybot.py --wait      upload your bot

    How bots are written: /docs/bots on any server, such as http://127.0.0.1:8000/docs/bots

    Exit status: 0 done; 1 refused, rejected, or the answer is no; 2 wrong usage; 3 no sandbox on this
    machine; 4 the server does not answer or is busy, try again later; 130 interrupted.
    """
    ctx.obj = {"url": url, "token": token}


if __name__ == "__main__":
    main()
