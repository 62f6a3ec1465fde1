"""Rankings over HTTP."""

from dataclasses import fields
from typing import Any

from flask import Response

from api.blueprint import Blueprint
from api.context import arena
from api.rows import table, whole_list
from api.schemas.fields import page_of
from api.schemas.rankings import (
    DifferenceAnswer,
    DifferenceQuery,
    PoolAnswer,
    RankedAnswer,
    RankingAnswer,
    RankingQuery,
)
from service import rankings as verbs
from service.differences import Differences
from service.rankings import Choice

blp = Blueprint("rankings", "Ratings over all tournaments")


@blp.get("/rankings", RankingAnswer, query=RankingQuery, also="text/csv", cached=True)
def rankings(query: dict[str, Any]) -> verbs.Ranking | Response:
    """The rankings of one pool: a rule set and a table size

    Out of a snapshot, which never changes; empty before the first rated match. CSV comes whole.
    """
    chosen = Choice(**{each.name: query.pop(each.name, None) for each in fields(Choice)})
    if query.pop("format") == "json":
        return verbs.rankings(arena(), choice=chosen, **query)
    query.pop("limit")
    ranking = verbs.rankings(arena(), choice=chosen, **query)
    return table(f"rankings-{ranking.rules}-{ranking.players}-{ranking.model}", RankedAnswer, ranking.items)


@blp.get("/rankings/pools", page_of(PoolAnswer), cached=True)
def pools() -> dict[str, Any]:
    """What there are rankings of, the busiest first"""
    return whole_list(verbs.pools(arena()))


@blp.get("/rankings/compare", DifferenceAnswer, query=DifferenceQuery, cached=True)
def compare(query: dict[str, Any]) -> Differences:
    """Whether one bot is better than another, and how sure that is

    By the newest rankings. Two intervals that overlap say little; the interval of the difference says it.
    """
    return verbs.compare(arena(), query.pop("a"), query.pop("b"), **query)
