"""What every `rage-admin` command begins with: settings, the open database, refusals said in a sentence."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from service import schema
from service.errors import ServiceError
from service.jobs import InlineQueue
from service.settings import Settings, SettingsError
from service.work import Arena


@contextmanager
def bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, for what takes long; nothing anywhere else."""
    with click.progressbar(length=1, label=title, file=sys.stderr, hidden=not sys.stderr.isatty()) as shown:

        def at(done: int, total: int) -> None:
            shown.length = total
            shown.update(done - shown.pos)

        yield at


def environment() -> dict[str, str]:
    """The variables this command works with."""
    return dict(click.get_current_context().find_root().obj)


def read_settings() -> Settings:
    """Of this command; a variable that makes no sense ends it."""
    try:
        return Settings.from_environment(environment())
    except SettingsError as error:
        raise click.ClickException(str(error)) from None


@contextmanager
def open_arena(*, new: bool = False) -> Iterator[Arena]:
    """The open database, at the newest schema, made if `new`; nothing that is done here sends work."""
    settings = read_settings()
    if not new:
        _must_be_there(settings)
    with refusals():
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        schema.migrate(settings)
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
def refusals() -> Iterator[None]:
    """Whatever is refused ends the command with a sentence."""
    try:
        yield
    except (ServiceError, OSError) as error:
        raise click.ClickException(str(error)) from None
    except SQLAlchemyError as error:
        raise click.ClickException(f"The database refuses: {str(error).splitlines()[0]}") from None
