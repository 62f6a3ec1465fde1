"""The `rage` command against the real application over real HTTP."""

import json
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

import engine
from api import saved, shown
from api.cli import main
from api.client import Client
from api.commands import asked
from api.commands.bots import _show_faults as show_faults
from api.commands.compare import follow
from api.commands.follow import _tell as tell
from service import presence, tables
from service.formats import FORMATS
from service.jobs import InlineQueue
from service.sprt import FEWEST
from service.work import Arena

CODE = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"
CASE = {
    "rules": {"preset": "fundex"}, "players": 2, "dealer": 1, "hands": [["B15"], ["Y0"]], "pile": ["Y3"],
    "moves": [1, 0, "B15", "Y0"],
}  # fmt: skip
Run = Callable[..., Result]
pytestmark = pytest.mark.usefixtures("home")


def test_a_login_is_kept_for_its_owners_eyes_only(run: Run, server: str) -> None:
    said = run("login", server, "--register", "ada").output
    assert "You are ada" in said
    assert stat.S_IMODE(saved.path().stat().st_mode) == 0o600
    login = saved.load()
    assert login is not None
    assert login.token not in said
    run("login", server, input=login.token + "\n")
    assert saved.load() == login


def test_a_login_that_is_refused_keeps_the_old_one(run: Run, server: str, logged_in: Client) -> None:
    before = saved.load()
    assert "does not know this token" in run("login", server, "--token", "rage_wrong", status=1).output
    assert "is taken" in run("login", server, "--register", "ada in", status=1).output
    run("login", server, "--register", "eve", "--token", "x", status=2)
    assert saved.load() == before


def test_a_saved_token_goes_to_its_own_server_only(logged_in: Client) -> None:
    for url, token in ((logged_in.url, logged_in.token), ("http://127.0.0.1:9", None)):
        with click.Context(main, obj={"url": url, "token": None}):
            assert saved.client().token == token


def test_url_and_token_may_come_from_the_environment(run: Run, logged_in: Client, home: Path) -> None:
    saved.path().unlink()
    env = {"RAGE_URL": logged_in.url, "RAGE_TOKEN": logged_in.token}
    assert "no such bots" in run("bots", "--mine", env=env).output
    assert "you are not logged in" in run("--url", logged_in.url, "bots", "--mine", status=1).output


def test_a_damaged_login_is_said_so(run: Run, logged_in: Client) -> None:
    saved.path().write_text("{}")
    assert "log in again" in run("bots", status=1).output


def test_a_server_that_is_away_is_an_error_in_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.transport.PATIENCE", 0.2)
    said = run("--url", "http://127.0.0.1:1", "bots", status=4).output
    assert said.startswith("Error: http://127.0.0.1:1 does not answer")
    assert len(said.splitlines()) == 1


def test_a_bot_is_submitted_again_as_its_next_version(run: Run, logged_in: Client, bot: Path) -> None:
    first = json.loads(run("submit", str(bot), "--public", "--description", "counts", "--json").stdout)
    again = json.loads(run("submit", str(bot), "--json").stdout)
    assert (first["number"], again["number"], first["bot_id"]) == (1, 2, again["bot_id"])
    assert logged_in.bot(first["bot_id"])["description"] == "counts"
    assert "spy v2" in run("bots", "--mine").output
    assert json.loads(run("bots", "--json").stdout)[0]["id"] == first["bot_id"]
    assert "Error: --name: " in run("submit", str(bot), "--name", "", status=1).output
    assert logged_in.bot(first["bot_id"])["version"] == 2


def test_a_folder_is_packed(run: Run, logged_in: Client, home: Path) -> None:
    folder = home / "packed"
    (folder / ".git").mkdir(parents=True)
    (folder / "bot.toml").write_text('run = ["python", "main.py"]')
    (folder / "main.py").write_text("print()")
    (folder / ".git" / "secret").write_text("x")
    made = json.loads(run("submit", str(folder), "--json").stdout)
    assert (made["kind"], made["filename"]) == ("zip", "packed.zip")
    assert b".git" not in logged_in.code(made["bot_id"], 1)


def test_waiting_for_a_check_ends_with_its_verdict(
    run: Run, logged_in: Client, bot: Path, prompt: None
) -> None:
    assert "is ready" in run("submit", str(bot), "--wait").output
    bot.write_text("raise ValueError\n")
    said = run("submit", str(bot), "--wait", status=1).output
    assert "is rejected" in said
    assert "error (line 1): it raised" in said
    told = json.loads(run("submit", str(bot), "--wait", "--json", status=1).stdout)
    assert (told["status"], told["report"]["error"]["line"]) == ("rejected", 1)


