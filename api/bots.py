"""Bots over HTTP."""

from typing import Any

from flask import Response, url_for
from werkzeug.http import dump_options_header

from api.blueprint import Blueprint
from api.context import account, arena, caller, employer
from api.rows import whole_list
from api.schemas.bots import (
    BotAnswer,
    BotQuery,
    ChangedBot,
    FaultAnswer,
    HistoryQuery,
    NewBot,
    NewVersion,
    RatingPointAnswer,
    VersionAnswer,
)
from api.schemas.fields import PageQuery, page_of
from service import bots as verbs
from service import faults, rankings, sources
from service.accounts import Scope
from service.bots import Bot, Version
from service.faults import BotFault
from service.paging import Page

blp = Blueprint("bots", "Bots and their versions", scope=Scope.AUTHOR)
VERSION = "/bots/<id:bot_id>/versions/<int(min=1, max=1000000000):number>"


@blp.get("/bots", page_of(BotAnswer), query=BotQuery, cached=True)
def list_bots(query: dict[str, Any]) -> Page[Bot]:
    """Bots, newest first"""
    return verbs.bots(arena(), caller(), **query)


@blp.post("/bots", BotAnswer, status=201, form=NewBot)
def submit_bot(form: dict[str, Any]) -> tuple[Bot, dict[str, str]]:
    """Upload a new bot

    A worker plays its trial match next; `status` tells how that went: ready, or rejected with a report.
    """
    made = verbs.submit(arena(), employer(), **form)
    return made, {"Location": url_for("bots.show_bot", bot_id=made.id)}


@blp.get("/bots/<id:bot_id>", BotAnswer, cached=True)
def show_bot(bot_id: str) -> Bot:
    """A bot with its versions"""
    return verbs.bot(arena(), caller(), bot_id)


@blp.patch("/bots/<id:bot_id>", BotAnswer, body=ChangedBot)
def change_bot(body: dict[str, Any], bot_id: str) -> Bot:
    """Say something else about a bot, or show or hide its code

    What is left out stays; it holds for all versions.
    """
    return verbs.change(arena(), account(), bot_id, **body)


@blp.delete("/bots/<id:bot_id>")
def retire_bot(bot_id: str) -> None:
    """Retire a bot

    It enters no more tournaments; what it played stays. Once more does no harm.
    """
    verbs.retire(arena(), account(), bot_id)


@blp.post("/bots/<id:bot_id>/versions", VersionAnswer, status=201, form=NewVersion)
def add_version(form: dict[str, Any], bot_id: str) -> tuple[Version, dict[str, str]]:
    """Upload the next version of a bot"""
    made = verbs.add_version(arena(), employer(), bot_id, **form)
    return made, {"Location": url_for("bots.show_version", bot_id=bot_id, number=made.number)}


@blp.get(VERSION, VersionAnswer, cached=True)
def show_version(bot_id: str, number: int) -> Version:
    """One version, with the report of its check for its owner"""
    return verbs.version(arena(), caller(), bot_id, number)


@blp.get(f"{VERSION}/code", None, file=True)
def download_code(bot_id: str, number: int) -> Response:
    """The upload as it was sent

    For its owner, or for everybody if the source is public.
    """
    code = sources.code(arena(), caller(), bot_id, number)
    answer = Response(code.content, content_type="application/octet-stream")
    answer.headers["Content-Disposition"] = dump_options_header("attachment", {"filename": code.filename})
    return answer


@blp.get(f"{VERSION}/faults", page_of(FaultAnswer), query=PageQuery, signed=True)
def list_faults(query: dict[str, Any], bot_id: str, number: int) -> Page[BotFault]:
    """What went wrong in matches, newest first

    For the bot's owner only.
    """
    return faults.of_version(arena(), account(), bot_id, number, **query)


@blp.get("/bots/<id:bot_id>/rating", page_of(RatingPointAnswer), query=HistoryQuery, cached=True)
def rating_history(query: dict[str, Any], bot_id: str) -> dict[str, Any]:
    """Its ratings over time, oldest first

    One point for each version after each tournament of its pool, when all had played equally; not between.
    """
    return whole_list(rankings.history(arena(), bot_id, **query))
