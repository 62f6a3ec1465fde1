"""The bot's side of the wire, run as the sandbox runs it but without the sandbox."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine import lines
from engine.author import AuthorError
from engine.bot import load
from engine.rules import RuleSet

REPOSITORY = Path(engine.__file__).parents[1]
RULES = RuleSet.parse({"preset": "fundex"}).as_dict()
START = {"type": "start", "protocol": 1, "seat": 1, "players": 4, "rules": RULES, "limits": {}, "seed": 7}
ROUND = {
    "round": 1,
    "hand_size": 4,
    "dealer": 0,
    "hand": ["R4", "O1", "O2", "WILD"],
    "trump": "B",
    "trump_card": "B3",
    "scores": [0, 0, 0, 0],
}
MINIMAL = "def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"


def talk(tmp_path: Path, source: str, *questions: dict) -> tuple[list[dict], str, int]:
    """What the bot answers, its log, and its exit status."""
    (tmp_path / "bot.py").write_text(source)
    lines = "".join(json.dumps(question) + "\n" for question in (START, *questions))
    done = subprocess.run(
        [sys.executable, "-S", "-c", "from engine.bot import main; main()", "mine.py"],
        input=lines,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(REPOSITORY)},
        timeout=30,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr, done.returncode


def ask(kind: str, legal: list, **more: object) -> dict:
    return {"id": 1, "type": kind, "events": [{"round": ROUND}], "legal": legal, **more}


def test_a_minimal_bot_says_ready_and_answers(tmp_path: Path) -> None:
    questions = [ask("bid", [0, 1]), ask("play", ["R4", "O1"]) | {"id": 2}]
    said, log, status = talk(tmp_path, MINIMAL, *questions)
    assert said[0]["ready"] is True
    assert said[1:] == [{"id": 1, "move": 0}, {"id": 2, "move": "R4"}]
    assert (log, status) == ("", 0)


@pytest.mark.parametrize(
    ("question", "move"),
    [
        (ask("trump", ["R", "O"]), "O"),
        (ask("trump", ["R", "B"]), "R"),
        (ask("trump", ["B", "Y"]), "B"),
        (ask("challenge", [False, True]), False),
    ],
)
def test_a_missing_function_has_its_default(question: dict, move: object, tmp_path: Path) -> None:
    assert talk(tmp_path, MINIMAL, question)[0][1]["move"] == move


def test_the_view_holds_the_choices_and_a_pile_that_may_be_seen(tmp_path: Path) -> None:
    source = (
        MINIMAL
        + "\n\ndef choose_trump(view):\n    return view['pile'][-1] + view['legal'][0] + view['hand'][0]\n"
    )
    said, _, _ = talk(tmp_path, source, ask("trump", ["R"], pile=["Y3", "B1"]))
    assert said[1]["move"] == "B1RR4"


def test_start_and_end_are_told(tmp_path: Path) -> None:
    source = (
        MINIMAL + "\n\ndef start(info):\n    print(sorted(info))\n\n\ndef end(result):\n    print(result)\n"
    )
    _, log, status = talk(tmp_path, source, {"type": "end", "scores": [1], "places": [1]})
    assert log == "['limits', 'players', 'rules', 'seat', 'seed']\n{'scores': [1], 'places': [1]}\n"
    assert status == 0


def test_printing_and_reading_do_not_touch_the_protocol(tmp_path: Path) -> None:
    source = MINIMAL.replace(
        "return 0", 'print(\'{"id":1,"move":5}\')\n    import sys\n    print(sys.stdin.read())\n    return 1'
    )
    said, log, _ = talk(tmp_path, source, ask("bid", [0, 1]))
    assert said[1:] == [{"id": 1, "move": 1}]
    assert log == '{"id":1,"move":5}\n\n'


def test_the_dice_are_those_of_the_seed(tmp_path: Path) -> None:
    source = "import random\nfirst = random.random()\n" + MINIMAL.replace(
        "return 0", "return first + random.random()"
    )
    moves = {talk(tmp_path, source, ask("bid", [0]))[0][1]["move"] for _ in range(2)}
    assert len(moves) == 1


@pytest.mark.parametrize(
    ("answer", "sent"),
    [("(1, 2)", [1, 2]), ("{1}", "{1}"), ("None", None), ("type('N', (), {'item': lambda self: 3})()", 3)],
)
def test_an_answer_that_is_no_json_is_sent_by_its_looks(answer: str, sent: object, tmp_path: Path) -> None:
    said, _, _ = talk(tmp_path, MINIMAL.replace("return 0", f"return {answer}"), ask("bid", [0]))
    assert said[1]["move"] == sent


def test_an_exception_is_shown_as_at_home(tmp_path: Path) -> None:
    helper = "def helper(view):\n    return view['x']\n"
    source = f"def bid(view):\n    return helper(view)\n\n\n{helper}\n\ndef play(view):\n    0\n"
    said, log, status = talk(tmp_path, source, ask("bid", [0]))
    assert len(said) == 1 and status == 1
    assert log.splitlines()[:5] == [
        "Traceback (most recent call last):",
        '  File "mine.py", line 2, in bid',
        "    return helper(view)",
        "           ^^^^^^^^^^^^",
        '  File "mine.py", line 6, in helper',
    ]
    assert log.endswith("KeyError: 'x'\n") and "engine" not in log


def test_a_syntax_error_is_shown_with_its_caret(tmp_path: Path) -> None:
    said, log, status = talk(tmp_path, "x = (\n")
    assert said == [] and status == 1
    assert log == "  File \"mine.py\", line 1\n    x = (\n        ^\nSyntaxError: '(' was never closed\n"


@pytest.mark.parametrize(
    ("leave", "status", "log"),
    [("raise SystemExit", 0, ""), ("raise SystemExit(7)", 7, ""), ("raise SystemExit('bye')", 1, "bye\n")],
)
def test_leaving_keeps_status_and_words(leave: str, status: int, log: str, tmp_path: Path) -> None:
    assert talk(tmp_path, leave)[1:] == (log, status)


def test_a_file_without_a_bot_says_what_is_missing(tmp_path: Path) -> None:
    assert talk(tmp_path, "def bid(view):\n    return 0\n")[1:] == (
        "mine.py: a bot needs a function play(view)\n",
        1,
    )
    with pytest.raises(AuthorError, match="bid"):
        load(b"", "mine.py")


def test_code_for_running_a_file_by_hand_stays_asleep(tmp_path: Path) -> None:
    said, _, _ = talk(tmp_path, MINIMAL + '\n\nif __name__ == "__main__":\n    raise SystemExit(9)\n')
    assert said[0]["ready"] is True


def test_a_bots_side_imports_next_to_nothing() -> None:
    """Every seat pays for it in every match where bots start cold: `import engine` must stay as light."""
    code = "import sys; before = set(sys.modules); import engine.bot; print(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(REPOSITORY)},
    )
    heavy = {"json", "re", "enum", "signal", "collections", "typing", "dataclasses", "inspect"}
    assert not heavy & set(done.stdout.split()), "import lazily what a bot may never need"
    assert "engine.mirror" in done.stdout


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_lines_are_read_and_written_as_the_whole_json_does(value: object) -> None:
    assert json.loads(lines.written(value)) == value
    assert lines.read(json.dumps(value).encode() + b"\n") == value
    assert lines.written(value).count(b"\n") == 1


@pytest.mark.parametrize("line", [b"", b"nonsense", b'{"a":', b"\xff"])
def test_a_line_that_is_no_json_is_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError):
        lines.read(line)
