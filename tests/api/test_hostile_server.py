"""A server that means harm: whatever it puts into its words, the command's terminal is not its to command."""

import io
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask
from werkzeug.serving import make_server

import api
from api import saved, shown
from api.cli import main

POISON = "\x1b]0;owned\x07\x9b2J\u202e"
SHOWN = "?]0;owned??2J?"
KEPT = {"id", "status", "verdict", "format", "type", "next", "cursor", "preset", "token"}  # what it goes by


def poisoned(value: Any, key: str = "") -> Any:
    """Every word of an answer that nothing is decided by, with what would command a terminal."""
    if isinstance(value, dict):
        return {name: poisoned(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [poisoned(each, key) for each in value]
    kept = key in KEPT or key.endswith(("_id", "_at"))
    return value if not isinstance(value, str) or kept else f"{value}{POISON}"


class Poisoner:
    """An application behind which every JSON and CSV is poisoned."""

    def __init__(self, app: Flask) -> None:
        self.app = app

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        environ.pop("HTTP_ACCEPT_ENCODING", None)
        begun: list[Any] = []
        body = b"".join(self.app.wsgi_app(environ, lambda *told: begun.extend(told)))
        kind = dict(begun[1]).get("Content-Type", "")
        if body and "json" in kind:
            body = json.dumps(poisoned(json.loads(body)), ensure_ascii=False).encode()
        elif kind.startswith("text/csv"):
            body = body.replace(b"\r\n", f"{POISON}\r\n".encode())
        start_response(begun[0], [each for each in begun[1] if each[0] != "Content-Length"])
        return [body]


@pytest.fixture
def hostile(app: Flask) -> Iterator[str]:
    listener = make_server("127.0.0.1", 0, Poisoner(app), threaded=True)  # type: ignore[arg-type]
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listener.server_port}"
    listener.shutdown()
    listener.server_close()


def test_a_servers_words_begin_no_line_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    shown.say("bot eve\nrage: all is well")
    assert capsys.readouterr().out == "bot eve rage: all is well\n"


def test_a_servers_words_cannot_command_the_terminal(
    hostile: str, home: Path, ada: Any, cup: dict[str, Any], ready_bots: list[str]
) -> None:
    saved.save(saved.Login(hostile, ada.token))
    one, (a, b, *_) = cup["id"], ready_bots
    waiting = ada.post(
        "/tournaments", {"name": "Later", "entrants": ready_bots, "start_at": "manual"}
    ).get_json()
    pool = ada.get("/rankings/pools").get_json()["items"][0]["rules"]
    for words in (
        ("bots",), ("bot", "show", a), ("bot", "show", a, "1", "--log"), ("faults", a),
        ("tournament", "list"), ("tournament", "show", one), ("tournament", "standings", one),
        ("tournament", "standings", one, "--csv"), ("tournament", "crosstable", one),
        ("tournament", "fairness", one), ("tournament", "watch", one), ("tournament", "verify", one),
        ("tournament", "show", "Later"), ("tournament", "start", one),
        ("tournament", "withdraw", waiting["id"], a),
        ("tournament", "create", "New", a, b, "--players", "2", "--start-at", "manual"),
        ("tournament", "create", "", a), ("tournament", "cancel", waiting["id"]),
        ("rankings",), ("rankings", "--rules", pool), ("rankings", "--csv"),
            ("rankings", "--players", "9"), ("rankings", "compare", a, b, "--rules", pool),
        ("match", "show", f"{one}-0"), ("match", "record", f"{one}-0"), ("verify", f"{one}-0"),
        ("replay", f"{one}-0"), ("reproduce", f"{one}-0"), ("compare", a, b, "--cap", "10"),
        ("token", "list"), ("token", "new", "label"), ("retire", b, "--yes"), ("bot", "show", "nobody"),
    ):  # fmt: skip
        said = CliRunner().invoke(main, list(words)).output
        assert said, words
        found = [letter for letter in said if letter in "\x1b\x07\x9b\u202e"]
        assert not found, (words, said)
    assert SHOWN in CliRunner().invoke(main, ["tournament", "show", one]).output
    assert SHOWN in CliRunner().invoke(main, ["rankings", "--csv"]).output
    assert SHOWN in CliRunner().invoke(main, ["tournament", "cancel", one]).output, "a refusal"


def test_logging_in_there_is_safe_too(hostile: str, home: Path) -> None:
    said = CliRunner().invoke(main, ["login", hostile, "--register", "eve"]).output
    assert "\x1b" not in said and SHOWN in said


def test_a_bar_shows_a_name_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(written, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", written)
    with shown.bar(f"[link=http://evil]x[/link]{POISON}") as bar:
        bar.at(1, 2)
        bar.say(f"left{POISON}")
    assert "[link=http://evil]x[/link]" in written.getvalue()
    assert (
        "]0;" in written.getvalue() and "\x1b]" not in written.getvalue() and "\x07" not in written.getvalue()
    )


def test_commands_speak_through_what_is_safe() -> None:
    folder = Path(api.__file__).parent
    files = [*(folder / "commands").glob("*.py"), folder / "results.py"]
    own = {"new.py", "replay.py"}  # what is on this machine, and a story that is cleaned where it is read
    bold = [each.name for each in files if "click.echo(" in each.read_text() and each.name not in own]
    assert bold == []
