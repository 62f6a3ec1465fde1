"""What a shell completes: verbs, options, and what there is on a server, if one is known."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from api.cli import main
from api.client import Client
from service import admin

Complete = Callable[..., list[str]]


@pytest.fixture
def complete(home: Path) -> Complete:
    """What bash would be offered after these words, the last of which is begun."""

    def ask(*words: str) -> list[str]:
        begun = {"COMP_WORDS": " ".join(["rage", *words]), "COMP_CWORD": str(len(words))}
        told = CliRunner().invoke(main, env={**begun, "_RAGE_COMPLETE": "bash_complete"}, prog_name="rage")
        assert told.exit_code in (0, 1)
        assert told.exception is None or isinstance(told.exception, SystemExit)
        return told.output.split()

    return ask


def test_verbs_and_options_are_offered(complete: Complete) -> None:
    assert complete("tourn") == ["plain,tournament"]
    assert {"plain,create", "plain,watch", "plain,withdraw"} <= set(complete("tournament", ""))
    assert complete("tournament", "create", "X", "--form") == ["plain,--format"]
    assert complete("tournament", "create", "X", "--format", "k") == ["plain,knockout"]


def test_without_a_server_nobody_is_asked(complete: Complete, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("http.client.HTTPConnection.request", lambda *_, **__: pytest.fail("asked"))
    assert complete("compare", "c") == ["plain,cautious", "plain,counter"]
    assert complete("tournament", "watch", "") == []
    assert complete("tournament", "create", "X", "--rules", "k") == ["plain,korean"]
    assert complete("play", "ran") == ["plain,random", "file,ran"]


def test_bots_and_tournaments_of_the_server_are_offered(
    complete: Complete, logged_in: Client, four: list[str], make_spec: Any
) -> None:
    made = logged_in.create_tournament(**make_spec(four, start_at="manual"))["id"]
    logged_in.submit("spy", "bot.py", b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return 0\n")
    assert complete("faults", "s") == ["plain,spy"]
    assert complete("tournament", "watch", "t_") == [f"plain,{made}"]


def test_a_server_that_is_away_offers_nothing(complete: Complete) -> None:
    assert complete("--url", "http://127.0.0.1:1", "compare", "") == []
    assert complete("--url", "nonsense://", "tournament", "watch", "") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(("name", "program"), [("rage", main), ("rage-admin", admin.main)])
def test_every_shell_gets_its_script(shell: str, name: str, program: click.Group) -> None:
    variable = f"_{name.upper().replace('-', '_')}_COMPLETE"
    told = CliRunner().invoke(program, env={variable: f"{shell}_source"}, prog_name=name)
    assert f"{variable}={shell}_complete" in told.output


@pytest.mark.parametrize(
    "told",
    [[], {"items": None}, {"items": [{}]}, {"items": [3]}, {"items": [{"name": 3, "id": 3}]}, 5, None,
     {"items": [{"name": "a\nplain,b", "id": "a\nplain,b", "status": "", "owner": ""}]}],
    ids=json.dumps,
)  # fmt: skip
def test_a_server_of_another_kind_offers_nothing(
    complete: Complete, monkeypatch: pytest.MonkeyPatch, told: object
) -> None:
    answer = httpish(json.dumps(told).encode())
    monkeypatch.setattr("api.transport.Transport.call", lambda *_, **__: answer)
    assert complete("--url", "http://localhost:1", "compare", "") == []
    assert complete("--url", "http://localhost:1", "tournament", "watch", "") == []


def httpish(content: bytes) -> Any:
    """What a call gives, as far as it is looked at."""
    return SimpleNamespace(content=content)


def test_what_a_shell_cannot_show_is_left_out(complete: Complete, monkeypatch: pytest.MonkeyPatch) -> None:
    bots = [
        {"name": "spy", "status": "a\nplain,b", "owner": ""},
        {"name": "\ud800", "status": "", "owner": ""},
    ]
    answer = httpish(json.dumps({"items": bots}).encode())
    monkeypatch.setattr("api.transport.Transport.call", lambda *_, **__: answer)
    assert complete("--url", "http://localhost:1", "compare", "") == ["plain,spy"]
