"""Bots of one's own: sent, sent anew, described, retired."""

from flask import Response, render_template, request, url_for
from werkzeug.http import dump_options_header

from api.context import account, arena, caller
from api.pages import forms
from api.pages.forms import Form
from api.pages.site import blp
from api.schemas.bots import ChangedBot, NewBot, NewVersion
from service import bots, sources

BOT = "/bots/<id:bot_id>"


@blp.get("/bots/new")
def new_bot() -> str:
    """A form for a new bot."""
    account()
    return _new(Form())


@blp.post("/bots/new")
def submit_bot() -> Response:
    """Upload a new bot; its check begins at once."""
    account()
    return forms.answer(_submitted, _new, forms.typed())


@blp.get(f"{BOT}/edit")
def edit_bot(bot_id: str) -> str:
    """Forms for its next version, for what is said of it, and to retire it."""
    return _edit(bot_id, Form())


@blp.post(f"{BOT}/versions")
def submit_version(bot_id: str) -> Response:
    """Upload its next version."""
    account()
    return forms.answer(lambda: _versioned(bot_id), lambda form: _edit(bot_id, form), forms.typed())


@blp.post(f"{BOT}/about")
def describe_bot(bot_id: str) -> Response:
    """Say something else about it, show or hide its code."""
    account()
    return forms.answer(lambda: _described(bot_id), lambda form: _edit(bot_id, form), forms.typed())


@blp.post(f"{BOT}/retire")
def retire_bot(bot_id: str) -> Response:
    """It enters no more tournaments."""
    bots.retire(arena(), account(), bot_id)
    return forms.go(_page(bot_id))


@blp.get(f"{BOT}/versions/<int(min=1, max=1000000000):number>/code")
def bot_code(bot_id: str, number: int) -> Response:
    """The upload as it was sent."""
    code = sources.code(arena(), caller(), bot_id, number)
    answer = Response(code.content, content_type="application/octet-stream")
    answer.headers["Content-Disposition"] = dump_options_header("attachment", {"filename": code.filename})
    return answer


def _submitted() -> str:
    values = {**_sent("name", "description"), **_file()}
    values["public_source"] = "true" if "public_source" in request.form else "false"
    made = bots.submit(arena(), account(), **forms.load(NewBot, values))
    return _page(made.id)


def _versioned(bot_id: str) -> str:
    bots.add_version(arena(), account(), bot_id, **forms.load(NewVersion, _file()))
    return _page(bot_id)


def _described(bot_id: str) -> str:
    values = {**_sent("description"), "public_source": "public_source" in request.form}
    bots.change(arena(), account(), bot_id, **forms.load(ChangedBot, values))
    return _page(bot_id)


def _sent(*names: str) -> dict[str, str]:
    """Fields as they were typed; a browser's line ends are two characters each."""
    return {name: request.form[name].replace("\r\n", "\n") for name in names if name in request.form}


def _file() -> dict[str, object]:
    file = request.files.get("code")
    return {"code": file} if file is not None and file.filename else {}


def _page(bot_id: str) -> str:
    return url_for("pages.bot", bot_id=bot_id)


def _new(form: Form) -> str:
    return render_template("bot-new.html", form=form, most=arena().settings.upload_bytes)


def _edit(bot_id: str, form: Form) -> str:
    account()
    return render_template(
        "bot-edit.html",
        bot=bots.bot(arena(), caller(), bot_id),
        form=form,
        most=arena().settings.upload_bytes,
    )
