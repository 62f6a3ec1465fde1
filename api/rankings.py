"""Rankings over HTTP."""

from dataclasses import fields
from typing import Any

from api.blueprint import Blueprint
from api.context import arena
from api.rows import whole_list
from api.schemas.fields import page_of
from api.schemas.rankings import PoolAnswer, RankingAnswer, RankingQuery
from service import rankings as verbs
from service.rankings import Ranking

blp = Blueprint("rankings", "Ratings over all tournaments")


@blp.get("/rankings", RankingAnswer, query=RankingQuery, cached=True)
def rankings(query: dict[str, Any]) -> dict[str, Any]:
    """The rankings of one pool: a rule set and a table size

    Empty before its first rated match.
    """
    ranking = verbs.rankings(arena(), **query)
    return {**{each.name: getattr(ranking, each.name) for each in fields(Ranking)}, "next": None}


@blp.get("/rankings/pools", page_of(PoolAnswer), cached=True)
def pools() -> dict[str, Any]:
    """What there are rankings of, the busiest first"""
    return whole_list(verbs.pools(arena()))
