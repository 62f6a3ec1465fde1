"""`rage-admin`: what an operator does by hand. A command is one verb of the service, or a look at it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from service import accounts, bots, doctor, log, tables
from service.accounts import Role
from service.errors import ServiceError
from service.jobs import InlineQueue
from service.settings import Settings, SettingsError
from service.work import Arena

STYLES = {doctor.State.WELL: "green", doctor.State.ILL: "red", doctor.State.ODD: "yellow"}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--data-dir", help="The data directory to work on  [RAGE_DATA_DIR]")
@click.pass_context
def main(context: click.Context, data_dir: str | None) -> None:
    """Look after an installation of Rage Arena: settings, database, accounts, health.

    All commands read the same RAGE_ variables as `rage up`, and may be used while it runs.
    """
    log.setup("critical")  # what goes wrong is said in a sentence, not logged
    context.obj = {**os.environ, **({} if data_dir is None else {"RAGE_DATA_DIR": data_dir})}


@main.command()
def settings() -> None:
    """Show every setting: its variable, value, default and meaning. Passwords are not shown."""
    rows = _settings().describe()
    wide = max(len(name) for name, *_ in rows)
    for name, value, default, meaning in rows:
        click.echo(f"{name.ljust(wide)}  {click.style(value or '(unset)', bold=True)}")
        click.echo(f"{' ' * wide}  {meaning}" + (f"; default {default}" if default else ""))


@main.command()
def migrate() -> None:
    """Bring the database to the newest schema. Does nothing when it is there already."""
    with _refusals():
        tables.migrate(_settings())
    click.echo("The database has the newest schema.")


@main.command()
def house() -> None:
    """Install the house bots in their present form, ready to play."""
    with _arena(new=True) as arena:
        bots.ensure_house(arena)
    click.echo("The house bots are ready.")


@main.command(name="doctor")
def doctor_command() -> None:
    """Look at everything an installation needs, and say what to do about what is not well.

    Ends with status 1 if there is trouble.
    """
    findings = doctor.examine(_environment())
    wide = max(len(finding.what) for finding in findings)
    for finding in findings:
        state = click.style(finding.state.ljust(7), fg=STYLES.get(finding.state))
        click.echo(f"{finding.what.ljust(wide)}  {state}  {finding.text}")
    sys.exit(any(finding.state is doctor.State.ILL for finding in findings))


@main.group(name="accounts")
def accounts_group() -> None:
    """List and make accounts; make tokens and take them back."""


@accounts_group.command(name="list")
def list_accounts() -> None:
    """Every account, oldest first."""
    with _arena() as arena:
        for each in accounts.accounts(arena):
            click.echo(f"{each.id}  {each.role:<7}  {each.created_at:%Y-%m-%d}  {each.name}")


@accounts_group.command()
@click.argument("name")
@click.option("--role", type=click.Choice([role.value for role in Role]), default="author", show_default=True)
def create(name: str, role: str) -> None:
    """Make an account called NAME and print its token, which cannot be shown again."""
    with _arena(new=True) as arena, arena.work() as work:
        _, token = accounts.create(work, name=name, role=Role(role))
    click.echo(token)


@accounts_group.command()
@click.argument("name")
def renew(name: str) -> None:
    """Print a further token for the account NAME; the others stay valid."""
    with _arena() as arena:
        token = accounts.renew(arena, name=name)
    click.echo(token)


@accounts_group.command()
@click.argument("name")
def revoke(name: str) -> None:
    """Make every token of the account NAME invalid at once."""
    with _arena() as arena:
        count = accounts.revoke(arena, name=name)
    click.echo(f"Tokens of {name} made invalid: {count}")


def _environment() -> dict[str, str]:
    return dict(click.get_current_context().find_root().obj)


def _settings() -> Settings:
    try:
        return Settings.from_environment(_environment())
    except SettingsError as error:
        raise click.ClickException(str(error)) from None


@contextmanager
def _arena(*, new: bool = False) -> Iterator[Arena]:
    """The open database, at the newest schema, made if `new`; nothing that is done here sends work."""
    settings = _settings()
    if not new:
        _must_be_there(settings)
    with _refusals():
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        tables.migrate(settings)
        arena = Arena.open(settings, InlineQueue())
        try:
            yield arena
        finally:
            arena.close()


def _must_be_there(settings: Settings) -> None:
    """A mistyped directory must not become a new installation."""
    url = make_url(settings.database_url)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise click.ClickException(
            f"There is no database {url.database}. Is the data directory right (--data-dir, RAGE_DATA_DIR)? "
            "`rage up` and `rage-admin migrate` make one."
        )


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except (ServiceError, OSError) as error:
        raise click.ClickException(str(error)) from None
    except SQLAlchemyError as error:
        raise click.ClickException(f"The database refuses: {str(error).splitlines()[0]}") from None
