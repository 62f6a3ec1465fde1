"""The page on writing bots: every example on it works, and it names what there really is."""

import html
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from engine.match import Match
from engine.rules import PRESETS
from engine.table import FaultKind
from engine.view import view
from service import upload
from service.limits import Limits


@pytest.fixture
def page(http: FlaskClient) -> str:
    answer = http.get("/docs/bots")
    assert answer.status_code == 200
    return answer.text


def example(page: str, name: str) -> str:
    found = re.search(rf'<pre id="example-{name}">(.*?)</pre>', page, re.DOTALL)
    assert found is not None
    return html.unescape(found[1]) + "\n"


def shell(text: str, folder: Path) -> str:
    """What a script prints, run as a reader would, with the installed commands."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_is_reached_from_everywhere(http: FlaskClient, page: str) -> None:
    for path in ("/", "/docs"):
        assert 'href="/docs/bots"' in http.get(path).text
    wanted = set(re.findall(r'href="#([^"]+)"', page))
    assert wanted <= set(re.findall(r'id="([^"]+)"', page))


@pytest.mark.sandbox
@pytest.mark.parametrize("rules", ["fundex", "challenge"])
def test_the_python_example_plays_without_a_fault(page: str, tmp_path: Path, rules: str) -> None:
    (tmp_path / "mybot.py").write_text(example(page, "python"))
    said = shell("rage check mybot.py --log", tmp_path)
    assert said.startswith("ready: ")
    assert "  seat 0 of 4 rules fundex\n  scores [" in said
    told = json.loads(shell(f"rage play mybot.py counter --rules {rules} --games 3 --json", tmp_path))
    assert told["bots"][0]["faults"] == []


@pytest.mark.sandbox
def test_the_example_with_a_file_beside_it_is_ready(page: str, tmp_path: Path) -> None:
    assert shell(example(page, "helpers"), tmp_path).startswith("ready: ")


@pytest.mark.sandbox
def test_the_archive_talks_and_is_ready(page: str, tmp_path: Path) -> None:
    ready, move, verdict, *_ = shell(example(page, "archive"), tmp_path).splitlines()
    assert (json.loads(ready), json.loads(move)) == ({"ready": True}, {"id": 1, "move": 0})
    assert verdict.startswith("ready: ")
    with zipfile.ZipFile(io.BytesIO((tmp_path / "talker.zip").read_bytes())) as archive:
        assert sorted(archive.namelist()) == ["bot.toml", "main.py"]


def test_the_lines_shown_are_question_and_answer(page: str) -> None:
    lines = [(line[0], json.loads(line[2:])) for line in example(page, "lines").splitlines()]
    assert [side for side, _ in lines] == ["<" if at % 2 else ">" for at in range(11)]
    assert set(lines[0][1]) - {"type", "protocol"} == {"seat", "players", "rules", "limits", "seed"}
    for (_, asked), (_, answered) in zip(lines[2:-1:2], lines[3:-1:2], strict=True):
        assert set(asked) - {"pile"} == {"id", "type", "view", "legal"}
        assert answered["id"] == asked["id"]
        assert answered["move"] in asked["legal"]


def test_every_key_of_the_view_is_told(page: str) -> None:
    table = page.partition('<table id="view-keys">')[2].partition("</table>")[0]
    told = re.findall(r"<tr><td><code>(\w+)</code>", table)
    real = view(Match(PRESETS["fundex"], 4, bytes(32)), 0)
    assert set(told) == set(real) | {"legal"}
    assert len(told) == len(set(told))


def test_every_kind_of_fault_and_every_limit_is_told(page: str) -> None:
    faults = page.partition('<h2 id="faults">')[2].partition("<h2")[0]
    assert set(FaultKind) == {each for each in FaultKind if f"<code>{each}</code>" in faults}
    limits = page.partition('<h2 id="limits">')[2].partition("<h2")[0]
    for name, value in Limits().as_dict().items():
        assert value is None or re.search(rf"\b{value} (ms|MiB)", limits), name
    assert f"{upload.PACKED >> 20} MiB" in limits
