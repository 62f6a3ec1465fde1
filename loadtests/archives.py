"""Hostile archives: each must be refused before anything of it is unpacked, with the entry's name.

`python -m loadtests.archives` uploads each over the API, and prints the answers.
"""

import io
import stat
import struct
import sys
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask.testing import FlaskClient

RUN = b'run = ["python", "main.py"]\n'
CENTRAL, LOCAL, END = b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Archive:
    """`reason` is what the refusal must say."""

    name: str
    content: Callable[[], bytes]
    reason: str


def pack(
    *files: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED, toml: bytes = RUN
) -> bytes:
    """An archive of a bot.toml, a main.py and more."""
    data = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(data, "w", method) as archive:
        warnings.simplefilter("ignore")  # a name given twice on purpose
        for name, content in (("bot.toml", toml), ("main.py", b"print()\n"), *files):
            archive.writestr(name, content)
    return data.getvalue()


def archived(files: Mapping[str, bytes]) -> bytes:
    """A good archive of these files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def entry(name: str, mode: int = 0) -> zipfile.ZipInfo:
    """An entry of that name and Unix mode."""
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    return made


def _with(name: str, mode: int = 0) -> Callable[[], bytes]:
    return lambda: pack((entry(name, mode), b"x"))


def _patched(packed: bytes, offset: int, value: bytes) -> bytes:
    """The last entry of the directory with other bytes there."""
    place = packed.rindex(CENTRAL) + offset
    return packed[:place] + value + packed[place + len(value) :]


def _ended(packed: bytes, offset: int, value: bytes) -> bytes:
    """The archive's end with other bytes there."""
    place = packed.rindex(END) + offset
    return packed[:place] + value + packed[place + len(value) :]


def _huge() -> bytes:
    """An entry that says, in 64 bits, that it unpacks to a tebibyte."""
    made = entry("huge.bin")
    made.extra = struct.pack("<HHQQ", 1, 16, 1 << 40, 1 << 40)
    packed = pack((made, b"x"), method=zipfile.ZIP_STORED)
    return _patched(packed, 20, b"\xff" * 8)


def _renamed(name: bytes) -> bytes:
    """An entry of that name, whatever Python's own writer makes of it."""
    packed = pack(("#" * len(name), b"x"))
    return packed.replace(b"#" * len(name), name)


def _overlapping() -> bytes:
    packed = pack(("first.bin", b"1" * 50), ("other.bin", b"2" * 50), method=zipfile.ZIP_STORED)
    first = packed.rindex(CENTRAL, 0, packed.rindex(CENTRAL))
    return _patched(packed, 42, packed[first + 42 : first + 46])


def _wrong_sum() -> bytes:
    packed = pack(("data.bin", b"unmistakable"), method=zipfile.ZIP_STORED)
    return packed.replace(b"unmistakable", b"Unmistakable", 1)


def _two_names() -> bytes:
    """The entry's own head names another file than the directory does."""
    packed = pack(("alibi.txt", b"x"))
    return packed.replace(b"alibi.txt", b"../up.txt", 1)


def _bomb_of_bombs() -> bytes:
    """Many entries of little each, unpacking to far too much together."""
    return pack(*((f"{number}.bin", bytes(MIB)) for number in range(60)))


