"""What the command says when something is not as a person thought."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from api.client import Client
from api.commands.compare import show
from api.results import percent, probability
from api.shown import Column, table

CODE = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"
Run = Callable[..., Result]


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.transport.PATIENCE", 0.2)


def other(server: str, name: str = "eve") -> Client:
    made = Client(server)
    made.register(name)
    return made


def test_who_is_not_logged_in_is_told_how(run: Run, server: str, bot: Path) -> None:
    said = run("--url", server, "submit", str(bot), status=1).output
    assert f"rage login {server} --register NAME" in said
    assert "elsewhere" not in said


def test_who_has_no_server_is_told_how_to_find_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.saved.DEFAULT", "http://127.0.0.1:1")
    assert "rage login URL --register NAME" in run("bots", status=4).output


def test_a_login_asks_for_a_token_only_where_a_server_answers(run: Run, server: str) -> None:
    assert "does not answer" in run("login", "http://127.0.0.1:1", input="rage_x\n", status=4).output
    said = run("login", server, input="", status=1).output
    assert said.startswith("Error: no token was given")
    assert f"rage login {server} --register NAME" in said


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:99999", "is no address of a server"),
        ("ftp://127.0.0.1", "is no address of a server"),
        ("{server}/docs", "there is no Rage Arena at {server}/docs"),
        ("https{tail}", "it speaks no TLS; is its address http://...?"),
    ],
)
def test_a_wrong_address_is_said_to_be_wrong(run: Run, server: str, address: str, said: str) -> None:
    parts = {"server": server, "tail": server.removeprefix("http")}
    words = ["login", address.format(**parts), "--token", "rage_x"]
    status = 4 if address.startswith("https") else 1
    assert said.format(**parts) in run(*words, status=status).output


def test_what_cannot_be_a_token_is_not_sent(run: Run, server: str) -> None:
    assert "that is no token" in run("login", server, "--token", "rag\u00e9", status=2).output


def test_a_token_that_is_no_more_valid_asks_for_another_login(run: Run, logged_in: Client) -> None:
    said = run("--token", "rage_gone", "bots", "--mine", status=1).output
    assert f"Log in again: rage login {logged_in.url}\n" in said and "Authorization" not in said


def test_an_interrupted_command_says_so_and_has_a_status_of_its_own(
    run: Run, logged_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Client, "bots", interrupt)
    assert "interrupted" in run("bots", status=130).output
    monkeypatch.setattr(Client, "tournament", interrupt)
    assert (
        "it goes on; see how: rage tournament watch t_x\n"
        in run("tournament", "watch", "t_x", status=130).output
    )


def test_the_exit_codes_are_in_the_help(run: Run) -> None:
    said = " ".join(run("--help").output.split())
    assert "0 done; 1 refused, rejected, or the answer is no; 2 wrong usage; 3 no sandbox" in said
    assert "4 the server does not answer or is busy, try again later; 130 interrupted" in said


def test_a_tournament_may_be_named_while_only_one_is_called_so(
    run: Run, logged_in: Client, four: list[str], make_spec: Any
) -> None:
    first = logged_in.create_tournament(**make_spec(four, start_at="manual"))["id"]
    assert run("tournament", "show", "open").output.startswith(first)
    second = logged_in.create_tournament(**make_spec(four, start_at="manual"))["id"]
    said = run("tournament", "show", "Open", status=1).output
    assert "2 tournaments are called Open; say which:" in said
    assert f"{first}  scheduled" in said and f"{second}  scheduled" in said


def test_cancelling_asks_on_a_terminal(
    run: Run, logged_in: Client, four: list[str], make_spec: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = logged_in.create_tournament(**make_spec(four, start_at="manual"))["id"]
    monkeypatch.setattr("api.commands.tournaments.on_terminal", lambda: True)
    said = run("tournament", "cancel", made, input="n\n", status=1).output
    assert "Open ends for good; 0 of 8 matches are played. Cancel it?" in said
    assert logged_in.tournament(made)["status"] == "scheduled"
    assert "cancelled" in run("tournament", "cancel", made, "--yes").output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("compare", "bot 0", "bot 0"), "bot 0 v1 is named twice; name another bot or version"),
        (("compare", "bot 0", "bot 1", "--rules", "{bad"), "not JSON"),
        (("rankings", "compare", "bot 0", "bot 1"), "no rated matches yet of fundex"),
        (("bot", "show", "bot 0", "7"), "bot 0 has no version 7; the newest is 1"),
        (("bot", "show", "bot 0:x"), "a version is a number, as in bot 0:1"),
        (("tournament", "disqualify", "Open", "bot 3", "cheats"), "bot 3 is not entered"),
    ],
)
def test_refusals_speak_of_names(
    run: Run, logged_in: Client, four: list[str], make_spec: Any, words: tuple[str, ...], said: str
) -> None:
    logged_in.create_tournament(**make_spec(four[:3], players=3, start_at="manual"))
    told = run(*words, status=2 if "{bad" in words else 1).output
    assert said in told and "bot_" not in told and "/api/" not in told


def test_a_rejected_bot_shows_its_report_to_its_owner(
    run: Run, logged_in: Client, bot: Path, prompt: None, server: str
) -> None:
    run("submit", str(bot), "--wait", "--description", "counts")
    bot.write_text("raise ValueError\n")
    run("submit", str(bot), status=1)
    said = run("bot", "show", "spy").output
    assert "spy of ada in, rejected" in said
    assert "counts" in said
    assert "error (line 1): it raised" in said
    assert "spy.py" in run("bot", "show", "spy", "1").output
    assert "spy v1 is ready" in run("bot", "show", "spy:1").output
    assert json.loads(run("bot", "show", "spy", "2", "--json").stdout)["report"]["ready"] is False
    assert len(json.loads(run("bot", "show", "spy", "--json").stdout)["versions"]) == 2
    run("bot", "show", "spy", "3", status=1)
    eve = other(server)
    said = run("--token", eve.token or "", "bot", "show", "spy").output
    assert "only its owner" in said
    assert "it raised" not in said


def test_faults_of_a_rejected_version_point_to_its_report(
    run: Run, logged_in: Client, bot: Path, prompt: None
) -> None:
    run("submit", str(bot), "--wait")
    bot.write_text("raise ValueError\n")
    made = json.loads(run("submit", str(bot), "--json", status=1).stdout)
    said = run("faults", "spy").output
    assert f"spy v2: was rejected and played no match; why: rage bot show {made['bot_id']} 2" in said
    assert "spy v1: nothing went wrong" in said
    assert json.loads(run("faults", "spy", "--json").stdout) == []
    assert "has no version 9" in run("faults", "spy", "9", status=1).output


def test_faults_are_those_of_the_newest_version_that_has_some(
    run: Run, logged_in: Client, prompt: None, make_spec: Any, play_all: Callable[..., None]
) -> None:
    ids = [logged_in.submit(f"bot {number}", "bot.py", CODE)["id"] for number in range(4)]
    logged_in.create_tournament(**make_spec(ids, rules={"preset": "fundex", "hand_sizes": [2]}, deals=1))
    play_all()
    logged_in.add_version(ids[0], "bot.py", CODE)
    said = run("faults", "bot 0").output
    assert "bot 0 v2: nothing went wrong\nFaults of bot 0 v1, newest first:" in said
    assert "R99 is no card" in said
    assert re.search(r"^  rage reproduce t_\S+-\d+ --seat \d$", said, re.MULTILINE)
    assert run("faults", "bot 0", "2").output == "bot 0 v2: nothing went wrong\n"


def test_another_accounts_faults_are_not_shown(run: Run, logged_in: Client, server: str) -> None:
    other(server).submit("hers", "bot.py", CODE)
    assert "hers is another account's bot; only eve" in run("faults", "hers", status=1).output


def test_a_further_version_may_come_with_other_words(run: Run, logged_in: Client, bot: Path) -> None:
    first = json.loads(run("submit", str(bot), "--description", "one", "--public", "--json").stdout)
    run("submit", str(bot))
    told = logged_in.bot(first["bot_id"])
    assert (told["version"], told["description"], told["public_source"]) == (2, "one", True)
    run("submit", str(bot), "--description", "two", "--private")
    told = logged_in.bot(first["bot_id"])
    assert (told["version"], told["description"], told["public_source"]) == (3, "two", False)


def test_a_retirement_is_asked_with_name_and_id(run: Run, logged_in: Client, bot: Path) -> None:
    made = json.loads(run("submit", str(bot), "--json").stdout)
    said = run("retire", made["bot_id"], input="n\n", status=1).output
    assert f"spy ({made['bot_id']}) of ada in will enter no more tournaments" in said
    assert logged_in.bot(made["bot_id"])["status"] == "checking"
    assert "is retired" in run("retire", "spy", input="y\n").output


@pytest.mark.parametrize(
    "words",
    [("tournament", "standings"), ("tournament", "standings", "--csv"), ("tournament", "show"),
     ("tournament", "watch"), ("tournament", "start")],
)  # fmt: skip
def test_what_cannot_be_an_id_names_no_tournament(
    run: Run, logged_in: Client, words: tuple[str, ...]
) -> None:
    said = "Error: no tournament is called Spring cup; see: rage tournament list\n"
    assert run(*words, "Spring cup", status=1).output == said


def test_a_match_and_a_bot_that_cannot_be_are_none(run: Run, logged_in: Client) -> None:
    assert "a/b is not the id of a match" in run("match", "show", "a/b", status=2).output
    assert run("match", "show", "t_x-0", status=1).output == "Error: no match t_x-0\n"
    assert "no bot bot_a b" in run("bot", "show", "bot_a b", status=1).output


def test_standings_come_in_one_form(run: Run, logged_in: Client) -> None:
    assert "not both" in run("tournament", "standings", "t_x", "--csv", "--json", status=2).output


def test_a_scheduled_tournament_says_what_starts_it(run: Run, logged_in: Client, prompt: None) -> None:
    ids = [logged_in.submit(f"bot {number}", "bot.py", CODE)["id"] for number in range(4)]
    for given, told in (
        ("manual", "rage tournament start t_"),
        ("2031-02-03T04:05:06Z", "2031-02-03T04:05:06Z"),
    ):
        made = run("tournament", "create", "A", *ids, "--start-at", given)
        assert told in made.output
        assert told in run("tournament", "show", made.output.partition(":")[0]).output


def test_switches_without_a_preset_are_fundexs(run: Run, logged_in: Client, prompt: None) -> None:
    ids = [logged_in.submit(f"bot {number}", "bot.py", CODE)["id"] for number in range(4)]
    words = ["tournament", "create", "A", *ids, "--start-at", "manual", "--rules", '{"secret_bids": true}']
    assert json.loads(run(*words, "--json").stdout)["rules"] == {"preset": "fundex", "secret_bids": True}


def test_a_pool_without_results_names_those_with_some(
    run: Run, logged_in: Client, cup: dict[str, Any]
) -> None:
    for name in ("korean", "fundex-0123abcd"):
        said = run("rankings", "--rules", name).output
        assert f"no rated matches yet: {name}, 4 at a table" in said
        assert "there are rankings of: --rules fundex-" in said


@pytest.mark.parametrize("words", [(), ("--json",), ("--csv",), ("compare", "bot 0", "bot 1")])
def test_unknown_rules_have_no_rankings(run: Run, logged_in: Client, words: tuple[str, ...]) -> None:
    said = run("rankings", *words, "--rules", "foo", status=1).output
    assert "no rule set foo; there are " in said and "fundex" in said


def test_a_folder_is_looked_through_before_it_is_sent(run: Run, logged_in: Client, home: Path) -> None:
    folder = home / "talker"
    folder.mkdir()
    (folder / "main.py").write_text("print()\n")
    said = run("submit", str(folder), status=1).output
    assert 'run = ["python", "main.py"]' in said
    assert "bot.py with the functions bid and play" in said
    assert list(logged_in.bots()) == []
    (folder / "bot.py").write_bytes(CODE)
    assert json.loads(run("submit", str(folder), "--json").stdout)["kind"] == "zip"


@pytest.mark.parametrize(
    ("name", "run_by"),
    [("spy.js", '["node", "spy.js"]'), ("spy.sh", '["bash", "spy.sh"]'), ("spy", '["./spy"]')],
)
def test_who_sends_another_language_is_told_how(run: Run, home: Path, name: str, run_by: str) -> None:
    (home / name).write_text("x")
    assert f"bot.toml that says run = {run_by}" in run("submit", str(home / name), status=1).output


def test_a_refused_upload_names_what_was_given(run: Run, logged_in: Client, home: Path) -> None:
    folder = home / "spy"
    folder.mkdir()
    (folder / "bot.toml").write_text('run = ["node", "main.js"]')
    (folder / "main.js").write_text("x")
    said = run("submit", str(folder), status=1).output
    assert f"{folder}: bot.toml: run starts with" in said and "code:" not in said


@pytest.mark.parametrize(
    ("share", "said"),
    [(None, ""), (0, "0 %"), (0.001, "under 1 %"), (0.5, "50 %"), (0.999, "over 99 %"), (1.0, "100 %")],
)
def test_a_share_is_said_in_whole_percent(share: float | None, said: str) -> None:
    assert percent(share) == said


def test_what_is_probable_is_never_said_to_be_certain() -> None:
    assert [probability(share) for share in (0.0, 0.5, 1.0)] == ["under 1 %", "50 %", "over 99 %"]


@pytest.mark.parametrize("terminal", [True, False])
def test_no_cell_of_a_table_commands_a_terminal(
    terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    table((Column("what happened"),), [["\x1b[2J\x9b31m\u202e[red]x\nOK"]], empty="")
    said = capsys.readouterr().out
    assert "?[2J?31m?[red]x OK" in said and not any(bad in said for bad in ("\x1b[2J", "\x9b", "\u202e"))


def test_a_comparison_has_an_interval_once_both_ends_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    found = {"id": "c_1", "status": "running", "verdict": None, "llr": 0.0, "groups": 1, "lower": -2.94,
             "upper": 2.94, "elo0": 0, "elo1": 5, "a": {"name": "a", "version": 1},
             "b": {"name": "b", "version": 1},
             "elo": {"value": -500.0, "low": None, "high": -427.3},
             "points": {"value": -2.0, "low": -3.0, "high": -1.0}}  # fmt: skip
    show(found)
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2] for line in said[-2:]] == [
        "-500.0 Elo",
        "-2.0 points a match (-3.0 to -1.0)",
    ]


def test_a_new_bot_is_named_by_what_names_a_file(run: Run) -> None:
    assert "a-z, A-Z, 0-9" in run("new", "ไทย", status=2).output