def test_an_upload_that_is_refused_names_the_reason(run: Run, logged_in: Client, bot: Path) -> None:
    bot.write_bytes(b"")
    assert f"{bot}: the file is empty" in run("submit", str(bot), status=1).output
    run("submit", str(bot.with_name("nothing.py")), status=2)


def test_a_bot_is_retired_by_its_name(run: Run, logged_in: Client, bot: Path) -> None:
    run("submit", str(bot))
    run("retire", "SPY", "--yes")
    assert "retired" in run("bots").output
    assert "no bot is called nobody" in run("retire", "nobody", "--yes", status=1).output


def test_an_organiser_leads_a_tournament_from_start_to_end(
    run: Run, four: list[str], play_all: Callable[..., None], prompt: None
) -> None:
    words = [
        "tournament",
        "create",
        "Autumn",
        "bot 0",
        "bot 1:1",
        *four[2:],
        "--deals",
        "1",
        "--start-at",
        "manual",
    ]
    rules = ["--rules", '{"preset": "amigo", "hand_sizes": [2]}', "--limits", '{"decision_ms": 2000}']
    made = json.loads(run(*words, *rules, "--json").stdout)
    assert (made["status"], made["rules"]["preset"], made["limits"]["decision_ms"]) == (
        "scheduled",
        "amigo",
        2000,
    )
    one = made["id"]
    for verb, status in [("start", "running"), ("pause", "paused"), ("resume", "running")]:
        assert f"Autumn, {status}" in run("tournament", verb, one).output
    assert run("tournament", "standings", one).stdout.count("0.0") == 4
    play_all()
    watched = run("tournament", "watch", one)
    assert "Autumn: 4 of 4" in watched.stderr
    assert "bot 1 v1" in watched.stdout
    assert run("tournament", "standings", one, "--csv").stdout.startswith("place,entrant,")
    assert len(json.loads(run("tournament", "standings", one, "--json").stdout)) == 4
    assert run("tournament", "crosstable", one).output.count("bot 0") == 3
    assert run("tournament", "crosstable", one, "--csv").stdout.startswith("a,b,a_name,b_name,games,")
    assert len(json.loads(run("tournament", "crosstable", one, "--json").stdout)) == 6
    run("tournament", "crosstable", one, "--csv", "--json", status=2)
    assert "not tested" in run("tournament", "fairness", one).output
    assert json.loads(run("tournament", "fairness", one, "--json").stdout)["groups"] == 1
    assert "4 of 4" in run("tournament", "list", "--status", "finished").output
    assert "4 of 4 matches played" in run("tournament", "show", one).output
    assert "cannot be cancelled" in run("tournament", "cancel", one, status=1).output


def test_an_organiser_changes_a_draft_and_authors_come_and_go(run: Run, four: list[str]) -> None:
    assert set(asked.FORMATS) == set(FORMATS)
    words = ("tournament", "create", "Open", *four[:3], "--format", "gauntlet", "--challenger", four[0])
    made = json.loads(run(*words, "--start-at", "draft", "--open", "--limit", "4", "--json").stdout)
    one = made["id"]
    assert (made["status"], made["challenger"], made["entry"]["limit"]) == ("draft", four[0], 4)
    assert "bot 3" in run("tournament", "enter", one, four[3]).output
    said = run("tournament", "withdraw", one, four[3]).output
    assert f"{four[3]} is out; Open is draft, 0 of up to " in said
    assert "that is of a full field of 4; 3 entered so far" in run("tournament", "show", one).output
    assert "0 of up to " in run("tournament", "list").output
    run("tournament", "edit", one, status=2)
    changes = ("--name", "Round", "--challenger", four[1], "--deals", "1")
    assert "Round, draft, gauntlet" in run("tournament", "edit", one, *four, *changes).output
    assert "Round, running, gauntlet" in run("tournament", "start", one).output
    out = run("tournament", "disqualify", one, four[2], "copied").output
    assert "disqualified: copied" in out
    assert "0 of 4 matches played, 4 fell away" in out
    assert "0 of 4, 4 fell away" in run("tournament", "list").output
    assert "v1, disqualified " in run("tournament", "standings", one).output
    assert "only a ladder" in run("tournament", "stop", one, status=1).output


