"""Whatever a command is told to look at may be told by the address that a browser shows."""

import click
import pytest

from api.commands.addresses import id_in


def asking(url: str) -> click.Context:
    """A command that would ask this server."""
    return click.Context(click.Command("rage"), obj={"url": url})


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("t_k4-17", "matches", "t_k4-17"),
        ("http://127.0.0.1:8000/matches/t_k4-17", "matches", "t_k4-17"),
        ("https://rage.example/arena/matches/t_k4-17#r3", "matches", "t_k4-17"),
        ("https://rage.example/api/v1/matches/t_k4-17/record", "matches", "t_k4-17"),
        ("HTTPS://rage.example/tournaments/t_k4?all", "tournaments", "t_k4"),
        ("https://rage.example/bots/bot_k4", "bots", "bot_k4"),
        ("https://rage.example/bots/bot_k4:3", "bots", "bot_k4:3"),
        ("https://rage.example/bots/bot_k4", "matches", "https://rage.example/bots/bot_k4"),
        ("https://rage.example/matches", "matches", "https://rage.example/matches"),
        ("spy:3", "bots", "spy:3"),
        ("/matches/t_k4-17", "matches", "/matches/t_k4-17"),
    ],
)
def test_an_id_is_found_in_the_address_of_its_page(text: str, kind: str, found: str) -> None:
    here = "https://rage.example" if "rage.example" in text else "http://localhost:8000"
    with asking(here):
        assert id_in(text, kind) == found


@pytest.mark.parametrize("here", ["https://rage.example", "http://127.0.0.1:8001", "http://127.0.0.1"])
def test_an_address_on_another_server_is_not_asked_of_this_one(here: str) -> None:
    wrong = rf"is not on {here}, .*rage --url http://127.0.0.1:8000 "
    with asking(here), pytest.raises(click.UsageError, match=wrong):
        id_in("http://127.0.0.1:8000/matches/t_k4-17", "matches")
