"""What a server says about a bot names no place on the disk of who plays it again."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from api.commands.reproduce import _fetched


@pytest.mark.parametrize(
    ("name", "uploaded", "file"),
    [
        ("spy", "bot.py", "spy v3.py"),
        ("Лиса 2", "x.zip", "Лиса 2 v3.zip"),
        ("../../escaped", "bot.py", "bot.py"),
        ("..", "bot.py", "bot.py"),
        ("/tmp/escaped", "bot.py", "bot.py"),
        ("a\\b", "../up.py", "bot.py"),
        ("a\x00b", "bot.p\x00y", "bot"),
        ("x" * 300, "bot.py", "bot.py"),
        ("spy", "bot.p y", "spy v3"),
    ],
)
def test_fetched_code_stays_in_its_folder(tmp_path: Path, name: str, uploaded: str, file: str) -> None:
    record = tmp_path / "record.json"
    record.write_text("ours")
    version = {"number": 3, "filename": uploaded}
    client: Any = SimpleNamespace(code=lambda *_: b"code", bot=lambda _: {"versions": [version]})
    made = _fetched(client, {"bot_id": "bot", "version": 3, "name": name}, tmp_path)
    assert made == tmp_path / "bot" / file and made.read_bytes() == b"code"


def test_a_bot_called_like_the_record_leaves_that_alone(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    record.write_text("ours")
    version = {"number": None, "filename": "x.json"}
    client: Any = SimpleNamespace(code=lambda *_: b"code", bot=lambda _: {"versions": [version]})
    assert _fetched(client, {"bot_id": "b", "version": None, "name": "record"}, tmp_path) != record
    assert record.read_text() == "ours"
