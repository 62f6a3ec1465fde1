"""Matches over HTTP."""

from typing import Any

from api.blueprint import Blueprint
from api.context import arena, caller
from api.schemas.fields import page_of
from api.schemas.matches import MatchAnswer, MatchQuery, RecordAnswer
from service import matches as verbs
from service.matches import Match
from service.paging import Page

blp = Blueprint("matches", "Matches and their records")


@blp.get("/tournaments/<id:tournament_id>/matches", page_of(MatchAnswer), query=MatchQuery, cached=True)
def list_matches(query: dict[str, Any], tournament_id: str) -> Page[Match]:
    """A tournament's matches in the order of its schedule"""
    return verbs.matches(arena(), tournament_id, **query, viewer=caller())


@blp.get("/matches/<id:match_id>", MatchAnswer, cached=True)
def show_match(match_id: str) -> Match:
    """One match"""
    return verbs.match(arena(), match_id)


@blp.get("/matches/<id:match_id>/record", RecordAnswer, cached=True)
def match_record(match_id: str) -> dict[str, Any]:
    """The whole game: every deal, decision and result

    Enough to play it again and to check it: `rage verify`.
    """
    return verbs.record(arena(), match_id)