def test_a_cancelled_tournament_is_watched_to_its_reason(
    run: Run, logged_in: Client, four: list[str]
) -> None:
    made = json.loads(run("tournament", "create", "A", *four, "--start-at", "manual", "--json").stdout)
    run("tournament", "cancel", made["id"])
    said = run("tournament", "watch", made["id"], status=1).output
    assert "cancelled by ada" in said
    total, void = (made["progress"]["total"], logged_in.tournament(made["id"])["progress"]["void"])
    assert (f"0 of {total} matches played, {void} fell away" in said) == (void > 0)


def test_strikes_of_one_match_that_read_alike_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    told = {
        "match_id": "t_k4-1",
        "round": 1,
        "asked": "bid",
        "kind": "crash",
        "text": "it ended",
        "replay": "",
    }
    show_faults({"name": "spy"}, {"number": 1}, [told, told, told, {**told, "round": 2}])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("t_k4-1")]
    assert [line.endswith("it ended (3 times)") for line in lines] == [True, False]


def test_who_leaves_is_named_once_by_who_watches(capsys: pytest.CaptureFixture[str]) -> None:
    left = [{"entrant": number, "name": f"bot {number}", "status": "withdrawn"} for number in (4, 2)]
    gone: set[int] = set()
    with shown.bar("A") as bar:
        for many in (1, 1, 2):
            tell(bar, {"type": "left", "data": {"entrants": left[:many]}}, gone)
    assert capsys.readouterr().err.splitlines() == ["bot 4 withdrawn", "bot 2 withdrawn"]


def test_a_tournament_that_cannot_be_is_refused_field_by_field(run: Run, four: list[str]) -> None:
    said = run(
        "tournament", "create", "A", *four, "--rules", '{"preset": "x"}', "--seed", " ", status=1
    ).output
    assert "rules.preset: must be one of" in said
    assert "seed: must be one line" in said
    run("tournament", "create", "A", *four, "--limits", "[1]", status=2)
    run("tournament", "create", "A", *four, "--rules", "{", status=2)
    assert "nothing" in run("tournament", "show", "t_nothing", status=1).output.lower()


def test_matches_records_faults_and_rankings_are_shown(
    run: Run,
    four: list[str],
    make_spec: Any,
    play_all: Callable[..., None],
    logged_in: Client,
    arena: Arena,
    home: Path,
) -> None:
    made = logged_in.create_tournament(**make_spec(four, rules={"preset": "fundex"}, deals=1))
    play_all()
    assert isinstance(arena.queue, InlineQueue)
    arena.queue.run()
    match = f"{made['id']}-0"
    shown = run("match", "show", match).output
    assert "illegal" in shown and "cards, play: points above the table's mean" in shown
    assert "earned: those beyond." in run("tournament", "standings", match.partition("-")[0]).output
    assert json.loads(run("match", "show", match, "--json").stdout)["id"] == match
    assert "R99 is no card" in run("faults", "bot 0").output
    assert json.loads(run("faults", four[0], "1", "--json").stdout)[0]["evidence"]
    assert "nothing went wrong" in run("faults", "bot 1").output
    shown = run("rankings").output
    assert shown.endswith(
        "A bot is provisional, and has no place, until it has played 10 deals "
        "and its pool is sure to within 60 Elo.\n"
    )
    assert json.loads(run("rankings", "--json").stdout)["matches"] == 4
    assert "no rated matches yet" in run("rankings", "--players", "9").output
    assert run("rankings", "--csv").stdout.startswith("place,bot_id,bot,version,owner")
    run("rankings", "--csv", "--json", status=2)
    told = run("rankings", "compare", four[0], f"{four[1]}:1").output
    assert "difference" in told and "is better with probability" in told and "4 matches together" in told
    points = run("rankings", "compare", four[0], four[1], "--model", "points", "--json").stdout
    assert json.loads(points)["unit"] == "points a match"
    run("rankings", "compare", four[0], four[0], status=1)
    file = home / "game.json"
    file.write_text(run("match", "record", match).stdout)
    assert run("verify", str(file)).output == "verified\n"


def test_a_record_that_was_tampered_with_is_told_apart(
    run: Run, four: list[str], make_spec: Any, play_all: Callable[..., None], logged_in: Client, home: Path
) -> None:
    made = logged_in.create_tournament(**make_spec(four))
    play_all()
    good = logged_in.record(f"{made['id']}-0")
    bad = good | {"scores": [score + 1 for score in good["scores"]]}
    assert run("verify", "-", input=json.dumps(bad), status=1).output.startswith("scores")
    lines = "\n".join(json.dumps(record) for record in (good, bad))
    assert run("verify", "-", input=lines, status=1).output.startswith("record 2: scores")
    assert (
        run("verify", "-", input=json.dumps(good) + "\n" + json.dumps(good)).output == "verified 2 records\n"
    )
    assert "not JSON" in run("verify", "-", input="{", status=2).output
    assert "neither a file" in run("verify", str(home / "nothing.json"), status=2).output


