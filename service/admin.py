"""`rage-admin`: what an operator does by hand. A command is one verb of the service, or a look at it."""

import os
import sys
import time
from contextlib import closing
from functools import cache
from pathlib import Path

import click
from sqlalchemy.engine import make_url

from service import (
    accounts,
    archive,
    checks,
    doctor,
    health,
    log,
    presence,
    programs,
    retention,
    schema,
    trials,
)
from service import house as house_bots
from service import rerate as rerating
from service.accounts import Role
from service.admin_opening import bar, environment, open_arena, read_settings, refusals
from service.admin_records import records
from service.help import help_command
from service.jobs import InlineQueue
from service.lock import running
from service.settings import Settings
from service.supervisor import STILL_TRYING, lock_path
from service.work import HASTY, Arena

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
    rows = read_settings().describe()
    wide = max(len(name) for name, *_ in rows)
    for name, value, default, meaning in rows:
        click.echo(f"{name.ljust(wide)}  {click.style(value or '(unset)', bold=True)}")
        click.echo(f"{' ' * wide}  {meaning}" + (f"; default {default}" if default else ""))


@main.command()
@click.option(
    "--wait",
    type=click.IntRange(0),
    metavar="SECONDS",
    help="Leave it to another; wait so long for that.",
)
def migrate(wait: int | None) -> None:
    """Bring the database to the newest schema. Does nothing when it is there already."""
    if wait is not None:
        _wait_for_schema(read_settings(), time.monotonic() + wait)
        return
    settings = read_settings()
    with refusals():
        if make_url(settings.database_url).get_backend_name() == "sqlite":
            settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        schema.migrate(settings)
    click.echo("The database has the newest schema.")


@main.command(name="run", short_help="Become one of the programs of `rage up`.")
@click.argument("program", type=click.Choice(programs.NAMES))
def run_program(program: str) -> None:
    """Become one of the programs of `rage up`, with the same options: for many machines, or a container.

    players: plays matches, RAGE_WORKERS at once; on every machine that is to play. desk, beat: once each.
    api: listens on RAGE_HOST and RAGE_PORT. All need the same RAGE_DATABASE_URL and RAGE_REDIS_URL.
    """
    settings = read_settings()
    called = programs.commands(settings)[program]
    os.execve(called[0], called, checks.environment(settings, environment()))  # noqa: S606 - no shell is wanted


@main.command()
def house() -> None:
    """Install the house bots in their present form, ready to play."""
    with open_arena(new=True) as arena:
        house_bots.ensure(arena)
    click.echo("The house bots are ready.")


@main.command(name="doctor", short_help="Look at everything an installation needs.")
def doctor_command() -> None:
    """Look at everything an installation needs, and say what to do about what is not well.

    Ends with status 1 if there is trouble.
    """
    findings = doctor.examine(environment(), cache(lambda: click.echo(f"{STILL_TRYING} …", err=True)))
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
    with open_arena() as arena:
        for each in accounts.accounts(arena):
            click.echo(f"{each.id}  {each.role:<7}  {each.created_at:%Y-%m-%d}  {each.name}")


@accounts_group.command(short_help="Make an account and print its token.")
@click.argument("name")
@click.option("--role", type=click.Choice([role.value for role in Role]), default="author", show_default=True)
def create(name: str, role: str) -> None:
    """Make an account called NAME and print its token, which cannot be shown again."""
    with open_arena(new=True) as arena, arena.work() as work:
        _, token = accounts.create(work, name=name, role=Role(role))
    click.echo(token)


@accounts_group.command()
@click.argument("name")
def renew(name: str) -> None:
    """Print a further token for the account NAME; the others stay valid."""
    with open_arena() as arena:
        token = accounts.renew(arena, name=name)
    click.echo(token)


@accounts_group.command()
@click.argument("name")
def revoke(name: str) -> None:
    """Make every token of the account NAME invalid at once."""
    with open_arena() as arena:
        count = accounts.revoke(arena, name=name)
    click.echo(f"Tokens of {name} made invalid: {count}")


