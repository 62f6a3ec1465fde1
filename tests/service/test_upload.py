"""Uploads are looked through before anything is unpacked, and a refusal names the entry that broke a rule."""

import io
import stat
import struct
import warnings
import zipfile

import pytest

from service import upload
from service.errors import Invalid

RUN = b'run = ["python", "main.py"]\n'


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


def entry(name: str, mode: int = 0, **fields: object) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    for field, value in fields.items():
        setattr(made, field, value)
    return made


def refusal(filename: str, content: bytes) -> str:
    with pytest.raises(Invalid) as caught:
        upload.inspect(filename, content)
    (reason,) = caught.value.errors["code"]
    return reason


def test_a_python_file_is_a_bot() -> None:
    assert upload.inspect("bot.py", "def bid(view): return 'é'\n".encode()) == "py"
    assert upload.inspect("BOT.PY", b"\xef\xbb\xbfx = 1\n") == "py"


def test_an_archive_is_a_bot() -> None:
    assert upload.inspect("bot.zip", pack(("data/table.bin", bytes(99)), ("empty/", b""))) == "zip"


def test_all_files_of_a_good_archive_come_out() -> None:
    files = {entry.path: entry.content for entry in upload.entries(pack(("a/b.txt", b"hello")))}
    assert files == {"bot.toml": RUN, "main.py": b"print()\n", "a/b.txt": b"hello"}


@pytest.mark.parametrize(
    ("filename", "content", "reason"),
    [
        ("bot.py", b"", "empty"),
        ("bot.py", b" \n\t\n", "empty"),
        ("bot.py", b"x = 1\ny = '\xff'\n", "line 2 is not UTF-8 text (byte 0xff)"),
        ("bot.py", b"x\n\ny\0z", "line 3 holds a NUL byte"),
        ("bot.py", b"#" * (5 * 1024 * 1024 + 1), "5 MiB"),
        ("bot.zip", b"PK" + bytes(100), "not a readable zip"),
        ("bot.zip", b"", "empty"),
        ("bot.tar.gz", b"x", "Python file (.py) or an archive (.zip)"),
        ("bot", b"x", "Python file"),
    ],
)
def test_a_file_that_is_no_bot_is_refused(filename: str, content: bytes, reason: str) -> None:
    assert reason in refusal(filename, content)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (entry("../up.py"), "../up.py: not a plain relative path"),
        (entry("a/../../up.py"), "a/../../up.py: not a plain"),
        (entry("/etc/passwd"), "/etc/passwd: not a plain"),
        (entry("a//b"), "a//b: not a plain"),
        (entry("./a"), "./a: not a plain"),
        (entry("a\\b.py"), "a\\b.py: not a plain"),
        (entry("C:/x.py"), "C:/x.py: not a plain"),
        (entry("bell\a.py"), "bell?.py: control characters"),
        (entry("n" * 300), "name too long"),
        (entry("/".join(["deep"] * 200)), "name too long"),
        (entry("link", stat.S_IFLNK | 0o777), "link: a link or device"),
        (entry("pipe", stat.S_IFIFO | 0o644), "pipe: a link or device"),
        (entry("disk", stat.S_IFBLK | 0o644), "disk: a link or device"),
        (entry("folder", stat.S_IFDIR | 0o755), "folder: says it is a file and a folder"),
        (entry("main.py"), "main.py: twice"),
        (entry("Main.py"), "Main.py: differs from main.py only by case"),
        (entry("MAIN.PY/x"), "a file and a folder at once"),
        (entry("main.py/x"), "main.py: a file and a folder at once"),
    ],
)
def test_an_entry_that_breaks_a_rule_is_named(made: zipfile.ZipInfo, reason: str) -> None:
    assert reason in refusal("bot.zip", pack((made, b"x")))


def test_names_that_differ_only_by_their_accents_making_are_the_same() -> None:
    assert "only by case" in refusal("bot.zip", pack(("é.txt", b"1"), ("e\u0301.txt", b"2")))


def test_too_many_files_are_refused() -> None:
    assert "2,001 entries" in refusal("bot.zip", pack(*((f"{n}.txt", b"") for n in range(1_999))))
    assert upload.inspect("bot.zip", pack(*((f"{n}.txt", b"") for n in range(1_998)))) == "zip"


def test_an_archive_that_unpacks_to_too_much_names_its_largest_file() -> None:
    reason = refusal("bot.zip", pack(("small.bin", bytes(1000)), ("bomb.bin", bytes(50 * 1024 * 1024))))
    assert reason.startswith("bomb.bin: ") and "52,428,800 allowed" in reason


