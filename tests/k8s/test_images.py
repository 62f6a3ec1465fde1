"""Dockerfile and compose.yaml: linted, of this version, starting what the code knows."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.admin import main
from service.programs import NAMES
from service.settings import Settings

from .conftest import K8S, ROOT, dockerfile_environment

DOCKERFILE = (K8S / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((K8S / "compose.yaml").read_text())["services"]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
OURS = {name: each for name, each in COMPOSE.items() if "build" in each}
FILTER = json.loads((K8S / "players-seccomp.json").read_text())


def linted(dockerfile: Path) -> "subprocess.CompletedProcess[str]":
    lint = [Path(sys.executable).with_name("hadolint"), dockerfile]
    return subprocess.run(lint, capture_output=True, text=True, check=False)


def test_the_linter_has_nothing_to_say() -> None:
    done = linted(K8S / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_linter_would_speak_up(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM debian:latest\nRUN cd /tmp\n")
    assert "DL3007" in linted(tmp_path / "Dockerfile").stdout


def test_images_run_as_nobody_in_particular_and_without_a_shell() -> None:
    for stage in DOCKERFILE.split("\nFROM ")[2:]:  # after the one that builds
        assert re.findall(r"^USER (.*)", stage, flags=re.MULTILINE)[-1] == "10001:10001"
        for line in re.findall(r"^(?:ENTRYPOINT|CMD) (.*)", stage, flags=re.MULTILINE):
            assert isinstance(json.loads(line), list)
    assert 'ENTRYPOINT ["rage-admin"]' in DOCKERFILE


def test_what_is_installed_is_locked_by_its_hash() -> None:
    installs = re.findall(r"pip install[^&]*", DOCKERFILE)
    assert len(installs) == 3
    assert all("--require-hashes" in each or "--no-index" in each for each in installs)
    for lock in re.findall(r"-r (\S+)", DOCKERFILE):
        pinned = (ROOT / lock).read_text()
        assert pinned.count("--hash=sha256:") >= pinned.count("==") > 0, lock


def test_the_build_sees_only_what_it_needs() -> None:
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] != "#"]
    assert lines[0] == "*"
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert {f"!{name}" for name in built["targets"]["wheel"]["packages"]} <= set(lines)


def test_versions_are_this_one() -> None:
    assert f"ARG VERSION={VERSION}" in DOCKERFILE
    assert set(re.findall(r"-t rage-arena-\w+:(\S+)", DOCKERFILE)) == {VERSION}
    assert {each["image"].rpartition(":")[2] for each in OURS.values()} == {VERSION}


def test_settings_of_images_and_services_can_be_read() -> None:
    for each in OURS.values():
        made = Settings.from_environment(dockerfile_environment() | each["environment"])
        assert made.database_url.startswith("postgresql://rage:rage@database:")
        assert made.client_url == "redis://redis:6379/0"


def test_every_program_is_a_service() -> None:
    begun = set()
    for each in OURS.values():
        verb, *words = each["command"]
        main.commands[verb].make_context(verb, [*words])
        begun.add(words[0] if verb == "run" else verb)
    assert begun == {*NAMES, "house"}


@pytest.mark.parametrize("name", sorted(OURS))
def test_services_have_no_right_they_can_do_without(name: str) -> None:
    service = OURS[name]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not {"privileged", "network_mode", "pid", "user"} & set(service)
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    loosened = [each for each in service["security_opt"] if each != "no-new-privileges:true"]
    assert not loosened or name == "players"


def test_whoever_is_waited_for_says_when_it_is_ready() -> None:
    for each in COMPOSE.values():
        for name, wanted in each.get("depends_on", {}).items():
            ends = wanted["condition"] == "service_completed_successfully"
            assert ends or "healthcheck" in COMPOSE[name], name


def test_players_may_finish() -> None:
    players = COMPOSE["players"]
    stop = Settings.from_environment(players["environment"]).stop_seconds
    assert int(players["stop_grace_period"].removesuffix("s")) >= stop + 15


UNDER_THE_FILTER = """
import json, os, sys
import pyseccomp
(rules,) = json.load(open(sys.argv[1]))["syscalls"]
made = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
for name in rules["names"]:
    try:
        made.add_rule(pyseccomp.ERRNO(rules["errnoRet"]), name)
    except (ValueError, OSError):
        pass  # unknown to this architecture
made.load()
os.execv(sys.executable, [sys.executable, "-P", "-m", "workers.sandbox"])
"""


@pytest.mark.sandbox
def test_bots_get_their_namespaces_under_the_filter_of_players() -> None:
    """As a container runtime would lay it over the pod; the sandbox tries itself out beneath."""
    argv = [sys.executable, "-P", "-c", UNDER_THE_FILTER, K8S / "players-seccomp.json"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["mode"] in ("A", "B"), told["notes"]


def test_the_filter_keeps_players_from_the_kernel() -> None:
    (rules,) = FILTER["syscalls"]
    assert (FILTER["defaultAction"], rules["action"]) == ("SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO")
    assert {"bpf", "keyctl", "ptrace", "userfaultfd", "io_uring_setup", "init_module"} <= set(rules["names"])
