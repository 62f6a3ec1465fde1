"""`help` as a word says what `--help` says."""

import click
import pytest
from click.testing import CliRunner

from api.cli import main as rage
from service.admin import main as rage_admin


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (rage, []),
        (rage, ["play"]),
        (rage, ["tournament"]),
        (rage, ["tournament", "create"]),
        (rage_admin, []),
        (rage_admin, ["accounts", "create"]),
    ],
)
def test_help_as_a_word_is_help_as_an_option(program: click.Group, words: list[str]) -> None:
    word, option = (CliRunner().invoke(program, given) for given in (["help", *words], [*words, "--help"]))
    assert word.exit_code == option.exit_code == 0
    assert word.output == option.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plya"], "No such command 'plya'"),
        (["tournament", "crete"], "'create'"),
        (["play", "counter"], "play has no commands of its own"),
    ],
)
def test_help_on_what_is_no_command_says_so(words: list[str], said: str) -> None:
    done = CliRunner().invoke(rage, ["help", *words])
    assert done.exit_code == 2
    assert said in done.output
