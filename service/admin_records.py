"""`rage-admin records`: records of finished tournaments in files instead of the database."""

import json
import sys
from dataclasses import asdict

import click

from service import retention
from service.admin_opening import bar, open_arena


@click.group(short_help="Records of finished tournaments in files.")
def records() -> None:
    """Records of finished tournaments in files instead of the database; results and ratings stay.

    RAGE_RECORDS_DAYS moves them by themselves after so many days, into RAGE_RECORDS_DIR, which the API and
    the desk must both see. Keep these files: a backup of the database knows of them, but does not hold them.
    """


@records.command(name="move", short_help="Move records of tournaments into files.")
@click.argument("tournaments", nargs=-1)
@click.option("--days", type=click.IntRange(0), help="All that are over for longer, instead of some.")
def move_records(tournaments: tuple[str, ...], days: int | None) -> None:
    """Move the records of TOURNAMENTS, or of all that are over for so many --days, into files.

    A tournament is named by its id, or by a name that only one has.
    What was brought back is moved again only if it is named.
    """
    if bool(tournaments) == (days is not None):
        raise click.UsageError("Name tournaments, or say how many --days they are over.")
    with open_arena() as arena:
        named = [retention.named(arena, each) for each in tournaments]
        listed = named or retention.due(arena, days)
        early = 0 if days is None else retention.too_early(arena, days)
        for each in listed:
            with bar(f"Moving {each}") as at:
                path = retention.move(arena, each, at)
            click.echo(f"{path}: {path.stat().st_size:,} bytes")
    click.echo(f"Tournaments whose records were moved: {len(listed)}")
    if early:
        click.echo(f"Left out because the desk has not summed them up yet: {early:,}")


@records.command(name="list")
@click.option("--check", is_flag=True, help="Read every file to the end; status 1 if one is off.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_records(check: bool, as_json: bool) -> None:
    """Every tournament whose records are in a file."""
    with open_arena() as arena:
        moved = retention.shelved(arena)
        listed = [(each, retention.trouble(arena, each) if check else None) for each in moved]
    if as_json:
        told = [{**asdict(each), "trouble": wrong} for each, wrong in listed]
        click.echo(json.dumps(told, indent=1, default=str))
    elif not listed:
        click.echo("All records are in the database.")
    else:
        for each, wrong in listed:
            state = wrong or ("whole" if check else "here" if each.here else "not on this machine")
            state += "; partly brought back: `records back` goes on, `move` undoes it" * each.partly_back
            click.echo(f"{each.tournament_id}  {each.moved_at:%Y-%m-%d}  {each.matches:>9,}  {state}")
    sys.exit(any(wrong for _, wrong in listed))


@records.command(name="back", short_help="Put records into the database again, to stay.")
@click.argument("tournament")
def bring_back_records(tournament: str) -> None:
    """Put the records of TOURNAMENT (an id or name) into the database again, to stay. The file stays too.

    What was interrupted goes on when it is asked for again; until then `records list` and `doctor` say so.
    """
    with open_arena() as arena, bar("Bringing back") as at:
        count = retention.bring_back(arena, retention.named(arena, tournament), at)
    click.echo(f"Records brought back: {count:,}")
