"""Uploads are looked through before anything is unpacked, and a refusal names the entry that broke a rule."""

import io
import zipfile

import pytest

from loadtests import archives
from loadtests.archives import RUN, pack
from service import upload
from service.errors import Invalid


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


def test_an_archive_in_an_archive_is_a_file_that_nobody_unpacks() -> None:
    assert upload.inspect("bot.zip", pack(("inner.zip", pack(("bomb.bin", bytes(40 << 20)))))) == "zip"


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


@pytest.mark.parametrize("archive", archives.HOSTILE, ids=lambda archive: archive.name)
def test_a_hostile_archive_is_refused_for_the_right_reason(archive: archives.Archive) -> None:
    assert archive.reason in refusal("bot.zip", archive.content())


def test_too_many_files_are_refused() -> None:
    assert "2,001 entries" in refusal("bot.zip", pack(*((f"{n}.txt", b"") for n in range(1_999))))
    assert upload.inspect("bot.zip", pack(*((f"{n}.txt", b"") for n in range(1_998)))) == "zip"


def test_an_archive_that_unpacks_to_too_much_names_its_largest_file() -> None:
    reason = refusal("bot.zip", pack(("small.bin", bytes(1000)), ("bomb.bin", bytes(50 * 1024 * 1024))))
    assert reason.startswith("bomb.bin: ") and "52,428,800 allowed" in reason


def test_a_truncated_archive_is_refused() -> None:
    packed = pack(("data.bin", bytes(range(256)) * 10))
    for cut in (10, 100, len(packed) // 2, len(packed) - 5):
        assert refusal("bot.zip", packed[:cut])


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


def test_what_would_allow_an_interpreter_is_named() -> None:
    with pytest.raises(Invalid) as refused:
        upload.inspect("bot.zip", archive('["bash", "main.js"]'), {})
    said = refused.value.errors["code"][0]
    assert "--interpreters bash=/usr/bin/bash" in said and "RAGE_INTERPRETERS=bash=/usr/bin/bash" in said


def test_the_run_command_is_read() -> None:
    assert upload.run_command(b'run = ["./bot", "--fast"]') == ("./bot", "--fast")
