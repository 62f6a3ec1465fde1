"""What an uploaded bot may be: one Python file, or a zip archive of plain files. Writes nothing."""

import io
import stat
import tomllib
import unicodedata
import zipfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from service.errors import Invalid
from service.interpreters import NAME, OURS, how_to_send

MIB = 1024 * 1024
PACKED = 5 * MIB
UNPACKED = 50 * MIB
FILES = 2_000
NAME_BYTES = 255
PATH_BYTES = 512
WORDS = 32
TOML_BYTES = 4 << 10  # a longer one would take long to read
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
ENCRYPTED = 0x1 | 0x40 | 0x2000
END, END_BYTES = b"PK\5\6", 22  # of an archive
END_FIELDS = ((4, 8), (10, 12), (20, 22))  # disks, entries, length of the comment
ZIP64 = 0xFFFF  # says that the number stands elsewhere
SUCH = "; it goes down from the archive's top, as lib/cards.py does"
RUN = "bot.toml"
SOURCE = "bot.py"
PYTHON_BOT = b"""run = ["python", "-S", "-c", "from engine.bot import main; main()", "/bot/bot.py"]\n"""
NEEDED = (
    'an archive needs at its top a bot.toml that says what to run, such as run = ["python", "main.py"], '
    "or a bot.py with the functions bid and play"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of an archive, its path relative and plain."""

    path: str
    content: bytes


def inspect(filename: str, content: bytes, interpreters: Collection[str] | None = ()) -> str:
    """The kind of bot, `py` or `zip`; raises `Invalid` that names the entry which broke a rule.

    `interpreters`: names that `run` may begin with beside Python; None: any, for who cannot know them.
    """
    suffix = PurePosixPath(filename.replace("\\", "/")).suffix.lower()
    if suffix not in (".py", ".zip"):
        raise _refusal(f"a bot is a Python file (.py) or an archive (.zip){how_to_send(_shown(filename))}")
    if not content:
        raise _refusal("the file is empty")
    if len(content) > PACKED:
        raise _refusal(f"{len(content):,} bytes; at most {PACKED:,} (5 MiB) are allowed")
    if suffix == ".py":
        _check_source(content)
        return "py"
    _check_archive(content, interpreters)
    return "zip"


def entries(content: bytes) -> list[Entry]:
    """All files of an archive that keeps every rule; raises `Invalid`.

    With a bot.py and no bot.toml it is a Python bot with its helpers: it gets a bot.toml that says so.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_frame(content, archive.infolist())
            listed = _listed(archive)
            found = [Entry(entry.filename, _read(archive, entry)) for entry in listed if not entry.is_dir()]
    except Invalid:
        raise
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError, OSError, zlib.error) as error:
        raise _refusal(f"not a readable zip archive: {error}; pack it again") from error
    paths = {entry.path for entry in found}
    if RUN not in paths and SOURCE in paths:
        found.append(Entry(RUN, PYTHON_BOT))
    return found


def run_command(text: bytes, interpreters: Collection[str] | None = ()) -> tuple[str, ...]:
    """The `run` of a bot.toml; raises `Invalid`. `interpreters` as in `inspect`."""
    if len(text) > TOML_BYTES:
        raise _refusal(f"bot.toml: at most {TOML_BYTES >> 10} KiB")
    try:
        run = tomllib.loads(text.decode()).get("run")
    except RecursionError:
        raise _refusal("bot.toml: nested too deeply; it needs no more than run") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _refusal(f"bot.toml: {error}") from error
    if not isinstance(run, list) or not run or not all(isinstance(word, str) and word for word in run):
        raise _refusal('bot.toml: needs run = ["python", "main.py"] or run = ["./mybot"]')
    if len(run) > WORDS or any("\0" in word or len(word.encode()) > PATH_BYTES for word in run):
        raise _refusal(f"bot.toml: run has more than {WORDS} words, or one that is too long")
    if not run[0].startswith("./") and not _may_run(run[0], interpreters):
        names = ", ".join(f'"{name}"' for name in ["python", *sorted(interpreters or ())])
        raise _refusal(
            f'bot.toml: run starts with "{_shown(run[0])}"; '
            f'it may be {names} or a file of the archive, "./mybot"{_how_to_list(run[0])}'
        )
    return tuple(run)


def _how_to_list(program: str) -> str:
    """What makes an interpreter one that bots may run on; nothing for what is none's name."""
    if NAME.fullmatch(program) is None or program in OURS:
        return ""
    listed = f"{program}=/usr/bin/{program}"
    return (
        f"; to allow it: --interpreters {listed} for rage check and rage play, "
        f"RAGE_INTERPRETERS={listed} on a server"
    )


def _may_run(program: str, interpreters: Collection[str] | None) -> bool:
    if interpreters is None:
        return NAME.fullmatch(program) is not None
    return program in OURS or program in interpreters


def _check_source(content: bytes, where: str = "") -> None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refusal(f"{where}line {line} is not UTF-8 text (byte {content[error.start]:#04x})") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise _refusal(f"{where}line {line} holds a NUL byte: not a text file")
    if not text.strip():
        raise _refusal(f"{where}the file is empty")