def test_a_match_of_the_server_is_verified_by_its_id(
    run: Run, four: list[str], make_spec: Any, play_all: Callable[..., None], logged_in: Client
) -> None:
    made = logged_in.create_tournament(**make_spec(four))
    play_all()
    over = logged_in.tournament(made["id"])
    secret = ("--secret", over["secret"], "--hash", made["secret_hash"])
    assert run("verify", f"{made['id']}-3", *secret).output == "verified\n"
    assert run("verify", f"{made['id']}-3", "--secret", "00" * 32, status=1).output
    assert run("verify", f"{logged_in.url}/matches/{made['id']}-3#r2").output == "verified\n"
    shown = run("match", "show", f"{logged_in.url}/matches/{made['id']}-3").output
    assert shown.startswith(f"{made['id']}-3: done")
    page = f"{logged_in.url}/tournaments/{made['id']}"
    assert run("tournament", "show", page).output.startswith(made["id"])
    assert run("bot", "show", f"{logged_in.url}/bots/{four[0]}").output.startswith(four[0])
    assert f"rage tournament show {made['id']}" in run("match", "show", page, status=2).output
    assert "no match" in run("verify", f"{made['id']}-9999", status=1).output


def test_a_round_is_settled(run: Run) -> None:
    told = json.loads(run("referee", "-", input=json.dumps(CASE)).stdout)
    assert told["bids"] == [1, 0]
    run("referee", "-", input=json.dumps(CASE | {"moves": [1, 0, "B15", "B15"]}), status=1)
    run("referee", "-", input="{", status=1)
    run("referee", "nothing.json", status=2)


def test_the_referees_example_is_a_whole_script(run: Run) -> None:
    example = re.search(r"\{.*\}", run("referee", "--help").output, re.DOTALL)
    assert example is not None
    assert json.loads(run("referee", "-", input=example[0]).stdout)["points"] == [5, 11]


def test_every_command_has_a_help_a_person_can_work_from(run: Run) -> None:
    listed = run("--help").output
    assert {"login", "submit", "tournament", "referee", "play", "check", "up", "demo"} <= set(listed.split())
    assert "Cannot be used here" not in listed
    with click.Context(main) as context:
        for name in main.list_commands(context):
            command = main.get_command(context, name)
            assert command is not None
            assert len(command.help or "") > 20, name


@pytest.mark.parametrize("group", [(), ("tournament",), ("match",), ("bot",), ("token",), ("rankings",)])
def test_no_list_of_commands_breaks_off_in_a_sentence(run: Run, group: tuple[str, ...]) -> None:
    assert "...\n" not in run(*group, "--help").output.partition("Commands:")[2]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("tournaments", "'tournament'"),
        ("verfy", "'verify'"),
        ("standings", "rage tournament standings"),
        ("record", "rage match record"),
    ],
)
def test_who_mistypes_a_command_is_told_what_it_is_close_to(run: Run, word: str, meant: str) -> None:
    said = run(word, status=2).output
    assert f"No such command '{word}'." in said and "Did you mean" in said and meant in said


def test_the_version_is_told_and_unknown_words_are_usage_errors(run: Run) -> None:
    assert (
        run("--version").output == f"rage {version('rage-arena')}, engine {engine.VERSION} (plain Python)\n"
    )
    run("dance", status=2)
    run("bots", "--nonsense", status=2)


def test_the_referee_needs_neither_the_web_nor_the_database() -> None:
    script = "import sys; from api.cli import main; main(['referee', '-'], standalone_mode=False)"
    check = f"import sys\ntry:\n    {script}\nexcept SystemExit:\n    pass\nprint(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", check], input=json.dumps(CASE), capture_output=True, text=True
    )
    loaded = set(done.stdout.splitlines()[-1].replace("'", "").strip("[]").split(", "))
    assert "engine.referee" in loaded
    assert not loaded & {
        "flask",
        "sqlalchemy",
        "marshmallow",
        "rich",
        "http.client",
        "importlib.metadata",
        "celery",
    }


