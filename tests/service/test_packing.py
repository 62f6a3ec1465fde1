"""A folder becomes one and the same archive, and what an upload may not be is refused at home."""

from pathlib import Path

import pytest

from service import packing, upload
from service.errors import Invalid

CODE = b"import helper\n\n\ndef bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"


def test_a_folder_is_packed_without_what_is_hidden_or_compiled(tmp_path: Path) -> None:
    for name in ("bot.py", "helper.py", ".git/config", "__pycache__/bot.pyc", "data/table.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(CODE)
    name, kind, content = packing.read(tmp_path)
    assert (name, kind) == (f"{tmp_path.name}.zip", "zip")
    files = {entry.path for entry in upload.entries(content)}
    assert files == {"bot.py", "helper.py", "data/table.bin", "bot.toml"}
    assert packing.read(tmp_path)[2] == content


def test_a_file_goes_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_bytes(CODE)
    assert packing.read(tmp_path / "bot.py") == ("bot.py", "py", CODE)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "needs at its top a bot.toml"),
        ({"main.py": b"x"}, "needs at its top a bot.toml"),
        ({"inner/bot.py": b"x"}, "inner/bot.py lies in a folder"),
        ({"bot.py": b"\xff"}, "bot.py: line 1 is not UTF-8"),
        ({"bot.py": b""}, "bot.py: the file is empty"),
        ({"bot.toml": b"run = 1"}, 'needs run = ["python", "main.py"]'),
    ],
)
def test_a_folder_that_is_no_bot_is_refused(tmp_path: Path, files: dict[str, bytes], said: str) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    with pytest.raises(Invalid) as caught:
        packing.read(tmp_path)
    assert said in caught.value.errors["code"][0]