def _check_archive(content: bytes, interpreters: Collection[str] | None) -> None:
    files = {entry.path: entry.content for entry in entries(content)}
    if RUN not in files:
        inner = next((path for path in files if path.endswith((f"/{RUN}", f"/{SOURCE}"))), None)
        hint = f"; {inner} lies in a folder, pack the folder's contents instead" if inner else ""
        raise _refusal(f"{NEEDED}{hint}")
    if files[RUN] == PYTHON_BOT:
        _check_source(files[SOURCE], f"{SOURCE}: ")
    run = run_command(files[RUN], interpreters)
    needed = (run[0] if run[0].startswith("./") else _script(run)).removeprefix("./")
    if needed and needed not in files:
        raise _refusal(f"bot.toml: run names {_shown(needed)}, which is not in the archive")


def _script(run: tuple[str, ...]) -> str:
    """The file an interpreter is given, if its first word looks like one."""
    word = run[1] if len(run) > 1 else ""
    return word if word.endswith(".py") or (run[0] not in OURS and "." in word and word[0] != "-") else ""


def _check_frame(content: bytes, listed: list[zipfile.ZipInfo]) -> None:
    """One archive in one piece from the file's first byte to its last: no reader finds another in it."""
    end = content.rindex(END)
    disks, entries, comment = (int.from_bytes(content[end + a : end + b], "little") for a, b in END_FIELDS)
    if disks:
        raise _refusal("a part of an archive that lies in several files; pack it into one")
    if entries not in (len(listed), ZIP64):
        raise _refusal(f"its end tells of {entries:,} entries, its list has {len(listed):,}; pack it again")
    if before := min((entry.header_offset for entry in listed), default=0):
        raise _refusal(f"{before:,} bytes stand before the archive's first entry; send the archive alone")
    if after := len(content) - (end + END_BYTES + comment):
        raise _refusal(f"{after:,} bytes stand after the archive's end; send the archive alone")


def _listed(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    listed = archive.infolist()
    if len(listed) > FILES:
        raise _refusal(f"{len(listed):,} entries; at most {FILES:,} are allowed")
    for entry in listed:
        if reason := _reason(entry):
            raise _refusal(f"{_shown(entry.orig_filename)}: {reason}")
    total = sum(entry.file_size for entry in listed)
    if total > UNPACKED:
        largest = max(listed, key=lambda entry: entry.file_size)
        raise _refusal(
            f"{_shown(largest.filename)}: {total:,} bytes unpacked in all; at most {UNPACKED:,} allowed"
        )
    _check_names(listed)
    _check_overlaps(listed)
    return listed


def _reason(entry: zipfile.ZipInfo) -> str | None:
    """What is wrong with one entry by itself."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "a link or device; only plain files and folders are allowed"
    if entry.is_dir() != (kind == stat.S_IFDIR) and kind:
        return "says it is a file and a folder at once; it must be one"
    if entry.flag_bits & ENCRYPTED:
        return "encrypted; pack it without a password"
    if entry.compress_type not in METHODS:
        return "packed by a method other than stored or deflated; pack it with one of these"
    return _path_reason(entry.orig_filename)


def _path_reason(name: str) -> str | None:
    parts = name.removesuffix("/").split("/")
    if not name or name.startswith("/") or "\\" in name or ":" in name:
        return f"not a plain relative path with forward slashes{SUCH}"
    if any(part in ("", ".", "..") for part in parts):
        return f"not a plain relative path{SUCH}"
    if any(not sign.isprintable() for sign in name):
        return "control characters in the name; use those that can be seen"
    if len(name.encode(errors="replace")) > PATH_BYTES or any(
        len(part.encode(errors="replace")) > NAME_BYTES for part in parts
    ):
        return f"name too long; at most {NAME_BYTES} bytes a part and {PATH_BYTES} in all"
    return None


def _check_names(listed: list[zipfile.ZipInfo]) -> None:
    """No name twice, also not on systems that fold case; no file that is a folder as well."""
    seen: dict[str, str] = {}
    files = set()
    for entry in listed:
        name = entry.filename.removesuffix("/")
        if (other := seen.setdefault(_folded(name), name)) != name or (
            entry.is_dir() is False and name in files
        ):
            same = other == name
            why = "is there twice; give each once" if same else f"differs from {_shown(other)} only by case"
            raise _refusal(f"{_shown(name)}: {why}{'' if same else ' or accents; rename one'}")
        if not entry.is_dir():
            files.add(name)
    folded_files = {_folded(name) for name in files}
    for folder in _folders(listed):
        if _folded(folder) in folded_files:
            raise _refusal(f"{_shown(folder)}: a file and a folder at once; rename one")


def _folders(listed: list[zipfile.ZipInfo]) -> Iterator[str]:
    for entry in listed:
        if entry.is_dir():
            yield entry.filename.removesuffix("/")
        for parent in PurePosixPath(entry.filename).parents:
            if parent.name:
                yield str(parent)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _check_overlaps(listed: list[zipfile.ZipInfo]) -> None:
    """Entries that share bytes are how a small archive unpacks to a huge one."""
    end = -1
    for entry in sorted(listed, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise _refusal(f"{_shown(entry.filename)}: shares its bytes with another entry; pack it again")
        end = entry.header_offset + 30 + entry.compress_size


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    try:
        content = archive.read(entry)
    except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError, zlib.error) as error:
        raise _refusal(f"{_shown(entry.filename)}: broken: {error}; pack it again") from error
    if len(content) != entry.file_size:
        raise _refusal(
            f"{_shown(entry.filename)}: {len(content)} bytes instead of {entry.file_size}; pack it again"
        )
    return content


def _shown(name: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in name)[:120]


def _refusal(reason: str) -> Invalid:
    return Invalid({"code": [reason]})