def test_a_tournament_is_verified_from_its_secret_to_its_standings(
    run: Run, four: list[str], make_spec: Any, play_all: Callable[..., None], logged_in: Client, arena: Arena
) -> None:
    made = logged_in.create_tournament(**make_spec(four))
    one, noted = made["id"], made["secret_hash"]
    assert noted in run("tournament", "show", one).output
    assert "it is published when" in run("tournament", "verify", one, status=1).output
    play_all()
    done = run("tournament", "verify", one, "--hash", noted)
    assert done.stdout == "verified 8 matches on 2 deals, and the standings\n"
    assert "verifying: 8 of 8" in done.stderr
    assert "promised was 00" in run("tournament", "verify", one, "--hash", "00" * 32, status=1).output
    said = run("tournament", "verify", one, "--hash", noted[:12] + "…", status=2).output
    assert "must be all 64 hexadecimal digits" in said and "promised" not in said
    told = logged_in.tournament(one)
    record = logged_in.record(f"{one}-5")
    words = ["verify", "-", "--secret", told["secret"]]
    assert run(*words, "--hash", noted, input=json.dumps(record)).output == "verified\n"
    moved = json.dumps(record | {"about": record["about"] | {"group": 0}})
    assert "but group 0 is dealt from" in run(*words, input=moved, status=1).output
    assert "promised was" in run(*words, "--hash", "00" * 32, input=json.dumps(record), status=1).output
    assert "not hexadecimal" in run("verify", "-", "--secret", "x", input="{}", status=1).output
    run("verify", "-", "--hash", noted, input=json.dumps(record), status=2)
    run(*words, "--hash", noted[:12], input=json.dumps(record), status=2)
    with arena.work() as work:
        seat = tables.seat
        this = (seat.c.tournament_id == one, seat.c.number == 5, seat.c.seat == 2)
        work.db.execute(seat.update().where(*this).values(score=seat.c.score + 1))
    assert f"{one}-5: seats[2].score: " in run("tournament", "verify", one, status=1).stdout
    assert json.loads(run("tournament", "verify", one, "--json", status=1).stdout)["matches"] == 5


def test_a_tournament_is_planned_from_a_file(run: Run, four: list[str], home: Path, arena: Arena) -> None:
    file = home / "cup.json"
    spec = {"name": "Cup", "entrants": ["bot 0", "bot 1:1", *four[2:]], "deals": 5, "seed": "x"}
    file.write_text(json.dumps(spec))
    said = run("tournament", "plan", str(file)).output
    assert "20 matches of 4 on 5 deals" in said
    assert "each of 4 entrants plays 20, 5 in a seat; two meet 20 times" in said
    assert "nothing was measured yet" in said
    assert "no worker is there to play it" in said
    presence.here(arena, "w", "A", {})
    assert "with 1 worker, over at about" in run("tournament", "plan", "-", input=json.dumps(spec)).output
    told = json.loads(run("tournament", "plan", str(file), "--json").stdout)
    assert told["schedule"] in said
    opened = json.dumps({**spec, "start_at": "manual", "entry": {"open": True, "limit": 12}})
    shown = run("tournament", "plan", "-", input=opened).output
    assert shown.startswith("entry is open: all this is of a full field of 12; fewer play less\n")
    assert "who meets whom follows from who enters" in shown
    assert "there are no such tournaments" in run("tournament", "list").output
    run("tournament", "plan", "-", input="[1]", status=2)
    assert (
        "deals: must be" in run("tournament", "plan", "-", input='{"name": "x", "deals": 0}', status=1).output
    )


def test_two_bots_are_compared(
    run: Run, four: list[str], play_all: Callable[..., None], prompt: None, logged_in: Client
) -> None:
    assert f"after {FEWEST} deals at the earliest" in " ".join(run("compare", "--help").output.split())
    words = ["compare", "bot 1", "bot 2:1", "--cap", "30", "--elo0", "-5", "--elo1", "5"]
    words += ["--rules", '{"preset": "fundex", "hand_sizes": [2, 1]}']
    made = json.loads(run(*words, "--no-wait", "--json").stdout)
    assert (made["status"], made["players"]) == ("running", 2)
    play_all()
    with click.Context(main, obj={"url": None, "token": None}):
        over = follow(logged_in, made["id"])
    assert over["verdict"] == "undecided"
    said = run(*words, "--no-wait", "--players", "3", "--field", "bot 3").output
    assert "bot 1 v1" in said and "no verdict" in said
    assert "-2.94 speaks for a lead of -5 Elo, 2.94 for 5" in said
    assert "is named twice" in run("compare", "bot 1", "bot 1", status=1).output
