"""An operator lists interpreters; an author's bot in that language is uploaded, tried out and plays."""

import io
import json
import zipfile
from pathlib import Path

import pytest

import api
from api.client import Client, ProblemError

BASH = (Path(api.__file__).parent / "skeletons" / "bash" / "main.sh").read_text()
NODE = r"""
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const told = JSON.parse(line);
  if (told.type === "start") console.log(JSON.stringify({ ready: true }));
  else if (told.type !== "end") console.log(JSON.stringify({ id: told.id, move: told.legal[0] }));
});
"""
PROGRAMS = {"bash": ("main.sh", BASH), "node": ("main.js", NODE)}


def archive(word: str, name: str, program: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("bot.toml", f"run = {json.dumps([word, name])}")
        file.writestr(name, program)
    return packed.getvalue()


@pytest.mark.parametrize("word", PROGRAMS)
def test_a_bot_in_a_listed_language_is_tried_out_and_ready(
    word: str, author: Client, interpreters: dict[str, str]
) -> None:
    if word not in interpreters:
        pytest.skip(f"no {word} here")
    bot = author.submit(f"{word} bot", "bot.zip", archive(word, *PROGRAMS[word]))
    version = author.wait_ready(bot["id"], 1, seconds=60)
    assert version["status"] == "ready", version["report"]
    assert version["report"]["faults"] == []


def test_any_other_language_is_refused_with_the_list(author: Client, interpreters: dict[str, str]) -> None:
    listed = author.get("/limits")["interpreters"]
    assert listed == ["python", *sorted(interpreters)]
    with pytest.raises(ProblemError) as refused:
        author.submit("ruby bot", "bot.zip", archive("ruby", "main.rb", "puts 1"))
    assert all(f'"{name}"' in str(refused.value) for name in listed)
