"""Bots enter tournaments and withdraw from them, over HTTP."""

from typing import Any

from api.blueprint import Blueprint
from api.context import account, arena, caller
from api.schemas.organising import NewEntrant
from api.schemas.tournaments import TournamentAnswer
from service import entries, leaving
from service import tournaments as verbs
from service.tournaments import Tournament

# An author's business or an organiser's.
blp = Blueprint("entries", "Bots that enter tournaments and withdraw")
ONE = "/tournaments/<id:tournament_id>"


@blp.post(f"{ONE}/entrants", TournamentAnswer, body=NewEntrant)
def enter_bot(body: dict[str, Any], tournament_id: str) -> Tournament:
    """Enter a bot of yours before the start

    While entry is open; the organiser, with a token for that, may enter any bot before the start.
    """
    entries.enter(arena(), account(), tournament_id, body["entrant"])
    return verbs.tournament(arena(), tournament_id, caller())


@blp.delete(f"{ONE}/entrants/<id:bot_id>")
def withdraw_bot(tournament_id: str, bot_id: str) -> None:
    """Withdraw a bot

    Before the start there is no trace of it (its organiser may do this too). Afterwards, deals that were
    played from every seat stay; all else with it is void.
    """
    leaving.withdraw(arena(), account(), tournament_id, bot_id)
