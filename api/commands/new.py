"""`rage new`: a bot that runs, to be made better."""

import re
from pathlib import Path

import click

SKELETONS = Path(__file__).parents[1] / "skeletons"
KINDS = {
    "functions": "one Python file with two functions",
    "class": "one Python file with a class that remembers",
    "search": "one Python file that tries its cards in worlds sampled by the engine",
    "folder": "a folder of Python files",
    "bash": "a folder with a program in another language, here bash; the server must list it",
}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _named(context: click.Context, parameter: click.Parameter, text: str) -> Path:
    path = Path(text)
    if not NAME.fullmatch(path.name):
        raise click.BadParameter("a-z, A-Z, 0-9, -, _ and . make a file's name, as in mybot or bots/mybot.py")
    return path


@click.command(epilog="\b\n" + "\n".join(f"{kind:10} {about}" for kind, about in KINDS.items()))
@click.argument("name", callback=_named, type=str)
@click.option("--kind", type=click.Choice(list(KINDS)), default="functions", show_default=True, help="Which.")
def new(name: Path, kind: str) -> None:
    """Write a bot to begin with: NAME.py, or a folder NAME. It passes the check as it is.

    Nothing is overwritten.
    """
    source = SKELETONS / kind
    if source.is_dir():
        target = name
        files = {target / each.name: each for each in sorted(source.iterdir()) if each.is_file()}
    else:
        target = name.with_suffix(".py")
        files = {target: source.with_suffix(".py")}
    if target.exists():
        raise click.BadParameter(f"{target} exists; choose another name", param_hint="NAME")
    for made, skeleton in files.items():
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(skeleton.read_text(encoding="utf-8").replace("{file}", str(target)), encoding="utf-8")
        click.echo(f"wrote {made}")
    lists = " --interpreters bash=/bin/bash" if kind == "bash" else ""
    click.echo(f"\nTry it:   rage check {target}{lists}\nSend it:  rage submit {target} --wait")
    if kind == "bash":
        click.echo("The server must list bash among its interpreters: GET /api/v1/limits shows them.")
