"""`rage play` and `rage check` as a person uses them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine.record import verify
from workers.cli import check, play

pytestmark = pytest.mark.sandbox
GOOD = "def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"
QUICK = ["--rules", '{"preset": "fundex", "hand_sizes": [2, 1]}', "--seed", "spring"]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(GOOD)
    return path


def run(command, *words: object):
    return CliRunner().invoke(command, [str(word) for word in words])


def test_a_series_ends_in_a_table(mine: Path) -> None:
    done = run(play, mine, "random", *QUICK, "--games", 2)
    assert done.exit_code == 0, done.output
    assert "2 games of fundex, seed spring" in done.output
    assert "mine" in done.output and "random" in done.output


def test_the_same_seed_gives_the_same_results(mine: Path) -> None:
    tables = [json.loads(run(play, mine, "random", *QUICK, "--json").output) for _ in range(2)]
    for told in tables:
        for bot in told["bots"]:
            del bot["cpu_ms_per_decision"]
    assert tables[0] == tables[1]


def test_bots_are_repeated_to_fill_the_seats(mine: Path) -> None:
    told = json.loads(run(play, mine, "random", *QUICK, "--players", 3, "--json").output)
    assert [bot["bot"] for bot in told["bots"]] == ["mine (1)", "random", "mine (2)"]


def test_records_are_written_one_a_line_and_verify(mine: Path, tmp_path: Path) -> None:
    file = tmp_path / "records"
    assert run(play, mine, "random", *QUICK, "--games", 2, "--record", file).exit_code == 0
    records = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(records) == 2 and not any(verify(record) for record in records)


def test_a_record_is_played_again_with_one_seats_bot(mine: Path, tmp_path: Path) -> None:
    record, other = tmp_path / "record.json", tmp_path / "other.py"
    assert run(play, "random", mine, "counter", *QUICK, "--record", record).exit_code == 0
    other.write_text(
        "def bid(view):\n    return view['legal'][-1]\n\n\ndef play(view):\n    return view['x']\n"
    )
    same = json.loads(run(play, mine, "--replay", record, "--seat", 1, "--json").output)
    assert same["parted"] is None and same["faults"] == []
    assert same["scores"] == json.loads(record.read_text())["scores"]
    changed = json.loads(run(play, other, "--replay", record, "--seat", 1, "--json").output)
    assert (changed["parted"]["decision"], changed["parted"]["asked"]) == (1, "bid")
    assert [fault["kind"] for fault in changed["faults"]] == ["crash"]
    assert "KeyError: 'x'" in run(play, other, "--replay", record, "--seat", 1).output


def test_a_replay_without_its_seat_or_record_is_wrong_usage(mine: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    assert run(play, "random", mine, *QUICK, "--record", record).exit_code == 0
    assert run(play, mine, "--replay", record).exit_code == 2
    assert run(play, mine, "--replay", record, "--seat", 2).exit_code == 2
    record.write_text("{}")
    assert run(play, mine, "--replay", record, "--seat", 1).exit_code == 2


def test_faults_are_shown_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def bid(view):\n    return view['x']\n\n\ndef play(view):\n    return 0\n")
    output = run(play, path, "random", *QUICK).output
    assert "broken: crash, out in game 1, round 1, decision 1 (bid): KeyError: 'x'" in output.replace(
        "\n", " "
    )
    assert 'File "broken.py", line 2, in bid' in output


def test_a_folder_plays_as_the_archive_it_would_be(tmp_path: Path) -> None:
    folder = tmp_path / "talker"
    folder.mkdir()
    (folder / "bot.toml").write_text('run = ["python", "main.py"]\n')
    (folder / "main.py").write_text(
        "import json, sys\nsys.stdin.readline()\nprint('{\"ready\": true}', flush=True)\n"
        "for line in sys.stdin:\n    asked = json.loads(line)\n    if 'id' in asked:\n"
        "        print(json.dumps({'id': asked['id'], 'move': asked['legal'][0]}), flush=True)\n"
    )
    told = json.loads(run(play, folder, "random", *QUICK, "--json").output)
    assert told["bots"][0]["bot"] == "talker.zip" and told["bots"][0]["faults"] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Missing argument"),
        (["mybot.py"], "mybot.py needs somebody to play with: rage play mybot.py counter"),
        (["nobody", "random"], "house bots are random, cautious, counter, montecarlo"),
        (["random", "counter", "--rules", "poker"], "preset"),
        (["random", "counter", "--rules", "{"], "not JSON"),
        (["random", "counter", "--rules", '{"preset": "fundex", "colour": 1}'], "colour"),
        (["random", "random", "random", "--players", "2"], "do not fit"),
        (["random", "counter", "--players", "16"], "for --players"),
        (["random", "counter", "--limits", '{"decision_ms": 1}'], "500"),
        (["random", "counter", "--games", "0"], "--games"),
    ],
)
def test_wrong_usage_is_named_and_exits_2(words: list[str], told: str) -> None:
    done = run(play, *words)
    assert done.exit_code == 2
    assert told in done.output


def test_a_good_bot_is_ready(mine: Path) -> None:
    done = run(check, mine)
    assert done.exit_code == 0 and done.output.startswith("ready: ")
    assert json.loads(run(check, mine, "--json").output)["ready"] is True


def test_a_bad_bot_is_rejected_with_the_report(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("def bid(view):\n    return (0\n")
    done = run(check, path)
    assert done.exit_code == 1
    assert "rejected at: start" in done.output and "(line 2)" in done.output and "^" in done.output
    assert json.loads(run(check, path, "--json").output)["error"]["type"] == "SyntaxError"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [("empty.py", b"", "empty"), ("text.txt", b"x", "Python file"), ("latin.py", b"# caf\xe9\n", "UTF-8")],
)
def test_what_an_upload_would_refuse_is_rejected(name, content, told, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    done = run(check, tmp_path / name)
    assert done.exit_code == 1 and told in done.output


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    assert run(check, tmp_path / "none.py").exit_code == 2


def test_without_a_sandbox_the_remedy_is_told(mine: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = run(check, mine)
    assert done.exit_code == 3 and "apt-get install bubblewrap" in done.output


def test_a_bots_words_cannot_command_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "painter.py"
    path.write_text(
        "def bid(view):\n    raise ValueError('\\x1b[2J[red]')\n\n\ndef play(view):\n    return 0\n"
    )
    output = run(check, path).output
    assert "\x1b" not in output and "?[2J[red]" in output


def test_the_help_shows_what_to_type() -> None:
    assert "rage play mybot.py random cautious counter" in run(play, "--help").output
    assert "Exit status: 0 ready" in run(check, "--help").output


def test_what_a_bot_printed_is_shown_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "talker.py"
    path.write_text(GOOD.replace("    return 0", "    print('thinking', view['round'])\n    return 0"))
    assert "thinking" not in run(check, path).output
    assert "log:\n  thinking 1\n" in run(check, path, "--log").output
    output = run(play, path, "random", *QUICK, "--log").output
    assert "log of talker, last game:\n  thinking 1\n  thinking 2\n" in output
    assert "log of random, last game:\n  (nothing)\n" in output
    told = json.loads(run(play, path, "random", *QUICK, "--log", "--json").output)
    assert told["bots"][0]["log"] == "thinking 1\nthinking 2\n"


def helped(folder: Path, helper: str = "def first(legal):\n    return legal[0]\n") -> Path:
    folder.mkdir()
    (folder / "bot.py").write_text(
        "from helper import first\n\n\ndef bid(view):\n    return first(view['legal'])\n\n\n"
        "def play(view):\n    print('in', __name__)\n    return first(view['legal'])\n"
    )
    (folder / "helper.py").write_text(helper)
    return folder


def test_a_folder_without_bot_toml_is_a_python_bot_with_its_helpers(tmp_path: Path) -> None:
    done = run(check, helped(tmp_path / "helped"), "--log")
    assert done.exit_code == 0, done.output
    assert "  in bot\n" in done.output


def test_an_error_in_a_helper_is_shown_with_its_file(tmp_path: Path) -> None:
    done = run(check, helped(tmp_path / "helped", "def first(legal):\n    return legal[99]\n"))
    assert done.exit_code == 1
    assert "IndexError: list index out of range" in done.output
    assert 'File "/bot/bot.py", line 5, in bid' in done.output
    assert 'File "/bot/helper.py", line 2, in first' in done.output


def test_a_folder_that_an_upload_would_refuse_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("print()\n")
    done = run(check, tmp_path)
    assert done.exit_code == 1
    assert "rejected at: upload" in done.output
    assert 'run = ["python", "main.py"]' in done.output


def test_switches_without_a_preset_are_fundexs(mine: Path) -> None:
    told = json.loads(run(play, mine, "random", "--rules", '{"hand_sizes": [2]}', "--json").output)
    assert told["rules"] == {"preset": "fundex", "hand_sizes": [2]}


def test_a_file_of_several_records_is_not_replayed_but_said_so(mine: Path, tmp_path: Path) -> None:
    file = tmp_path / "records"
    assert run(play, mine, "random", *QUICK, "--games", 3, "--record", file).exit_code == 0
    done = run(play, mine, "--replay", file, "--seat", 0)
    assert done.exit_code == 2
    assert "holds 3 records" in done.output


def test_the_help_tells_every_status() -> None:
    for command in (check, play):
        assert "3 no sandbox" in " ".join(run(command, "--help").output.split())
    assert "/docs/bots" in run(check, "--help").output
