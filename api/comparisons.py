"""Comparisons over HTTP: is one bot better than another?"""

from typing import Any

from flask import url_for

from api.blueprint import Blueprint
from api.context import account, arena
from api.schemas.comparisons import ComparisonAnswer, NewComparison
from api.schemas.fields import PageQuery, page_of
from service import comparisons as verbs
from service.accounts import Scope
from service.comparisons import Comparison
from service.paging import Page

blp = Blueprint("comparisons", "Comparisons: is one bot better than another?", scope=Scope.AUTHOR)
ONE = "/comparisons/<id:comparison_id>"


@blp.get("/comparisons", page_of(ComparisonAnswer), query=PageQuery, cached=True)
def list_comparisons(query: dict[str, Any]) -> Page[Comparison]:
    """Comparisons, newest first"""
    return verbs.comparisons(arena(), **query)


@blp.post("/comparisons", ComparisonAnswer, status=201, body=NewComparison)
def create_comparison(body: dict[str, Any]) -> tuple[Comparison, dict[str, str]]:
    """Find out whether a is better than b

    They play deal after deal with the same cards, until a sequential test can tell or the cap is reached.
    Nothing of it is rated. The verdict does not depend on the order in which matches finish.
    """
    made = verbs.create(arena(), account(), body)
    return made, {"Location": url_for("comparisons.show_comparison", comparison_id=made.id)}


@blp.get(ONE, ComparisonAnswer, cached=True)
def show_comparison(comparison_id: str) -> Comparison:
    """A comparison and where its test stands, while it is running too"""
    return verbs.find(arena(), comparison_id)


@blp.post(f"{ONE}/cancel", ComparisonAnswer)
def cancel_comparison(comparison_id: str) -> Comparison:
    """Stop without a verdict"""
    return verbs.cancel(arena(), account(), comparison_id)