@main.command(short_help="Write the whole database to a file, consistently.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--keep", type=click.IntRange(1), metavar="N", help="Then delete all but the N newest *.rage beside it."
)
@click.option("--replace", is_flag=True, help="Write over FILE if it is there.")
def backup(file: Path, keep: int | None, replace: bool) -> None:
    """Write the whole database to FILE: consistent, while everything goes on.

    The file holds all code and secrets; keep it like the database. It can be restored into either kind of
    database, so it is the way from SQLite to PostgreSQL too.
    """
    if file.exists() and not replace:
        raise click.ClickException(f"{file} is there already; take another name, or --replace it.")
    if not file.parent.is_dir():
        raise click.ClickException(f"There is no directory {file.parent}; make it, or name another file.")
    with open_arena() as arena, bar("Backing up") as at:
        made, where = archive.backup(arena, file, at), arena.settings.records
        moved = len(retention.shelved(arena))
    click.echo(f"{file}: {made.rows:,} rows, {file.stat().st_size:,} bytes")
    if moved:
        click.echo(f"Records of {moved:,} tournaments are in files of their own; back up {where} too.")
    for old in archive.prune(file, keep) if keep else []:
        click.echo(f"{old} deleted")


@main.command(short_help="Fill the database from a backup.")
@click.argument("file", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--replace", is_flag=True, help="Throw away what is in the database now.")
def restore(file: Path, replace: bool) -> None:
    """Fill the database from FILE, which `rage-admin backup` wrote. Stop everything else first.

    The file is read and proved whole before anything is touched; a failure leaves all as it was.
    """
    with open_arena(new=True) as arena:
        _must_be_at_rest(arena)
        with bar("Restoring") as at:
            found = archive.restore(arena, file, replace=replace, on_rows=at)
        missing = [each.file for each in retention.shelved(arena) if not each.here]
    click.echo(f"{found.rows:,} rows of {found.made_at[:19]} restored.")
    if missing:
        click.echo(f"Put files of records where RAGE_RECORDS_DIR says: {', '.join(missing[:5])}"
                   f"{f' and {len(missing) - 5:,} more' if len(missing) > 5 else ''}")  # fmt: skip


@main.command(short_help="Compute all ratings again, and say what differs.")
@click.option("--quick", is_flag=True, help="Take stored results at their word; play no record again.")
@click.option(
    "--repair", is_flag=True, help="Count again what differs, and rate anew. Stop everything first."
)
def rerate(quick: bool, repair: bool) -> None:
    """Compute all ratings again from the records of the matches, and say what differs from what is stored.

    Changes nothing without --repair. Ends with status 1 if something differs and was not repaired.
    """
    with open_arena() as arena:
        if repair:
            _must_be_at_rest(arena)
        with bar("Rating") as at:
            found = rerating.rerate(arena, replay=not quick, at=at)
        for sentence in (*found.wrong, *found.away):
            click.echo(sentence)
        click.echo(
            f"{found.matches:,} matches of {found.tournaments:,} tournaments, {found.snapshots:,} newest"
            f" snapshots: {'all as stored' if not found.wrong else f'{len(found.wrong):,} differ'}"
        )
        if repair and found.wrong:
            click.echo(
                f"Rated anew: {rerating.repair(arena, found)} pools. What rests on a wrong record stays."
            )
    sys.exit(bool(found.wrong) and not repair)


@main.command(short_help="Have a version of a bot checked again.")
@click.argument("version")
def recheck(version: str) -> None:
    """Have VERSION (BOT:NUMBER) checked again, which `rage-admin doctor` names as without a verdict."""
    with open_arena() as arena:
        if not trials.again(arena, version):
            raise click.ClickException(f"{version} is no version that was set aside without a verdict.")
    click.echo(f"{version} will be checked within seconds.")


def _wait_for_schema(settings: Settings, until: float) -> None:
    with closing(Arena.open(settings, InlineQueue(), patience=HASTY)) as arena:
        while trouble := health.refusing(arena):
            if time.monotonic() > until:
                raise click.ClickException(trouble)
            time.sleep(1)
    click.echo("The database has the schema that is needed.")


def _must_be_at_rest(arena: Arena) -> None:
    """Whoever works on the database meanwhile would write into what is being replaced."""
    with arena.read() as db:
        there = presence.workers(db, arena.clock())
    if facts := running(lock_path(arena.settings)):
        raise click.ClickException(f"`rage up` runs here, process {facts.get('pid', '?')}; stop it first.")
    if there:
        names = ", ".join(each.name for each in there)
        raise click.ClickException(f"Workers are there ({names}); stop everything, and wait half a minute.")


main.add_command(records)
main.add_command(help_command)
