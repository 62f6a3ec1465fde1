"""`rage-admin`: each command on a real database, and the doctor on installations well and ill."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import text, update

from service import accounts, bots, comparisons, doctor, presence, reap, tables, trials, valkey
from service.admin import main
from service.doctor import State, examine
from service.errors import Unauthorized
from service.jobs import InlineQueue
from service.lock import Lock
from service.settings import Settings
from service.work import Arena


def admin(data: Path, *words: str, **env: str) -> Result:
    return CliRunner().invoke(main, ["--data-dir", str(data), *words], env={**os.environ, **env})


@contextmanager
def arena(data: Path) -> Iterator[Arena]:
    made = Arena.open(Settings.from_environment({"RAGE_DATA_DIR": str(data)}), InlineQueue())
    yield made
    made.close()


def states(data: Path, **env: str) -> dict[str, State]:
    return {each.what: each.state for each in examine({**os.environ, "RAGE_DATA_DIR": str(data), **env})}


def test_settings_are_shown_with_values_and_without_passwords(tmp_path: Path) -> None:
    shown = admin(
        tmp_path, "settings", RAGE_DATABASE_URL="postgresql://rage:hunter2@db/rage", RAGE_PORT="8123"
    )
    assert shown.exit_code == 0
    assert "postgresql://rage:***@db/rage" in shown.output
    assert "8123" in shown.output
    assert "hunter2" not in shown.output


@pytest.mark.parametrize("words", [("settings",), ("migrate",), ("house",), ("accounts", "list")])
def test_a_bad_setting_stops_every_command_by_its_name(tmp_path: Path, words: tuple[str, ...]) -> None:
    said = admin(tmp_path, *words, RAGE_WORKERS="none")
    assert said.exit_code == 1
    assert "RAGE_WORKERS must be a whole number" in said.output


@pytest.mark.parametrize("group", [(), ("accounts",), ("records",)])
def test_no_list_of_commands_breaks_off_in_a_sentence(tmp_path: Path, group: tuple[str, ...]) -> None:
    assert "...\n" not in admin(tmp_path, *group, "--help").output.partition("Commands:")[2]


def test_migrating_twice_is_as_good_as_once(tmp_path: Path) -> None:
    new = tmp_path / "not yet" / "there"
    assert [admin(new, "migrate").exit_code for _ in range(2)] == [0, 0]
    assert (new / "rage.sqlite3").exists()


def test_who_waits_for_the_schema_is_told_what_is_missing(tmp_path: Path) -> None:
    never = admin(tmp_path, "migrate", "--wait", "0")
    assert never.exit_code == 1 and "no schema yet" in never.output and "rage-admin migrate" in never.output
    admin(tmp_path, "migrate")
    assert admin(tmp_path, "migrate", "--wait", "0").exit_code == 0


@pytest.mark.parametrize(("revision", "status"), [("0001", 1), ("9999", 0)])
def test_only_an_older_schema_is_waited_for(tmp_path: Path, revision: str, status: int) -> None:
    """During an update old and new programs share the new schema."""
    admin(tmp_path, "migrate")
    with arena(tmp_path) as opened, opened.work() as work:
        work.db.execute(text("UPDATE alembic_version SET version_num = :number"), {"number": revision})
    said = admin(tmp_path, "migrate", "--wait", "0")
    assert said.exit_code == status
    assert ("at schema 0001: `rage-admin migrate` is due" in said.output) == bool(status)


def test_backups_beyond_those_to_keep_are_deleted_oldest_first(tmp_path: Path) -> None:
    admin(tmp_path, "migrate")
    kept = tmp_path / "kept"
    kept.mkdir()
    for age in range(4):
        (kept / f"old-{age}.rage").touch()
        os.utime(kept / f"old-{age}.rage", (1e9 - age, 1e9 - age))
    (kept / "notes.txt").touch()
    said = admin(tmp_path, "backup", str(kept / "new.rage"), "--keep", "3")
    assert said.exit_code == 0, said.output
    assert {path.name for path in kept.iterdir()} == {"new.rage", "old-0.rage", "old-1.rage", "notes.txt"}
    assert said.output.count("deleted") == 2


def test_only_programs_that_there_are_can_be_run(tmp_path: Path) -> None:
    said = admin(tmp_path, "run", "players and desk")
    assert said.exit_code == 2
    assert "'players', 'api', 'desk', 'beat'" in said.output


def test_an_account_is_made_listed_renewed_and_revoked(tmp_path: Path) -> None:
    token = admin(tmp_path, "accounts", "create", "Ada", "--role", "admin").stdout.strip()
    further = admin(tmp_path, "accounts", "renew", "Ada").stdout.strip()
    with arena(tmp_path) as open_arena:
        assert accounts.authenticate(open_arena, token).admin
        assert accounts.authenticate(open_arena, further).name == "Ada"
    listed = admin(tmp_path, "accounts", "list").output
    assert "Ada" in listed
    assert token not in listed
    assert "2" in admin(tmp_path, "accounts", "revoke", "Ada").output
    with arena(tmp_path) as open_arena, pytest.raises(Unauthorized):
        accounts.authenticate(open_arena, token)


def test_a_taken_name_and_an_unknown_one_are_refused_in_one_sentence(tmp_path: Path) -> None:
    admin(tmp_path, "accounts", "create", "Ada")
    for words in (("create", "ada"), ("revoke", "Nobody"), ("renew", "Nobody")):
        said = admin(tmp_path, "accounts", *words)
        assert said.exit_code == 1
        assert said.output.startswith("Error: ")
        assert "Traceback" not in said.output


def test_the_house_bots_are_installed_once(tmp_path: Path) -> None:
    assert [admin(tmp_path, "house").exit_code for _ in range(2)] == [0, 0]
    assert admin(tmp_path, "accounts", "list").output.count("house") == 1


def test_an_operator_needs_no_open_registration(tmp_path: Path) -> None:
    assert admin(tmp_path, "accounts", "create", "Ada", RAGE_OPEN_REGISTRATION="false").exit_code == 0


@pytest.mark.sandbox
def test_a_fresh_machine_is_well_and_nothing_runs_yet(tmp_path: Path) -> None:
    said = admin(tmp_path, "doctor")
    assert said.exit_code == 0, said.output
    found = states(tmp_path / "not" / "made")
    assert found["sandbox"] is State.WELL
    asleep = ("data directory", "rage up", "database", "records", "broker", "workers", "watch")
    assert {found[what] for what in asleep} == {State.ASLEEP}
    assert not list(tmp_path.iterdir()), "the doctor makes nothing"


def test_trouble_ends_with_status_one_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = admin(tmp_path / "file" / "data", "doctor")
    assert said.exit_code == 1
    assert "Choose another with --data-dir" in said.output


def test_a_bad_setting_is_the_only_finding(tmp_path: Path) -> None:
    assert [(each.what, each.state) for each in examine({"RAGE_PORT": "x"})] == [("settings", State.ILL)]


def test_a_misspelt_variable_is_odd_but_no_trouble(tmp_path: Path) -> None:
    assert states(tmp_path, RAGE_WORKER="2")["settings"] is State.ODD


def test_a_broker_of_ones_own_that_is_away_is_trouble_and_its_password_stays_hidden(tmp_path: Path) -> None:
    env = {"RAGE_DATA_DIR": str(tmp_path), "RAGE_REDIS_URL": "redis://:hunter2@127.0.0.1:1/0"}
    found = {each.what: each for each in examine({**os.environ, **env})}
    assert found["broker"].state is State.ILL
    assert not any("hunter2" in each.text for each in found.values())


def test_an_old_schema_is_trouble_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "rage.sqlite3").touch()
    found = {each.what: each for each in examine({**os.environ, "RAGE_DATA_DIR": str(tmp_path)})}
    assert found["database"].state is State.ILL
    assert "rage-admin migrate" in found["database"].text


def test_while_rage_up_runs_a_silent_broker_or_missing_workers_are_trouble(tmp_path: Path) -> None:
    admin(tmp_path, "migrate")
    (tmp_path / "run").mkdir(exist_ok=True)
    lock = Lock(tmp_path / "run" / "rage.lock")
    lock.take()
    lock.write(pid=os.getpid(), address="http://127.0.0.1:1")
    found = states(tmp_path)
    lock.release()
    assert found["rage up"] is State.WELL
    assert (found["broker"], found["workers"]) == (State.ILL, State.ILL)
    assert states(tmp_path)["broker"] is State.ASLEEP


def test_a_broker_that_answers_is_well(tmp_path: Path) -> None:
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path)})
    with subprocess.Popen(valkey.arguments(settings), stdout=subprocess.DEVNULL) as server:
        while not valkey.answers(settings.client_url):
            assert server.poll() is None
        found = states(tmp_path)
        server.terminate()
    assert found["broker"] is State.WELL


@pytest.mark.parametrize("words", [("list",), ("renew", "Ada"), ("revoke", "Ada")])
def test_a_mistyped_directory_becomes_no_installation(tmp_path: Path, words: tuple[str, ...]) -> None:
    said = admin(tmp_path / "typo", "accounts", *words)
    assert said.exit_code == 1
    assert "There is no database" in said.output
    assert not (tmp_path / "typo").exists()


# Backups, and what the doctor finds in a database that has been through something.


def test_a_backup_is_restored_where_there_is_nothing_and_replaces_only_what_it_may(tmp_path: Path) -> None:
    admin(tmp_path / "a", "accounts", "create", "Ada")
    file = str(tmp_path / "backup")
    made = admin(tmp_path / "a", "backup", file)
    assert made.exit_code == 0, made.output
    assert "2 rows" in made.output, "an account and its token"
    twice = admin(tmp_path / "a", "backup", file)
    assert (twice.exit_code, "--replace" in twice.output) == (1, True)
    assert admin(tmp_path / "a", "backup", file, "--replace").exit_code == 0
    assert "2 rows" in admin(tmp_path / "b", "restore", file).output
    assert "Ada" in admin(tmp_path / "b", "accounts", "list").output
    nowhere = admin(tmp_path / "a", "backup", str(tmp_path / "none" / "backup"))
    assert (nowhere.exit_code, nowhere.output) == (
        1, f"Error: There is no directory {tmp_path / 'none'}; make it, or name another file.\n"
    )  # fmt: skip
    again = admin(tmp_path / "b", "restore", file)
    assert (again.exit_code, "--replace" in again.output) == (1, True)
    assert admin(tmp_path / "b", "restore", file, "--replace").exit_code == 0


def test_a_damaged_backup_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "backup").write_bytes(b"nothing of the kind")
    said = admin(tmp_path / "a", "restore", str(tmp_path / "backup"))
    assert said.exit_code == 1
    assert "is not a whole backup" in said.output
    assert "Traceback" not in said.output


def test_nothing_is_restored_under_workers_that_are_there(tmp_path: Path) -> None:
    admin(tmp_path, "migrate")
    admin(tmp_path, "backup", str(tmp_path / "backup"))
    with arena(tmp_path) as made:
        presence.here(made, "w1", "A", {})
    said = admin(tmp_path, "restore", str(tmp_path / "backup"))
    assert said.exit_code == 1
    assert "Workers are there (w1)" in said.output


def test_a_clock_that_was_set_back_is_trouble(tmp_path: Path) -> None:
    admin(tmp_path, "migrate")
    with arena(tmp_path) as made:
        tomorrow = replace(made, clock=lambda: datetime.now(UTC) + timedelta(days=1))
        presence.here(tomorrow, "w1", "A", {})
    found = {each.what: each for each in examine({**os.environ, "RAGE_DATA_DIR": str(tmp_path)})}
    assert found["clock"].state is State.ILL
    assert "NTP" in found["clock"].text


def test_a_sheet_on_the_disk_and_a_version_without_verdict_are_told_with_their_remedy(tmp_path: Path) -> None:
    admin(tmp_path, "migrate")
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "t_x-1.aa.json").write_text("{}")
    with arena(tmp_path) as made:
        owner, _ = accounts.register(made, name="Ada")
        bot = bots.submit(made, owner, name="b", filename="b.py", content=b"def bid(view):\n    return 0\n")
        version = f"{bot.id}:1"
        for attempt in range(3):
            later = replace(made, clock=lambda n=attempt: datetime.now(UTC) + timedelta(minutes=n))
            trial = trials.claim(later, version)
            assert trial is not None
            trials.give_back(later, trial, "no memory")
    found = {each.what: each for each in examine({**os.environ, "RAGE_DATA_DIR": str(tmp_path)})}
    assert found["spool"].state is State.ODD
    assert "1 results wait" in found["spool"].text
    assert f"{version}: no memory" in found["checks"].text
    assert admin(tmp_path, "recheck", version).exit_code == 0
    assert admin(tmp_path, "recheck", version).exit_code == 1
    with arena(tmp_path) as made:
        assert bots.bot(made, owner, bot.id).status == "checking"


def test_it_is_trouble_when_nobody_looks_for_lost_work(tmp_path: Path) -> None:
    admin(tmp_path, "migrate")
    with arena(tmp_path) as made:
        reap.reap(replace(made, clock=lambda: datetime.now(UTC) - timedelta(seconds=30)))
    environment = {**os.environ, "RAGE_DATA_DIR": str(tmp_path)}
    stopped = doctor._watch(Settings.from_environment(environment))
    assert (stopped.state, stopped.text) == (State.ASLEEP, "nothing looks for lost work; `rage up` starts it")
    watch = doctor._watch(
        Settings.from_environment({**environment, "RAGE_REDIS_URL": "redis://127.0.0.1:1/0"})
    )
    assert watch.state is State.WELL
    assert re.fullmatch(r"lost work is looked for, last \d+ s ago", watch.text)
    with arena(tmp_path) as made:
        reap.reap(replace(made, clock=lambda: datetime.now(UTC) - timedelta(hours=1)))
    found = {
        each.what: each
        for each in examine(
            {**os.environ, "RAGE_DATA_DIR": str(tmp_path), "RAGE_REDIS_URL": "redis://127.0.0.1:1/0"}
        )
    }
    assert found["watch"].state is State.ILL
    assert "Start beat and desk" in found["watch"].text


def test_a_comparison_is_not_missed_among_the_ratings(tmp_path: Path) -> None:
    admin(tmp_path, "migrate")
    with arena(tmp_path) as made:
        owner, _ = accounts.register(made, name="Ada")
        code = b"def bid(view):\n    return 0\n"
        a, b = (bots.submit(made, owner, name=name, filename="b.py", content=code).id for name in "ab")
        with made.work() as work:
            work.db.execute(update(tables.version).values(status="ready"))
        comparisons.create(made, owner, {"a": a, "b": b})
    assert states(tmp_path)["ratings"] is State.WELL
