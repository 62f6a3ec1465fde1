"""`help [COMMAND …]`: what `--help` says, for who types it as a word."""

import click


@click.command(name="help", short_help="Show this, or what a command does.")
@click.argument("words", nargs=-1, metavar="[COMMAND ...]")
@click.pass_context
def help_command(context: click.Context, words: tuple[str, ...]) -> None:
    """Show what COMMAND does and which options it has; without one, all commands."""
    shown = context.find_root()
    for word in words:
        group = shown.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{shown.command_path} has no commands of its own", shown)
        name, command, _ = group.resolve_command(shown, [word])
        assert command is not None
        shown = click.Context(command, info_name=name, parent=shown)
    click.echo(shown.get_help())