HOSTILE = [
    *(
        Archive(name, _with(path, mode), reason)
        for name, path, mode, reason in (
            ("up and out", "../up.py", 0, "../up.py: not a plain relative path"),
            ("down, up and out", "a/../../up.py", 0, "a/../../up.py: not a plain"),
            ("absolute path", "/etc/passwd", 0, "/etc/passwd: not a plain"),
            ("empty part", "a//b", 0, "a//b: not a plain"),
            ("dot", "./a", 0, "./a: not a plain"),
            ("backslashes", "..\\..\\up.py", 0, "..\\..\\up.py: not a plain"),
            ("drive", "C:/x.py", 0, "C:/x.py: not a plain"),
            ("stream", "x.py:hidden", 0, "x.py:hidden: not a plain"),
            ("bell", "bell\a.py", 0, "bell?.py: control characters"),
            ("turned text", "gnp\u202e.py", 0, "gnp?.py: control characters"),
            ("long name", "n" * 300, 0, "name too long"),
            ("deep path", "/".join(["deep"] * 200), 0, "name too long"),
            ("link", "link", stat.S_IFLNK | 0o777, "link: a link or device"),
            ("pipe", "pipe", stat.S_IFIFO | 0o644, "pipe: a link or device"),
            ("disk", "disk", stat.S_IFBLK | 0o644, "disk: a link or device"),
            ("terminal", "tty", stat.S_IFCHR | 0o644, "tty: a link or device"),
            ("socket", "socket", stat.S_IFSOCK | 0o644, "socket: a link or device"),
            (
                "folder that is a file",
                "folder",
                stat.S_IFDIR | 0o755,
                "folder: says it is a file and a folder",
            ),
            ("same name twice", "main.py", 0, "main.py: is there twice"),
            ("same name but for case", "Main.py", 0, "Main.py: differs from main.py only by case"),
            ("file as a folder, by case", "MAIN.PY/x", 0, "a file and a folder at once"),
            ("file as a folder", "main.py/x", 0, "main.py: a file and a folder at once"),
        )
    ),
    Archive(
        "same name but for accents", lambda: pack(("é.txt", b"1"), ("e\u0301.txt", b"2")), "only by case"
    ),
    Archive("NUL in a name", lambda: _renamed(b"a.py\0.txt"), "a.py?.txt: control characters"),
    Archive("line end in a name", lambda: _renamed(b"a\n.py"), "a?.py: control characters"),
    Archive("share of a network", lambda: _renamed(b"//host/x.py"), "//host/x.py: not a plain"),
    Archive("too many files", lambda: pack(*((f"{n}.txt", b"") for n in range(1_999))), "2,001 entries"),
    Archive("10,000 empty files", lambda: pack(*((f"{n}", b"") for n in range(9_998))), "10,000 entries"),
    Archive("bomb", lambda: pack(("bomb.bin", bytes(50 * MIB))), "bomb.bin: "),
    Archive("bomb in parts", _bomb_of_bombs, "unpacked in all"),
    Archive(
        "size that lies",
        lambda: _patched(pack(("bomb.bin", bytes(MIB))), 24, struct.pack("<I", 10)),
        "bomb.bin: broken",
    ),
    Archive(
        "size that lies the other way",
        lambda: _patched(pack(("small.bin", b"x" * 9)), 24, struct.pack("<I", 10_000)),
        "small.bin: 9 bytes instead of 10000",
    ),
    Archive("tebibyte in 64 bits", _huge, "huge.bin: 1,099,511,627,"),
    Archive("wrong checksum", _wrong_sum, "data.bin: broken: Bad CRC-32"),
    Archive("cut in two", lambda: pack(("data.bin", bytes(9_999)))[:200], "not a readable zip"),
    Archive("something before it", lambda: b"MZ\x90\0" + pack(), "4 bytes stand before"),
    Archive("something after it", lambda: pack() + b"<?php ?>", "8 bytes stand after"),
    Archive("an archive after it", lambda: pack() + pack(("other.py", b"x")), "bytes stand before"),
    Archive("part of several disks", lambda: _ended(pack(), 4, b"\1\0\1\0"), "lies in several files"),
    Archive(
        "fewer entries than listed", lambda: _ended(pack(), 8, b"\1\0\1\0"), "its end tells of 1 entries"
    ),
    Archive("no entries", lambda: END + bytes(18), "needs at its top a bot.toml"),
    Archive("cut off", lambda: pack(("data.bin", bytes(9_999)))[:-30], "not a readable zip"),
    Archive("encrypted", lambda: _patched(pack(("secret.bin", b"x")), 8, b"\x01"), "secret.bin: encrypted"),
    *(
        Archive(name, partial(pack, method=method), "packed by a method other than")
        for name, method in (("bzip2", zipfile.ZIP_BZIP2), ("LZMA", zipfile.ZIP_LZMA))
    ),
    Archive("entries that share bytes", _overlapping, "shares its bytes"),
    Archive("two names for one entry", _two_names, "alibi.txt: broken"),
    Archive("no zip at all", lambda: b"PK" + bytes(100), "not a readable zip"),
    Archive("program of the host", partial(pack, toml=b'run = ["/bin/sh"]'), 'run starts with "/bin/sh"'),
    Archive(
        "script out of the archive", partial(pack, toml=b'run = ["python", "../x.py"]'), "not in the archive"
    ),
    Archive("nested without end", partial(pack, toml=b"a=" + b"[" * 2000), "bot.toml: nested too deeply"),
    Archive("endless bot.toml", partial(pack, toml=b"a=[" + b"1," * 5000 + b"]"), "at most 4 KiB"),
]


def main() -> None:
    """Upload each; ends with status 1 if one was let in."""
    import tempfile
    from pathlib import Path

    from loadtests.fuzz import quiet
    from loadtests.fuzz_world import furnished

    quiet()
    with tempfile.TemporaryDirectory(prefix="rage-archives-") as folder, furnished(Path(folder)) as there:
        told = [
            (each.name, *answer(there.app.test_client(), there.tokens["author"], each)) for each in HOSTILE
        ]
    wide = max(len(name) for name, _, _ in told)
    for name, status, said in told:
        print(f"{name:{wide}}  {status}  {said}")
    sys.exit(any(status != 422 for _, status, _ in told))


def answer(http: "FlaskClient", token: str, archive: Archive) -> tuple[int, str]:
    """What the API says of it: the status, and why."""
    form = {"name": "hostile", "code": (io.BytesIO(archive.content()), "bot.zip")}
    told = http.post("/api/v1/bots", data=form, headers={"Authorization": f"Bearer {token}"})
    said = told.get_json(force=True)
    return told.status_code, " ".join(said.get("errors", {}).get("code", [said.get("detail", "")]))


if __name__ == "__main__":
    main()
