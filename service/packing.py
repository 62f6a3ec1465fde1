"""A bot on an author's disk as the upload it makes: a file as it is, a folder packed. Reads, never writes.

Playing at home, checking and uploading all start here, so that they agree.
"""

import io
import zipfile
from collections.abc import Collection
from pathlib import Path

from service import upload

FIRST_TIME = (1980, 1, 1, 0, 0, 0)


def read(path: Path, interpreters: Collection[str] | None = None) -> tuple[str, str, bytes]:
    """Name, kind and content of the bot at `path`; raises `OSError`, and `Invalid` as the server would.

    `interpreters` as in `upload.inspect`: without them the server is left to say which there are.
    """
    name, content = packed(path) if path.is_dir() else (path.name, path.read_bytes())
    return name, upload.inspect(name, content, interpreters), content


def packed(folder: Path) -> tuple[str, bytes]:
    """A folder as an archive, always the same one for the same files; hidden and compiled files stay out."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            inside = file.relative_to(folder)
            if file.is_file() and not any(map(_left_out, inside.parts)):
                entry = zipfile.ZipInfo(inside.as_posix(), FIRST_TIME)
                entry.external_attr = (file.stat().st_mode & 0o777 | 0o100000) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, file.read_bytes())
    return f"{folder.resolve().name}.zip", out.getvalue()


def _left_out(part: str) -> bool:
    return part.startswith(".") or part == "__pycache__"
