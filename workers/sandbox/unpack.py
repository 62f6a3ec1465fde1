"""A bot's code on its way into the sandbox: a Python file through a descriptor, a zip as a folder of its own.

The upload was inspected when it came; a worker trusts nobody and checks again while it writes.
"""

import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from service import upload
from service.errors import Invalid
from workers.sandbox.code import BotCode
from workers.sandbox.errors import SandboxError
from workers.sandbox.runtime import Runtime

BOOT = "from engine.bot import main; main()"


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Either `source` (one file) or `folder` with its `run` command."""

    name: str
    source: bytes | None = None
    folder: Path | None = None
    run: tuple[str, ...] = ()

    @property
    def forks(self) -> bool:
        """Whether the bot may have processes, where the machine can count them."""
        return self.folder is not None

    def command(self, runtime: Runtime) -> list[str]:
        """What is run in the sandbox, in the folder /bot."""
        if self.folder is None:
            return [runtime.python, "-S", "-c", BOOT, self.name]
        return [runtime.program(self.run[0]), *self.run[1:]]


def unpack(code: BotCode, home: Path, uid: int | None, runtime: Runtime) -> Unpacked:
    """The code made ready below `home`, readable by `uid` alone; raises `SandboxError`."""
    if code.kind == "py":
        return Unpacked(code.file_name(), source=code.content)
    folder = place(home)
    try:
        folder.mkdir(mode=0o700)
        _write(code, folder, uid)
        run = upload.run_command((folder / "bot.toml").read_bytes(), runtime.interpreters)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, (OSError, Invalid)):
            raise SandboxError(f"a stored bot's files could not be laid out: {error}") from error
        raise
    return Unpacked(code.file_name(), folder=folder, run=run)


def place(home: Path) -> Path:
    """Where a bot's folder may be; it may see its name, and a count would tell it the rotation of a deal."""
    return home / f"bot-{secrets.token_hex(8)}"


def _write(code: BotCode, folder: Path, uid: int | None) -> None:
    for entry in upload.entries(code.content):
        path = folder / entry.path
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o755), "wb") as file:
            file.write(entry.content)
        os.chmod(path, 0o755)  # noqa: S103 - the folder above is closed
    if uid is not None:
        os.chown(folder, 0, uid)
        os.chmod(folder, 0o750)  # noqa: S103 - its group is the seat's alone
