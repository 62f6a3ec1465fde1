"""Whatever a command is told to look at may be told by the address that a browser shows."""

import pytest

from api.commands.addresses import id_in


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
    assert id_in(text, kind) == found
