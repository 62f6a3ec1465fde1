"""Settings: what is read, what is refused and by which name, what is never shown."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.settings import Settings, SettingsError, misspelt


def settings(**variables: str) -> Settings:
    return Settings.from_environment({"RAGE_DATA_DIR": "/srv/rage", **variables})


def test_with_nothing_set_everything_lives_in_the_data_directory() -> None:
    made = settings()
    assert made.database_url == "sqlite:////srv/rage/rage.sqlite3"
    assert made.redis_url is None
    assert made.socket == Path("/srv/rage/run/valkey.sock")
    assert (made.host, made.port) == ("127.0.0.1", 8000)
    assert made.workers == len(os.sched_getaffinity(0))


def test_the_data_directory_is_found_from_home() -> None:
    assert Settings.from_environment({}).data_dir == Path.home() / ".local/share/rage-arena"


@pytest.mark.parametrize(
    ("variable", "value", "right"),
    [
        ("RAGE_PORT", "80000", "whole number from 0 to 65535"),
        ("RAGE_PORT", "tcp://10.0.0.1:80", "whole number"),
        ("RAGE_PORT", "-1", "whole number"),
        ("RAGE_PORT", "\uff18\uff10", "whole number"),
        ("RAGE_WORKERS", "0", "from 1 to"),
        ("RAGE_WORKERS", "two", "whole number"),
        ("RAGE_PUBLIC_READ", "maybe", "true or false"),
        ("RAGE_LOG_LEVEL", "loud", "debug, info, warning, error"),
        ("RAGE_HOST", "http://localhost", "address or a host name"),
        ("RAGE_DATABASE_URL", "mysql://localhost/rage", "sqlite:///FILE or postgresql://"),
        ("RAGE_DATABASE_URL", "sqlite://", "sqlite:///FILE"),
        ("RAGE_DATABASE_URL", "sqlite:///:memory:", "sqlite:///FILE"),
        ("RAGE_DATABASE_URL", "postgresql://localhost", "/DATABASE"),
        ("RAGE_REDIS_URL", "localhost:6379", "redis://HOST:PORT"),
        ("RAGE_REDIS_URL", "unix://", "unix:///PATH"),
        ("RAGE_INTERPRETERS", "node", "names and whole paths, such as node=/usr/bin/node"),
        ("RAGE_INTERPRETERS", "node=node", "names and whole paths"),
        ("RAGE_INTERPRETERS", "No De=/usr/bin/node", "names and whole paths"),
        ("RAGE_INTERPRETERS", "python=/usr/bin/python3", "RAGE_SANDBOX_PYTHON"),
        ("RAGE_INTERPRETERS", "node=/a,node=/b", "lists node twice"),
        ("RAGE_DATA_DIR", "~no_such_person_here/rage", "must be a path"),
    ],
)
def test_a_bad_value_is_refused_by_name_with_what_would_be_right(
    variable: str, value: str, right: str
) -> None:
    with pytest.raises(SettingsError) as refusal:
        Settings.from_environment({variable: value})
    assert str(refusal.value).startswith(variable)
    assert right in str(refusal.value)


def test_interpreters_are_read_by_name_and_handed_on_as_they_were_written() -> None:
    made = settings(RAGE_INTERPRETERS="node=/usr/bin/node, bash = /bin/bash,")
    assert made.interpreters == {"node": "/usr/bin/node", "bash": "/bin/bash"}
    assert made.environment()["RAGE_INTERPRETERS"] == "node=/usr/bin/node,bash=/bin/bash"
    assert settings().interpreters == {}


def test_a_refused_address_does_not_show_its_password() -> None:
    with pytest.raises(SettingsError) as refusal:
        settings(RAGE_DATABASE_URL="mysql://rage:hunter2@db/rage")
    assert "hunter2" not in str(refusal.value)


def test_an_empty_variable_counts_as_unset() -> None:
    assert settings(RAGE_PORT="", RAGE_REDIS_URL=" ") == settings()


def test_children_given_the_environment_read_the_same_settings() -> None:
    made = settings(RAGE_PORT="0", RAGE_PUBLIC_READ="no", RAGE_REDIS_URL="redis://:pw@cache:6380/2")
    assert Settings.from_environment(made.environment()) == made


@given(st.integers(0, 65535), st.booleans(), st.integers(1, 512))
def test_any_valid_settings_survive_the_trip_through_the_environment(
    port: int, public: bool, workers: int
) -> None:
    made = settings(RAGE_PORT=str(port), RAGE_PUBLIC_READ=str(public), RAGE_WORKERS=str(workers))
    assert (made.port, made.public_read, made.workers) == (port, public, workers)
    assert Settings.from_environment(made.environment()) == made


def test_a_relative_database_file_is_made_absolute() -> None:
    assert settings(RAGE_DATABASE_URL="sqlite:///here.db").database_url == f"sqlite:///{Path.cwd()}/here.db"


def test_describe_hides_passwords_and_names_every_variable() -> None:
    rows = settings(
        RAGE_DATABASE_URL="postgresql://rage:hunter2@db:5433/rage", RAGE_REDIS_URL="rediss://:hunter3@cache/0"
    ).describe()
    shown = {row[0]: row[1] for row in rows}
    assert shown["RAGE_DATABASE_URL"] == "postgresql://rage:***@db:5433/rage"
    assert shown["RAGE_REDIS_URL"] == "rediss://:***@cache/0"
    assert not any("hunter" in cell for row in rows for cell in row)
    assert all(meaning for *_, meaning in rows)


def test_a_token_is_neither_shown_nor_repeated_when_it_is_refused() -> None:
    rows = {row[0]: row[1] for row in settings(RAGE_METRICS_TOKEN="correct-horse-battery").describe()}
    assert rows["RAGE_METRICS_TOKEN"] == "***"
    with pytest.raises(SettingsError, match="16 or more letters") as refused:
        settings(RAGE_METRICS_TOKEN="hunter2")
    assert "hunter2" not in str(refused.value)


def test_defaults_shown_are_the_defaults_used() -> None:
    made = {name: value for name, value, default, _ in Settings.from_environment({}).describe() if default}
    again = Settings.from_environment(
        {name: default for name, _, default, _ in Settings.from_environment({}).describe()}
    )
    assert {name: value for name, value, default, _ in again.describe() if default} == made


def test_a_long_data_directory_gets_a_short_socket_of_its_own() -> None:
    first, second = (settings(RAGE_DATA_DIR="/srv/" + letter * 120) for letter in "ab")
    assert len(os.fsencode(first.socket)) < 100
    assert first.socket != second.socket
    assert first.socket == settings(RAGE_DATA_DIR="/srv/" + "a" * 120).socket


def test_an_address_of_a_running_redis_is_passed_on() -> None:
    made = settings(RAGE_REDIS_URL="redis://cache:6379/3")
    assert made.client_url == made.broker_url == "redis://cache:6379/3"
    assert settings(RAGE_REDIS_URL="unix:///run/redis.sock?db=3").broker_url == (
        "redis+socket:///run/redis.sock?virtual_host=3"
    )


def test_a_variable_nobody_reads_is_pointed_out() -> None:
    assert misspelt({"RAGE_WORKER": "2", "RAGE_PORT": "1", "RAGE_QUITE_ELSE": "", "PATH": ""}) == [
        "RAGE_WORKER is not a setting; RAGE_WORKERS is"
    ]