def test_a_size_that_lies_is_found_out() -> None:
    packed = bytearray(pack(("bomb.bin", bytes(1_000_000))))
    place = packed.rindex(b"PK\x01\x02")
    packed[place + 24 : place + 28] = struct.pack("<I", 10)
    assert refusal("bot.zip", bytes(packed)).startswith("bomb.bin: broken")


def test_a_wrong_checksum_is_found_out() -> None:
    packed = bytearray(pack(("data.bin", b"unmistakable"), method=zipfile.ZIP_STORED))
    packed[packed.index(b"unmistakable")] ^= 1
    assert refusal("bot.zip", bytes(packed)).startswith("data.bin: broken: Bad CRC-32")


def test_a_truncated_archive_is_refused() -> None:
    packed = pack(("data.bin", bytes(range(256)) * 10))
    for cut in (10, 100, len(packed) // 2, len(packed) - 5):
        assert refusal("bot.zip", packed[:cut])


def test_an_encrypted_entry_is_refused() -> None:
    packed = bytearray(pack(("secret.bin", b"x")))
    place = packed.rindex(b"PK\x01\x02")
    packed[place + 8] |= 1
    assert refusal("bot.zip", bytes(packed)) == "secret.bin: encrypted"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unusual_packing_is_refused(method: int) -> None:
    assert "packed by a method other than" in refusal("bot.zip", pack(method=method))


def test_entries_that_share_their_bytes_are_refused() -> None:
    packed = bytearray(pack(("first.bin", b"1" * 50), ("other.bin", b"2" * 50), method=zipfile.ZIP_STORED))
    headers = [place for place in range(len(packed)) if packed[place : place + 4] == b"PK\x01\x02"]
    packed[headers[-1] + 42 : headers[-1] + 46] = packed[headers[-2] + 42 : headers[-2] + 46]
    assert "shares its bytes" in refusal("bot.zip", bytes(packed))


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        (b"", 'needs run = ["python", "main.py"]'),
        (b"run = 'python main.py'", "needs run"),
        (b"run = []", "needs run"),
        (b"run = [1]", "needs run"),
        (b"run = [", "bot.toml: "),
        (b"\xff", "bot.toml: "),
        (b"a=" + b"[" * 2000, "bot.toml: "),
        (b"a=[" + b"1," * 5000 + b"]", "bot.toml: at most 4 KiB"),
        (b'run = ["bash", "-c", "x"]', 'run starts with "bash"'),
        (b'run = ["/usr/bin/python3"]', 'run starts with "/usr'),
        (b'run = ["./mybot"]', "names mybot, which is not in the archive"),
        (b'run = ["python", "other.py"]', "names other.py, which is not in the archive"),
        (b'run = ["python", ' + b'"x", ' * 40 + b"]", "more than 32 words"),
    ],
)
def test_a_bot_toml_that_names_nothing_to_run_is_refused(toml: bytes, reason: str) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("bot.toml", toml)
        archive.writestr("main.py", "print()\n")
    assert reason in refusal("bot.zip", data.getvalue())


def test_a_missing_bot_toml_is_named_with_where_it_lies() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("mybot/bot.toml", RUN)
    assert "mybot/bot.toml lies in a folder" in refusal("bot.zip", data.getvalue())


def archive(run: str) -> bytes:
    return pack(("main.js", b"1"), toml=f"run = {run}".encode())


def test_what_the_operator_lists_may_run_a_bot() -> None:
    assert upload.inspect("bot.zip", archive('["node", "main.js"]'), {"node": "/usr/bin/node"}) == "zip"
    assert upload.inspect("bot.zip", archive('["node", "--jitless", "main.js"]'), {"node": "x"}) == "zip"
    assert upload.inspect("bot.zip", archive('["ruby", "main.js"]'), None) == "zip"


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ('["ruby", "main.rb"]', 'run starts with "ruby"; it may be "python", "bash", "node" or a file'),
        ('["/bin/bash"]', 'run starts with "/bin/bash"; it may be'),
        ('["node", "other.js"]', "run names other.js, which is not in the archive"),
    ],
)
def test_what_is_not_listed_is_refused_with_what_is(run: str, reason: str) -> None:
    with pytest.raises(Invalid) as refused:
        upload.inspect("bot.zip", archive(run), {"node": "/usr/bin/node", "bash": "/bin/bash"})
    assert reason in refused.value.errors["code"][0]


def test_the_run_command_is_read() -> None:
    assert upload.run_command(b'run = ["./bot", "--fast"]') == ("./bot", "--fast")
